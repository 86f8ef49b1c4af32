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
		if !strings.ContainsRune(prefixSymbols, r) {
			return prefixError(prefix, "it contains %q, want a-z and _", r)
		}
	}
	return nil
}

const prefixSymbols = "abcdefghijklmnopqrstuvwxyz_"

func prefixError(prefix, format string, args ...any) error {
	return fmt.Errorf("typed: %w %q: %s", sortid.ErrPrefix, parseerr.Shorten(prefix),
		fmt.Sprintf(format, args...))
}

// A kind is the prefix of one Prefixer type.
type kind struct {
	key      uintptr // identifies the type
	prefixer Prefixer
	text     string // the prefix and the separator
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
// checking a prefix is slow. Fast paths look into the slot first.
func kindOf(p any) *kind {
	key := keyOf(p)
	if k := slot(p).Load(); k.key == key {
		return k
	}
	if k, ok := moreKinds.Load(key); ok {
		return k.(*kind)
	}
	prefixer := reflect.Zero(reflect.TypeOf(p).Elem()).Interface().(Prefixer)
	if _, ok := prefixer.(Column); ok {
		panic(fmt.Errorf("typed: %T is an ID, want a type with a prefix as the first type argument",
			prefixer))
	}
	prefix := prefixer.Prefix()
	if err := CheckPrefix(prefix); err != nil {
		panic(fmt.Errorf("%w; it is the prefix of %T", err, prefixer))
	}
	k := &kind{key: key, prefixer: prefixer}
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

// append appends the prefix and the separator. It is small, as begins is, so the compiler inlines it.
func (k *kind) append(b []byte) []byte {
	if n := len(b); cap(b)-n >= 8 && len(k.text) <= 8 {
		binary.LittleEndian.PutUint64(b[n:n+8], k.word)
		return b[:n+len(k.text)]
	}
	return k.appendLong(b)
}

func (k *kind) appendLong(b []byte) []byte { return append(grow(b, len(k.text)), k.text...) }

// grow makes room for n bytes. If it allocates, it adds room for an ID's text.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) < n || cap(b) == 0 {
		return append(make([]byte, 0, len(b)+n+maxText), b...)
	}
	return b
}

// begins reports whether b begins with the prefix and the separator.
func (k *kind) begins(b []byte) bool {
	if len(k.text) <= 8 && len(b) >= 8 {
		return binary.LittleEndian.Uint64(b)&k.mask == k.word
	}
	return k.beginsLong(b)
}

func (k *kind) beginsLong(b []byte) bool {
	n := len(k.text)
	return len(b) >= n && string(b[:n]) == k.text
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
