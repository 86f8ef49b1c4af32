package format

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

// A validCase is a text, and its ID in the format. An empty Canon means Text without its prefix.
// The test compares no encoding whose field is empty.
type validCase struct {
	Note, Text, Canon, Time, Hex, Int, UUID string
	Fields                                  map[string]string
}

func (v validCase) test(t *testing.T, f *Format) {
	t.Helper()
	name := f.Name() + ": " + v.Note + ": " + v.Text
	id, err := f.Parse(v.Text)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if prefix, _ := spec.Of(f).CutPrefix(v.Text); v.Canon == "" {
		v.Canon = v.Text[len(prefix):]
	}
	for e, want := range map[Encoding]string{f.Encodings()[0]: v.Canon, Hex: v.Hex, Int: v.Int,
		UUID: v.UUID} {
		if want == "" {
			continue
		}
		if got := id.In(e); got != want {
			t.Errorf("%s as %s is %s, want %s", name, e, got, want)
		}
		for _, text := range []string{want, strings.ToUpper(want)} {
			if e == Text && (text != want || spec.Of(f).Text.Prefix != nil) || !hasEncoding(f, e) {
				continue
			}
			if got, err := f.ParseAs(e, text); err != nil || got != id {
				t.Errorf("%s: ParseAs(%s, %s) = %v, %v", name, e, text, got, err)
			}
		}
	}
	if got, err := f.FromBytes(id.Bytes()); got != id || err != nil ||
		v.Hex != "" && hex.EncodeToString(id.Bytes()) != v.Hex {
		t.Errorf("%s: FromBytes(%x): %v, %v", name, id.Bytes(), got, err)
	}
	if (v.Time != "") != (id.spec.Timed(&id.words) != nil) ||
		id.spec.Timed(&id.words) != nil && words.Time(id.Time()) != v.Time {
		t.Errorf("%s has the time %v, want %s", name, id.Time(), v.Time)
	}
	fields, whole := map[string]string{}, new(big.Int)
	for _, value := range id.Fields() {
		fields[value.Name] = value.String()
		n, _ := new(big.Int).SetString(value.String(), 10)
		if value.Bits <= 64 && n.Uint64() != value.low {
			t.Errorf("%s: Uint64 of %s is %d", name, value.Name, value.low)
		}
		whole.Or(whole, n.Lsh(n, uint(value.Low)))
	}
	if !maps.Equal(fields, v.Fields) || bigOf(id).Cmp(whole) != 0 {
		t.Errorf("%s: fields %v make %v, want %v", name, id.Fields(), whole, v.Fields)
	}
}

func TestCases(t *testing.T) {
	b := gencore.Must(os.ReadFile("../testdata/formats.json"))
	var file struct {
		Formats []struct {
			Format  string
			Valid   []validCase
			Invalid []struct{ Note, Text string }
		}
	}
	check.OK(t, json.Unmarshal(b, &file))
	tested := map[*Format]bool{}
	for _, c := range file.Formats {
		f, err := Lookup(c.Format)
		if err != nil || tested[f] || len(c.Valid)+len(c.Invalid) < 20 {
			t.Fatalf("%s: %d cases, %v", c.Format, len(c.Valid)+len(c.Invalid), err)
		}
		tested[f] = true
		for _, v := range c.Valid {
			v.test(t, f)
		}
		for _, v := range c.Invalid {
			if id, err := f.Parse(v.Text); err == nil {
				t.Errorf("%s: %s: %q is read as %v", f.Name(), v.Note, v.Text, id.Fields())
			}
		}
	}
	for _, f := range others() {
		if !tested[f] {
			t.Errorf("%s has no cases", f.Name())
		}
	}
}

func TestDocument(t *testing.T) {
	b := gencore.Must(os.ReadFile("../docs/formats.md"))
	_, unasked, _ := strings.Cut(string(b), "| `scan` without `--format` |")
	unasked, _, _ = strings.Cut(unasked, "\n")
	_, with, _ := strings.Cut(string(b), "\n| with | ")
	with, without, _ := strings.Cut(with, "\n| without | ")
	without, _, _ = strings.Cut(without, "\n")
	for _, f := range others() {
		if finds := !spec.Of(f).Search.WordLike && !spec.Of(f).Search.Named; finds !=
			strings.Contains(unasked, "`"+f.Name()+"`") {
			t.Errorf("%s: scan finds it without --format: %v; docs/formats.md differs", f.Name(), finds)
		}
		list := without
		if f.Tick() != 0 || spec.Of(f).Within != nil {
			list = with
		}
		if !strings.Contains(list, "`"+f.Name()+"`") {
			t.Errorf("docs/formats.md lacks %s, or has it in the wrong list", f.Name())
		}
		if bounds := f.Tick() != 0 && f.Name() != "uuidv1" && f.Name() != "typeid"; bounds != f.Ordered() {
			t.Errorf("%s: docs/formats.md says that its IDs bound ranges: %v", f.Name(), bounds)
		}
	}

	_, lines, _ := strings.Cut(string(b), "`sortid convert` converts between")
	lines, _, _ = strings.Cut(lines, "\n\nThese rules")
	same := map[[2]string]bool{}
	for _, line := range strings.Split(lines, "\n- ")[1:] {
		var names []string
		all, _, anyOne := strings.Cut(line, "any one of")
		for i, name := range strings.Split(line, "`") {
			if i%2 == 1 {
				names = append(names, name)
			}
		}
		each := strings.Count(all, "`") / 2
		for i, a := range names {
			for j, b := range names {
				if i != j && (!anyOne || i < each || j < each) {
					same[[2]string{a, b}] = true
				}
			}
		}
	}
	for _, f := range others() {
		for _, g := range all() {
			if got := same[[2]string{f.Name(), g.Name()}]; got != spec.Of(f).ConvertsTo(spec.Of(g)) {
				t.Errorf("%s to %s: docs/formats.md says %v", f.Name(), g.Name(), got)
			}
		}
	}
}
