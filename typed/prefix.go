package typed

import (
	"fmt"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// A Prefixer has a prefix. This package calls the method Prefix of the type's zero value, for each
// text. Prefix must always return the same prefix, so let it return a constant.
type Prefixer interface {
	Prefix() string
}

// MaxPrefixLen is the length of the longest prefix.
const MaxPrefixLen = 63

// CheckPrefix returns an error that matches [sortid.ErrPrefix] if prefix breaks the rules in the
// package comment.
func CheckPrefix(prefix string) error {
	switch n := len(prefix); {
	case valid(prefix):
		return nil
	case n > MaxPrefixLen:
		return prefixError(prefix, "it has %d characters, want at most %d", n, MaxPrefixLen)
	case prefix[0] == '_' || prefix[n-1] == '_':
		return prefixError(prefix, "it begins or ends with _, want a-z there")
	}
	wrong := []rune(strings.TrimLeft(prefix, prefixSymbols))[0]
	return prefixError(prefix, "it contains %q, want a-z and _", wrong)
}

// valid reports whether a prefix keeps the rules. All readings and writings call it.
func valid(prefix string) bool {
	n := len(prefix)
	if n == 0 {
		return true
	}
	if n > MaxPrefixLen || prefix[0] == '_' || prefix[n-1] == '_' {
		return false
	}
	for i := range n {
		if !isSymbol[prefix[i]] {
			return false
		}
	}
	return true
}

const prefixSymbols = "abcdefghijklmnopqrstuvwxyz_"

// isSymbol tells for each byte whether it is in prefixSymbols.
var isSymbol = func() (is [256]bool) {
	for _, c := range []byte(prefixSymbols) {
		is[c] = true
	}
	return is
}()

func prefixError(prefix, format string, args ...any) error {
	return fmt.Errorf("typed: %w %q: %s", sortid.ErrPrefix, parseerr.Shorten(prefix),
		fmt.Sprintf(format, args...))
}

// prefixOf returns the prefix of P. It panics if the prefix breaks the rules, or if P is an ID.
func prefixOf[P Prefixer]() string {
	prefix := phantom[P]{}.Prefix()
	if _, isID := any((*P)(nil)).(Column); isID || !valid(prefix) {
		panicOn[P](prefix, isID)
	}
	return prefix
}

func panicOn[P Prefixer](prefix string, isID bool) {
	var p P
	if isID {
		panic(fmt.Errorf("typed: %T is an ID, want a type with a prefix as the first type argument", p))
	}
	panic(fmt.Errorf("%w; it is the prefix of %T", CheckPrefix(prefix), p))
}

func appendPrefix(b []byte, prefix string) []byte {
	if prefix == "" {
		return b
	}
	n := len(prefix) + 1
	if cap(b)-len(b) < n { // make room for the ID, too
		b = append(make([]byte, 0, len(b)+n+maxText), b...)
	}
	return append(append(b, prefix...), '_')
}

// cutPrefix returns what follows the prefix and the separator. It finds no prefix that breaks the
// rules, so the caller need not check it first.
func cutPrefix(b []byte, prefix string) (text []byte, found bool) {
	n := len(prefix)
	if n == 0 {
		return b, true
	}
	if len(b) <= n || n > MaxPrefixLen || b[0] == '_' || b[n-1] == '_' || b[n] != '_' {
		return nil, false
	}
	for i, c := range b[:n] {
		if c != prefix[i] || !isSymbol[c] {
			return nil, false
		}
	}
	return b[n+1:], true
}

// cut splits a text at the separator. It does not check the prefix.
func cut[T Inner[T]](s string) (prefix, text string, found bool) {
	i := separator[T](s)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

func separator[T Inner[T], S string | []byte](s S) int {
	from, to, step := len(s)-1, -1, -1
	if hasUnderscore[T]() {
		// Search forward. The ID's text has at most n characters, so the separator is one of the
		// last n+1 characters.
		from, to, step = max(len(s)-usualLen[T]()-1, 0), len(s), 1
	}
	for i := from; i != to; i += step {
		if s[i] == '_' {
			return i
		}
	}
	return -1
}

// checkCut returns an error if cut would find another prefix.
func checkCut[T Inner[T]](prefix string, text []byte) error {
	want := len(prefix)
	if want == 0 {
		want = -1
	}
	if i := separator[T](text); i != want {
		return prefixError(prefix, "the text %q would be read with the prefix %q", text,
			text[:max(i, 0)])
	}
	return nil
}
