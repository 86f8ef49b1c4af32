package scan

import (
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/typed"
)

// prefix returns the prefix of a typed ID, such as "user" of user_0372..., or "".
func (m match) prefix(text []byte) string {
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
	if typed.CheckPrefix(prefix) != nil {
		return ""
	}
	return prefix
}
