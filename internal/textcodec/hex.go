package textcodec

import "bytes"

// CutHexPrefix cuts 0x, \x, or \\x. PostgreSQL's COPY writes two backslashes for one.
func CutHexPrefix(text []byte) (digits []byte, prefixed bool) {
	for _, prefix := range []string{`\x`, `\\x`, "0x", "0X"} {
		if digits, ok := bytes.CutPrefix(text, []byte(prefix)); ok {
			return digits, true
		}
	}
	return text, false
}
