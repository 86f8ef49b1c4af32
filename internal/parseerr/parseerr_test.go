package parseerr

import (
	"errors"
	"strings"
	"testing"

	"github.com/sortid/sortid"
)

func TestClip(t *testing.T) {
	long := strings.Repeat("x", MaxInput+1)
	for _, s := range []string{"", "a", long[:MaxInput], long} {
		want := s[:min(len(s), MaxInput)]
		if Clip(s) != want || Clip([]byte(s)) != want {
			t.Errorf("%d bytes: %q, %q", len(s), Clip(s), Clip([]byte(s)))
		}
	}
	b := []byte("abc")
	kept := Clip(b)
	b[0] = 'x'
	if kept != "abc" {
		t.Error("Clip keeps the caller's memory")
	}
}

func TestText(t *testing.T) {
	err := Text("f", strings.Repeat("7", 100), 3, sortid.ErrSymbol, "0 to 6")
	var p *sortid.ParseError
	if !errors.As(err, &p) || !errors.Is(err, sortid.ErrSymbol) {
		t.Fatalf("%v", err)
	}
	want := sortid.ParseError{Format: "f", Input: strings.Repeat("7", MaxInput), Length: 100,
		Offset: 3, Want: "0 to 6", Err: sortid.ErrSymbol}
	if *p != want {
		t.Errorf("got %#v, want %#v", *p, want)
	}
}
