package textcodec

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// UnmarshalJSON returns the text of a JSON string, or the integer of a JSON number. For null it
// returns neither. The format's integers must include all below 2^53.
func UnmarshalJSON(format string, b []byte) (text []byte, v uint64, isNumber bool, err error) {
	b = bytes.TrimSpace(b)
	switch {
	case string(b) == "null": // encoding/json ignores null, too
		return nil, 0, false, nil
	case len(b) >= 2 && b[0] == '"' && b[len(b)-1] == '"':
		if bytes.IndexByte(b, '\\') >= 0 {
			// Go has all escapes of JSON, except \/ and surrogates, which no ID contains.
			if s, err := strconv.Unquote(string(b)); err == nil {
				return []byte(s), 0, false, nil
			}
		}
		return b[1 : len(b)-1 : len(b)-1], 0, false, nil
	}
	const want = "a string with the text, or an integer below 2^53"
	if n, err := strconv.ParseUint(string(b), 10, 64); err == nil && n < 1<<53 {
		return nil, n, true, nil
	} else if err == nil {
		return nil, 0, false, parseerr.Text(format, b, -1, sortid.ErrRange,
			"an integer below 2^53 (many JSON readers round larger ones), or the text in a string")
	}
	return nil, 0, false, fmt.Errorf("%s: cannot read %s from JSON, want %s", format,
		parseerr.Shorten(string(b)), want)
}
