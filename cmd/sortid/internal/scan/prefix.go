package scan

import (
	"bytes"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/typed"
)

// prefix returns the prefix of a typed ID, such as "user_" of user_0372..., or "".
func (m match) prefix(text []byte) string {
	if m.ID.Format().Text.PrefixCharacters != "" { // the format's own texts have a prefix
		return string(text[m.Start : m.Start+1+bytes.LastIndexByte(text[m.Start:m.End], '_')])
	}
	if m.Encoding != format.Text || m.Start < 2 || text[m.Start-1] != '_' {
		return ""
	}
	end := m.Start - 1
	start := end
	for start > 0 && end-start <= typed.MaxPrefixLen && (text[start-1] == '_' ||
		'a' <= text[start-1] && text[start-1] <= 'z') {
		start--
	}
	if start > 0 && classes[text[start-1]] != 0 { // as in aB_ or x2_
		return ""
	}
	prefix := string(text[start:end])
	if prefix == "" || typed.CheckPrefix(prefix) != nil {
		return ""
	}
	return prefix + "_"
}
