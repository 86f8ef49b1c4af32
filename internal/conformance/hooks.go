package conformance

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"path"
	"reflect"
	"strings"
	"testing"
)

// testHooks tests the methods that other packages look for.
func (c *Codec[T]) testHooks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		n := c.random(r)
		checkHooks(t, c.Of(n), c.Text(n), n.FillBytes(make([]byte, c.Size)))
	}
}

// checkHooks tests the hooks of an ID or a wrapper with the text of String and the binary form.
func checkHooks[W comparable](t *testing.T, id W, text string, raw []byte) {
	t.Helper()
	of := reflect.TypeFor[W]()
	name := path.Base(of.PkgPath()) + "." + of.Name()
	for format, want := range map[string]string{
		"%v": text, "%s": text, "%+v": text, "%60v": fmt.Sprintf("%60s", text),
		"%-60s": fmt.Sprintf("%-60s", text), "%.5v": text[:min(5, len(text))],
		"%q": fmt.Sprintf("%q", text),
		"%x": fmt.Sprintf("%x", raw), "%X": fmt.Sprintf("%X", raw), "%# x": fmt.Sprintf("%# x", raw),
		"%t": fmt.Sprintf("%%!t(%s=%s)", name, text), "%o": fmt.Sprintf("%%!o(%s=%s)", name, text),
		"%d": fmt.Sprintf("%%!d(%s=%s)", name, text),
	} {
		if format == "%d" && len(raw) == 8 {
			want = new(big.Int).SetBytes(raw).String()
		}
		if got := fmt.Sprintf(format, id); got != want {
			t.Errorf("%s of %s: %q, want %q", format, name, got, want)
		}
	}
	if s := fmt.Sprintf("%#v", id); !strings.HasPrefix(s, path.Base(of.PkgPath())+".") ||
		!strings.Contains(s, `MustParse("`) || of.Name() != "ID" && !strings.HasPrefix(s, name+"(") {
		t.Errorf("%%#v of %s: %s, want a call of MustParse", text, s)
	}
	var back W
	param := any(&back).(interface{ UnmarshalParam(string) error })
	if err := param.UnmarshalParam(text); err != nil || back != id {
		t.Errorf("%s: UnmarshalParam(%q) = %v, %v", name, text, back, err)
	}
	if err := param.UnmarshalParam("12345"); err == nil && len(text) != 5 && name != "uid60.ID" &&
		name != "uid60.Text" || err != nil && back != id {
		t.Errorf("%s: UnmarshalParam(12345) = %v, %v; want an error, and no change", name, back, err)
	}
	boxed := any(id)
	if n := testing.AllocsPerRun(10, func() { _ = fmt.Sprint(boxed) }); n > 3 {
		t.Errorf("fmt.Sprint of %s: %v allocations, want at most 3", name, n)
	}
}
