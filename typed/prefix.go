package typed

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/parseerr"
)

// A Prefixer has a prefix. This package calls the method Prefix of the type's zero value. Prefix
// must always return the same prefix. Small types, such as struct{}, are the fastest.
type Prefixer interface {
	Prefix() string
}

// MaxPrefixLen is the length of the longest prefix.
const MaxPrefixLen = 63

// CheckPrefix returns an error that matches [sortid.ErrPrefix] if prefix breaks the rules in the
// package comment.
func CheckPrefix(prefix string) error {
	switch n := len(prefix); {
	case n > MaxPrefixLen:
		return prefixError(prefix, "it has %d characters, want at most %d", n, MaxPrefixLen)
	case n > 0 && (prefix[0] == '_' || prefix[n-1] == '_'):
		return prefixError(prefix, "it begins or ends with _, want a-z there")
	}
	for _, r := range prefix {
		if !isPrefix(r) {
			return prefixError(prefix, "it contains %q, want a-z and _", r)
		}
	}
	return nil
}

func isPrefix(c rune) bool { return 'a' <= c && c <= 'z' || c == '_' }

func prefixError(prefix, format string, args ...any) error {
	return fmt.Errorf("typed: %w %q: %s", sortid.ErrPrefix, parseerr.Shorten(prefix),
		fmt.Sprintf(format, args...))
}

// A kind is the prefix of one Prefixer type.
type kind struct {
	key  uintptr // identifies the type
	text string  // the prefix and the separator
	// The first eight bytes of text, and a mask with 0xff for each of these bytes. If text has fewer
	// bytes, the other bytes of word and mask are 0.
	word, mask uint64
}

func (k *kind) prefix() string { return strings.TrimSuffix(k.text, "_") }

var (
	// Each slot of kinds is for the first type that hashes to this slot. Later types are in
	// moreKinds.
	kinds     [256]atomic.Pointer[kind]
	moreKinds sync.Map // from key to *kind
	noPrefix  kind     // in each free slot
)

func init() {
	for i := range kinds {
		kinds[i].Store(&noPrefix)
	}
}

// keyOf returns the first word of an interface, which identifies its type. BenchmarkPrefix compares
// this with ways that need no package unsafe.
func keyOf(p any) uintptr { return *(*uintptr)(unsafe.Pointer(&p)) }

// slot returns the slot in kinds for the type to which p points. The slot may contain another type.
func slot(p any) *atomic.Pointer[kind] { return &kinds[uint8(keyOf(p)>>5)] }

// kindOf returns the kind of the type to which p points. It remembers kinds, because getting and
// checking a prefix is slow.
func kindOf(p any) *kind {
	key := keyOf(p)
	if k := slot(p).Load(); k.key == key {
		return k
	}
	if k, ok := moreKinds.Load(key); ok {
		return k.(*kind)
	}
	prefixer := reflect.Zero(reflect.TypeOf(p).Elem()).Interface().(Prefixer)
	prefix := prefixer.Prefix()
	if err := CheckPrefix(prefix); err != nil {
		panic(fmt.Errorf("%w; it is the prefix of %T", err, prefixer))
	}
	k := &kind{key: key}
	if prefix != "" {
		k.text = prefix + "_"
	}
	for i := range min(len(k.text), 8) {
		k.word |= uint64(k.text[i]) << (8 * i)
		k.mask |= 0xff << (8 * i)
	}
	if !slot(p).CompareAndSwap(&noPrefix, k) {
		moreKinds.Store(key, k)
	}
	return k
}

// The next three functions are not generic, because the compiler does not inline calls in generic
// functions.

func appendPrefix(b []byte, p any) []byte {
	key := keyOf(p)
	k := kinds[uint8(key>>5)].Load()
	if k.key != key {
		k = kindOf(p)
	}
	if n := len(b); cap(b)-n >= 8 && len(k.text) <= 8 {
		binary.LittleEndian.PutUint64(b[n:n+8], k.word)
		return b[:n+len(k.text)]
	}
	return append(grow(b, len(k.text)), k.text...)
}

// grow makes room for n bytes. If it allocates, it adds room for an ID's text.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n || cap(b) == 0 {
		return append(make([]byte, 0, len(b)+n+maxText), b...)
	}
	return b
}

func cutPrefix(b []byte, p any) (text []byte, ok bool) {
	key := keyOf(p)
	k := kinds[uint8(key>>5)].Load()
	if k.key != key {
		k = kindOf(p)
	}
	n := len(k.text)
	if n <= 8 && len(b) >= 8 {
		return b[n:], binary.LittleEndian.Uint64(b)&k.mask == k.word
	}
	if len(b) < n || string(b[:n]) != k.text {
		return nil, false
	}
	return b[n:], true
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
	if n := formatOf[T]().underscore; n > 0 {
		// The ID's text can contain _, so search forward. The ID's text has at most n characters,
		// so the separator is one of the last n+1 characters.
		from, to, step = max(len(s)-n-1, 0), len(s), 1
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

func wrongPrefix[T Inner[T]](b []byte, k *kind) error {
	s := string(b)
	reason := fmt.Errorf("%w: there is none", sortid.ErrPrefix)
	if found, _, ok := cut[T](s); ok {
		reason = fmt.Errorf("%w %q", sortid.ErrPrefix, parseerr.Shorten(found))
	}
	return parseerr.Text(name, s, -1, reason, fmt.Sprintf("%q", k.prefix()))
}

// badText returns the error of a text that begins with k.text. The text may have a longer prefix,
// such as user_admin instead of user.
func badText[T Inner[T]](b []byte, k *kind, err error) error {
	if found, _, ok := cut[T](string(b)); ok && len(found) >= len(k.text) &&
		CheckPrefix(found) == nil {
		return wrongPrefix[T](b, k)
	}
	return afterPrefix(k.text, err)
}

func afterPrefix(begin string, err error) error {
	if begin == "" {
		return err
	}
	return fmt.Errorf("typed: after %q: %w", begin, err)
}
