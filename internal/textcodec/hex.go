package textcodec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
)

// CutHexPrefix cuts 0x, \x, or \\x. PostgreSQL's COPY writes two backslashes for one.
func CutHexPrefix(text []byte) (digits []byte, prefixed bool) {
	for _, prefix := range []string{`\x`, `\\x`, "0x", "0X"} {
		if digits, ok := bytes.CutPrefix(text, []byte(prefix)); ok {
			return digits, true
		}
	}
	return text, false
}

// AppendHex appends the hexadecimal digits of src. It is faster than [hex.AppendEncode].
func AppendHex(b, src []byte) []byte {
	for ; len(src) >= 4; src = src[4:] {
		b = binary.BigEndian.AppendUint64(b, hexDigits(src))
	}
	return hex.AppendEncode(b, src)
}

// hexDigits returns the digits of the first four bytes, big-endian.
func hexDigits(src []byte) uint64 {
	const ones = 0x0101010101010101
	v := uint64(binary.BigEndian.Uint32(src))
	v = (v<<16 | v) & 0x0000ffff0000ffff
	v = (v<<8 | v) & 0x00ff00ff00ff00ff
	v = (v<<4 | v) & 0x0f0f0f0f0f0f0f0f // one nibble in each byte
	letters := (v + 6*ones) >> 4 & ones // 1 where the nibble is 10 or more
	return v + '0'*ones + letters*('a'-'0'-10)
}
