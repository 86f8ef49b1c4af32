package format

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestCases(t *testing.T) {
	b, err := os.ReadFile("../testdata/formats.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Formats []struct {
			Format string
			Valid  []struct {
				Note, Text, Canon, Time, Hex, Int, UUID string
				Fields                                  map[string]string
			}
			Invalid []struct{ Note, Text string }
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	tested := map[*Format]bool{}
	for _, c := range file.Formats {
		f, err := LookupAny(c.Format)
		if err != nil || tested[f] || len(c.Valid)+len(c.Invalid) < 20 {
			t.Fatalf("%s: %d cases, %v", c.Format, len(c.Valid)+len(c.Invalid), err)
		}
		tested[f] = true
		for _, v := range c.Valid {
			id, err := f.Parse(v.Text)
			if err != nil {
				t.Errorf("%s: %s: %s: %v", f, v.Note, v.Text, err)
				continue
			}
			prefix, _ := f.cutPrefix(v.Text)
			if v.Canon == "" {
				v.Canon = v.Text
				if f.Prefix != nil {
					v.Canon = v.Text[len(prefix):]
				}
			}
			if id.String() != v.Canon {
				t.Errorf("%s: %s: %s is written as %s", f, v.Note, v.Text, id)
			}
			if (v.Time != "") != id.HasTime() || id.HasTime() && FormatTime(id.Time()) != v.Time {
				t.Errorf("%s: %s: %s is of %v, want %s", f, v.Note, v.Text, id.Time(), v.Time)
			}
			if len(id.Fields()) != len(v.Fields) {
				t.Errorf("%s: %s: fields %v, want %v", f, v.Note, id.Fields(), v.Fields)
			}
			for _, field := range id.Fields() {
				if field.String() != v.Fields[field.Name] {
					t.Errorf("%s: %s: %s: %s is %v, want %s", f, v.Note, v.Text, field.Name, field,
						v.Fields[field.Name])
				}
			}
			for e, text := range map[Encoding]string{Hex: v.Hex, Int: v.Int, UUID: v.UUID} {
				if text != "" && id.In(e) != text {
					t.Errorf("%s: %s: %s as %s is %s, want %s", f, v.Note, v.Text, e, id.In(e),
						text)
				}
			}
		}
		for _, v := range c.Invalid {
			if id, err := f.Parse(v.Text); err == nil {
				t.Errorf("%s: %s: %q is read as %v", f, v.Note, v.Text, id.Fields())
			}
		}
	}
	for _, f := range others {
		if !tested[f] {
			t.Errorf("%s has no cases", f)
		}
	}
}

// The document's table agrees with the rows.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, unasked, _ := strings.Cut(string(b), "| `scan` without `--format` |")
	unasked, _, _ = strings.Cut(unasked, "\n")
	for _, f := range others {
		if finds := !f.Search.WordLike && !f.Search.Named; finds !=
			strings.Contains(unasked, "`"+f.Name+"`") {
			t.Errorf("%s: scan finds it without --format: %v; the document differs", f.Name, finds)
		}
		unit := "none"
		if f.HasTime() {
			unit = fmt.Sprintf("%v since %s", f.Tick, strings.TrimSuffix(FormatTime(f.Epoch),
				"T00:00:00.000Z"))
		}
		if f.within != nil {
			unit = "its UUID's"
		}
		row := regexp.MustCompile(`(?m)^\| ` + unit + ` \|.*\[` + "`" + f.Name + "`" + `\]\(` +
			regexp.QuoteMeta(f.Source) + `\)`)
		if !row.Match(b) {
			t.Errorf("the document lacks %s, %s, %s", f.Name, unit, f.Source)
		}
		if bounds := f.HasTime() && f.Name != "uuidv1" && f.Name != "typeid"; bounds != f.ordered {
			t.Errorf("%s: the document says that its IDs bound ranges: %v", f.Name, bounds)
		}
	}

	// Formats with the same bits.
	_, lines, _ := strings.Cut(string(b), "In the formats of each item the same bits")
	lines, _, _ = strings.Cut(lines, "\n\nWhat")
	same := map[[2]string]bool{}
	for _, line := range strings.Split(lines, "\n- ")[1:] {
		var names []string
		for i, name := range strings.Split(line, "`") {
			if i%2 == 1 {
				names = append(names, name)
			}
		}
		for i, a := range names {
			for j, b := range names {
				if i != j && (i*j == 0 || !strings.Contains(line, "any one of")) {
					same[[2]string{a, b}] = true
				}
			}
		}
	}
	for _, f := range others {
		for _, g := range all {
			if got := same[[2]string{f.Name, g.Name}]; got != f.ConvertsTo(g) {
				t.Errorf("%s to %s: the document says %v", f.Name, g.Name, got)
			}
		}
	}
}
