package typed

import (
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/conformance"
)

func FuzzParse(f *testing.F) {
	for _, format := range Tested {
		format.addSeeds(f)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range Tested {
			format.fuzz(t, s)
		}
	})
}

func (f *format[T]) addSeeds(to *testing.F) {
	v := conformance.VectorsOf(to, f.name()).Typed
	for _, c := range v.Valid {
		to.Add(c.Text)
	}
	for _, c := range v.Invalid {
		to.Add(c.Text)
	}
}

// fuzz checks that Parse and ParseAny agree, and that texts parse again.
func (*format[T]) fuzz(t *testing.T, s string) {
	any, err := ParseAny[T](s)
	if err == nil {
		back, err := ParseAny[T](any.String())
		if err != nil || back.Inner() != any.Inner() {
			t.Fatalf("%q is %v, and that is %v, %v", s, any, back, err)
		}
		check.OK(t, CheckPrefix(any.Prefix()))
		if plain := strings.ToLower(s); !strings.HasPrefix(plain, strings.ToLower(any.Prefix())) {
			t.Fatalf("%q has the prefix %q", s, any.Prefix())
		}
	}
	id, err2 := Parse[ID[user, T]](s)
	if err == nil && any.Prefix() == "user" && (err2 != nil || id.Inner() != any.Inner()) {
		t.Fatalf("%q is %v, and as a typed ID %v, %v", s, any, id, err2)
	}
	if err2 == nil {
		if back, err := Parse[ID[user, T]](id.String()); err != nil || back != id {
			t.Fatalf("%q is %v, and that is %v, %v", s, id, back, err)
		}
	}
}
