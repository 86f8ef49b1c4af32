package column

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sortid/sortid/verify"
)

func TestNewReader(t *testing.T) {
	const ignored = verify.Ignored
	for _, c := range []struct {
		name   string
		column Column
		input  string
		want   []string
	}{
		{"plain", Column{}, "a1\nb2\n", []string{"a1", "b2"}},
		{"csv", Column{Field: "2"}, "1,a1,x\n2,b2,y\n", []string{"a1", "b2"}},
		{"last field", Column{Field: "3"}, "1,x,a1\r\n2,y,b2\r\n", []string{"a1", "b2"}},
		{"no end", Column{Field: "2"}, "1,a1\n2,b2", []string{"a1", "b2"}},
		{"head", Column{Field: "2"}, "nr,order_id\n1,a1\n", []string{ignored, "a1"}},
		{"head by name", Column{Field: "ID"}, "\ufeffnr,\"id\"\n1,a1\n", []string{ignored, "a1"}},
		{"no such name", Column{Field: "key"}, "nr,id\n1,a1\n", []string{"no field key in: nr,id", "no field key in: 1,a1"}},
		{"tabs", Column{Field: "2"}, "1\ta1\t\"\n2\t\\\\xab\t,\n", []string{"a1", `\\xab`}},
		{"semicolons", Column{Field: "2"}, "1;a1\n2;b2\n", []string{"a1", "b2"}},
		{"quotes", Column{Field: "2"}, `"1,0","a1"` + "\n" + `"say ""so""",b2` + "\n", []string{"a1", "b2"}},
		{"lines in quotes", Column{Field: "2"}, "\"one\ntwo\nthree\",a1\n4,b2\n", []string{"a1", ignored, ignored, "b2"}},
		{"a line end in the field", Column{Field: "1"}, "\"a\nb\",1\n2,b2\n", []string{`"a\nb"`, ignored, "2"}},
		{"too few", Column{Field: "3"}, "1,2,a1\n1,2\n", []string{"a1", "no field 3 in: 1,2"}},
		{"blank", Column{Field: "2"}, "1,a1\n\n2,b2\n", []string{"a1", "", "b2"}},
		{"bad quotes", Column{Field: "2"}, "1,a1\nx\"y\"z,b2\n", []string{"a1", "b2"}},
		{"a stray quote", Column{Field: "2"}, "1,a1\n\"x,b2\n3,c3\n", []string{"a1", "no field 2 in: \"x,b2", "c3"}},
		{"a quote within", Column{Field: "2"}, "5\" pipe,a1\n2,b2\n", []string{"a1", "b2"}},
		{"json", Column{Key: "id"}, `{"id":"a1"}` + "\n" + `{"x":{"id":"no"},"id": "b\u0032" }` + "\n", []string{"a1", "b2"}},
		{"numbers", Column{Key: "id"}, `{"id":109959589539758421}` + "\n", []string{"109959589539758421"}},
		{"a path", Column{Key: "order.id"}, `{"order":{"id":"a1"}}` + "\n", []string{"a1"}},
		{"no json", Column{Key: "id"}, "what\n{\"no\":1}\n{\"id\":null}\n[1]\n", []string{"no key id in: what", `no key id in: {"no":1}`, "null", "no key id in: [1]"}},
		{"a line end in json", Column{Key: "id"}, `{"id":"a\nb"}`, []string{`"a\nb"`}},
	} {
		for how, r := range map[string]io.Reader{
			"whole": strings.NewReader(c.input), "bytes": iotest.OneByteReader(strings.NewReader(c.input)), "at the end": iotest.DataErrReader(strings.NewReader(c.input)),
		} {
			got, err := io.ReadAll(NewReader(r, c.column))
			if want := strings.Join(c.want, "\n") + "\n"; err != nil || string(got) != want {
				t.Errorf("%s, %s: %q, want %q: %v", c.name, how, got, want, err)
			}
		}
	}
}

// A line comes as soon as it is there.
func TestNotHeldBack(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	lines := NewReader(r, Column{Field: "2"})
	for _, want := range []string{"a1\n", "b2\n"} {
		go io.WriteString(w, "1,"+want)
		b := make([]byte, 100)
		n, err := lines.Read(b)
		if err != nil || string(b[:n]) != want {
			t.Fatalf("%q, %v", b[:n], err)
		}
	}
}

// Long lines are cut, and those after them are read.
func TestLongLines(t *testing.T) {
	for _, long := range []string{strings.Repeat("x", 5<<20), `"` + strings.Repeat("x\n", 3<<20)} {
		got, err := io.ReadAll(NewReader(strings.NewReader("1,a1\n"+long+"\n2,b2\n"), Column{Field: "2"}))
		if err != nil || !strings.HasPrefix(string(got), "a1\n") || !strings.HasSuffix(string(got), "\nb2\n") || len(got) > 64<<20 {
			t.Errorf("%d bytes, %v: %.20q ... %q", len(got), err, got, got[max(0, len(got)-20):])
		}
	}
}

func FuzzNewReader(f *testing.F) {
	f.Add("1,a1\n\"x\ny\",b2\n", "2", "")
	f.Add("id\tx\na\tb\n", "id", "")
	f.Add(`{"a":{"b":1}}`, "", "a.b")
	f.Fuzz(func(t *testing.T, input, field, key string) {
		c := Column{Field: field, Key: key}
		if c.Check() != nil {
			return
		}
		got, err := io.ReadAll(NewReader(strings.NewReader(input), c))
		if err != nil {
			t.Fatal(err)
		}
		if field == "" && key == "" {
			return
		}
		// A line for each line.
		lines := strings.Count(input, "\n")
		if input != "" && !strings.HasSuffix(input, "\n") {
			lines++
		}
		if n := strings.Count(string(got), "\n"); n != lines {
			t.Fatalf("%d lines of %d: %q", n, lines, got)
		}
	})
}
