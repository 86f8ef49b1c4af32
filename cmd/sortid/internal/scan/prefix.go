package scan

import (
	"strings"

	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/typed"
)

// prefix returns the prefix of a typed ID, such as "user_" of user_0372..., or "".
func (m match) prefix(text string) string {
	if m.Format.Text.Prefix != nil { // the format's own texts have a prefix
		return text[m.Start : m.Start+1+strings.LastIndexByte(text[m.Start:m.End], '_')]
	}
	if m.Encoding != spec.Text || m.Start < 2 || text[m.Start-1] != '_' {
		return ""
	}
	end := m.Start - 1
	start := end
	for start > 0 && end-start <= typed.MaxPrefixLen && (text[start-1] == '_' ||
		'a' <= text[start-1] && text[start-1] <= 'z') {
		start--
	}
	_, begins := (&run{text, start, m.End}).wordStarts()
	if start > begins { // as in aB_ or x2_
		return ""
	}
	prefix := strings.TrimLeft(text[begins:end], "_")
	if prefix == "" || typed.CheckPrefix(prefix) != nil {
		return ""
	}
	return prefix + "_"
}
