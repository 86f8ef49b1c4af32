package inspect

import (
	"slices"
	"strings"
	"unicode"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

// strip removes quotes, brackets and prefixes, and reads numbers of programs. It returns the names of
// what it has taken.
func strip(text string) (bare string, taken []string, n number) {
	n, form, ok := readNumber(text)
	if ok {
		return n.digits, []string{form}, n
	}
	if n := len(text); n > 0 && isWord(text[0]) && isWord(text[n-1]) &&
		strings.IndexByte(text, '-') < 0 && strings.IndexByte(text, ':') < 0 &&
		text[min(1, n-1)]|0x20 != 'x' {
		return text, nil, number{} // most texts have nothing to strip
	}
	take := func(rest, name string) {
		text = rest
		if !slices.Contains(taken, name) {
			taken = append(taken, name)
		}
	}
	for before := ""; before != text; {
		before = text
		if rest := strings.TrimFunc(text, isBlank); rest != text {
			take(rest, "blanks")
		}
		if n := len(text); n > 1 && (text[n-1] == ',' || text[n-1] == ';') {
			take(text[:n-1], "comma")
		}
		for _, w := range spec.Judgement.Wrappers {
			rest, opens := strings.CutPrefix(text, w[0])
			if rest, closes := strings.CutSuffix(rest, w[1]); opens && closes && rest != "" {
				take(rest, w[2])
			}
		}
		if call, rest, ok := strings.Cut(text, "("); ok && isName(call) && len(rest) > 1 {
			if rest, ok := strings.CutSuffix(rest, ")"); ok { // as in new ObjectId('...')
				take(rest, "call")
			}
		}
		// Spreadsheets write '154 and ="154" for texts of digits.
		if rest, ok := strings.CutPrefix(text, "'"); ok && rest != "" && !strings.Contains(rest, "'") {
			take(rest, "apostrophe")
		}
		if strings.HasPrefix(text, `="`) {
			take(text[1:], "=")
		}
		if len(text) > 9 && strings.EqualFold(text[:9], "urn:uuid:") {
			take(text[9:], "urn:uuid:")
		}
		if rest, ok := strings.CutSuffix(text, "=="); ok && len(rest) == 22 { // 16 bytes in Base64
			take(rest, "padding")
		}
	}
	for _, prefix := range []string{"0x", "0X", `\x`} {
		if rest, ok := strings.CutPrefix(text, prefix); ok && isHex(rest) {
			take(rest, prefix)
		}
	}
	// People put hyphens between groups of symbols.
	if rest := strings.ReplaceAll(text, "-", ""); rest != text && slices.ContainsFunc(
		grouped, func(s *format.Format) bool {
			if !slices.Contains(spec.Of(s).Text.Lengths, len(rest)) {
				return false
			}
			_, err := s.Parse(rest)
			return err == nil
		}) {
		take(rest, "hyphens")
	}
	if taken == nil {
		return text, nil, number{}
	}
	if n, form, ok = readNumber(text); !ok {
		return text, taken, number{}
	}
	take(n.digits, form)
	return text, taken, n
}

var grouped = slices.DeleteFunc(format.Ours(),
	func(s *format.Format) bool { return !spec.Of(s).Text.Grouped })

// isHex reports whether a text is a hexadecimal number as wide as an ID of one of our formats.
func isHex(text string) bool {
	return slices.ContainsFunc(format.Ours(),
		func(s *format.Format) bool { return len(text) == 2*s.Size() }) &&
		strings.Trim(text, "0123456789abcdefABCDEF") == ""
}

// isName reports whether a text is the name of a function, such as uuid.UUID.
func isName(text string) bool {
	text = strings.TrimPrefix(text, "new ")
	return text != "" && textcodec.KindOf[text[0]].In(textcodec.Lower|textcodec.Upper) &&
		!strings.ContainsFunc(text, func(r rune) bool {
			return r != '_' && r != '.' && (r > 0x7f || !textcodec.KindOf[r].In(textcodec.Base36))
		})
}

// isBlank reports whether a program may show nothing for the character.
func isBlank(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' || r == '\u200b' }

// isWord reports whether IDs can contain the byte.
func isWord(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' || b == '-' || b == '_'
}
