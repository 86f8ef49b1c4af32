package verify

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// A hypothesis is a row of the table in the document.
type hypothesis struct {
	check, text string // with FIELD and N for names of fields and numbers
	title       *regexp.Regexp
	used        bool
}

func hypotheses(t *testing.T, document string) (all []*hypothesis) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	// The last column says what the check cannot see.
	row := regexp.MustCompile("(?m)^\\| `([\\w.]+)` \\| ([^|]*) \\| [^|]+ \\|$")
	general := strings.NewReplacer("FIELD", `[\w.]+( and [\w.]+)*`, " N", ` \d+`)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		all = append(all, &hypothesis{check: m[1], text: m[2],
			title: regexp.MustCompile("^" + general.Replace(regexp.QuoteMeta(m[2])) + "$")})
	}
	return all
}

// fixed has the checks of the group rules whose names do not contain a field.
var fixed = []string{"carry", "header", "node", "overflow", "prefix", "repeat", "shared", "start",
	"step"}

func generalName(name string) string {
	group, rest, _ := strings.Cut(name, ".")
	field, last, _ := strings.Cut(rest, ".")
	switch {
	case group == "random":
		return "random.FIELD" + rest[strings.LastIndexByte(rest, '.'):]
	case group == "rules" && last != "":
		return "rules.FIELD." + last
	case group == "rules" && !slices.Contains(fixed, field):
		return "rules.FIELD"
	}
	return name
}

// The document has each check with its null hypothesis, and no other check.
func TestTable(t *testing.T) {
	table := hypotheses(t, "../docs/verify.md")
	for _, c := range everyCheck(t) {
		i := slices.IndexFunc(table, func(h *hypothesis) bool {
			return h.check == generalName(c.Name) && h.title.MatchString(c.Title)
		})
		if i < 0 {
			t.Errorf("the table lacks %s: %s", c.Name, c.Title)
			continue
		}
		table[i].used = true
	}
	for _, h := range table {
		if !h.used {
			t.Errorf("no report has %s: %s", h.check, h.text)
		}
	}
}

// everyCheck returns the checks of small reports about all formats, with all options that add
// checks.
func everyCheck(t *testing.T) (all []report.Outcome) {
	add := func(f *format.Format, lines []string, own Options) {
		accepted, together := 0, new(Sources)
		for _, o := range []Options{own, {Unordered: true, NodeBits: own.NodeBits},
			{Stateless: true}, {Live: true, NodeBits: own.NodeBits}, {NodeBits: 8},
			{Unordered: true, Nodes: []string{"42/8", "43/8"}}} {
			o.Sources = together
			r, err := Check(t.Context(), f.Name(), strings.NewReader(controls.Text(lines)), o)
			if err != nil {
				continue // the format does not have the option
			}
			accepted++
			all = append(all, r.Checks...)
		}
		if accepted < 3 && sample.Timed(spec.Of(f)) != nil {
			t.Errorf("%s: %d reports", f.Name(), accepted)
		}
	}
	for _, s := range controls.Subjects {
		f, err := format.Lookup(s.Format)
		if err != nil {
			t.Fatal(err)
		}
		add(f, s.Make(controls.New(7, "", 300, 0.1)), options(s))
	}
	for _, f := range format.All() {
		add(f, []string{f.Example(), f.Example()}, Options{})
	}
	return all
}
