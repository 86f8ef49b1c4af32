package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

func TestDisorder(t *testing.T) {
	for _, f := range format.Ours() {
		formatName := f.Name()
		var all []string
		for seed := range uint64(3) {
			all = append(all,
				controls.Find(formatName, "").Make(controls.New(seed, "", 2000, 0.5))...)
		}
		byID := map[string]integer.Words{}
		for _, l := range all {
			v, _, _, err := sample.FormatOf(spec.Of(f)).ReadLine([]byte(l))
			if err != nil {
				t.Fatal(err)
			}
			byID[l] = v
		}
		slices.SortFunc(all, func(a, b string) int { return byID[a].Compare(byID[b]) })
		random := rand.New(rand.NewPCG(1, 1))
		for range 300 {
			i, j := random.IntN(len(all)), random.IntN(200)
			j = min(i+j, len(all)-1)
			all[i], all[j] = all[j], all[i]
		}
		values := make([]integer.Words, len(all))
		for i, l := range all {
			values[i] = byID[l]
		}
		late, most, lines, top := 0, uint64(0), 0, integer.Words{}
		for i, v := range values {
			if !v.Less(&top) {
				top = v
				continue
			}
			late++
			most = max(most, sample.FormatOf(spec.Of(f)).Timestamp(&top)-sample.FormatOf(spec.Of(f)).Timestamp(&v))
			for k := range values[:i] {
				if v.Less(&values[k]) {
					lines = max(lines, i-k)
					break
				}
			}
		}
		want := report.Pass
		if formatName == "uid60" { // by chance, two generators without worker IDs made the same ID
			want = report.Warn
		}
		r := check(t, formatName, all, Options{Unordered: true})
		if r.Status != want {
			t.Errorf("%s, unordered: %+v %+v", formatName, r.Failed(), r.Warned())
		}
		facts := fmt.Sprint(r.Facts)
		for _, want := range []string{
			fmt.Sprintf("%s (", words.Plural(uint64(late), "ID")),
			fmt.Sprintf("at most %s (line", words.Span(f.Tick(), most)),
			fmt.Sprintf("at most %s}", words.Count(uint64(lines))),
		} {
			if !strings.Contains(facts, want) {
				t.Errorf("%s: no %q in %s", formatName, want, facts)
			}
		}
		if r := check(t, formatName, all, Options{}); r.Status != report.Fail {
			t.Errorf("%s: the merged stream passes as one source", formatName)
		}
	}
}

// A scru64 ID must have one of the node IDs. No node ID may be a prefix of another node ID.
func TestNodes(t *testing.T) {
	lines := controls.Sample("scru64", 1000)
	for _, c := range []struct {
		nodes []string
		want  string // failed check, or empty
	}{
		{[]string{"42/8"}, ""},
		{[]string{"43/8"}, "rules.node"},
		{[]string{"42/8", "43/8"}, ""},
		{[]string{"1/8", "43/8"}, "rules.node"},
		{[]string{"42/8", "84/9"}, "rules.prefix"},
		{[]string{"42/8", "42/8"}, "rules.prefix"},
	} {
		r := check(t, "scru64", lines, Options{Nodes: c.nodes, Unordered: true})
		if c.want == "" && r.Status != report.Pass || c.want != "" && (len(r.Failed()) != 1 ||
			r.Failed()[0].Name != c.want) {
			t.Errorf("%v: %+v, want %s", c.nodes, r.Failed(), c.want)
		}
	}
	facts := fmt.Sprint(check(t, "scru64", lines, Options{}).Facts)
	if !strings.Contains(facts, "00101010, or only the high bits of this number") {
		t.Errorf("the node ID 42/8 is not inferred: %s", facts)
	}
}

// Check infers how many bits of a new counter are random, or reads the number from the options.
func TestCounterStart(t *testing.T) {
	lines := controls.SCRU64(controls.New(1, "guard", 20_000, 0.3))
	for start, want := range map[int]bool{0: true, 13: true, 14: true, 12: false, None: false} {
		r := check(t, "scru64", lines, Options{Nodes: []string{"42/8"}, CounterStart: start})
		// The counter has 13 random bits. If Check expects 14, a bit that is always 0 is a fault.
		if want = want && start != 14; want != (r.Status == report.Pass) {
			t.Errorf("scru64 with 13 random bits, CounterStart %d: %+v", start, r.Failed())
		}
	}
	lines = controls.SCRU64(controls.New(1, "zero", 20_000, 0.3))
	if r := check(t, "scru64", lines, Options{CounterStart: None}); r.Status != report.Pass {
		t.Errorf("scru64 from zero, CounterStart None: %+v", r.Failed())
	}
	lines = controls.SCRU160(controls.New(1, "zero", 20_000, 0.3), 0, 0, false)
	for start, want := range map[int]bool{0: true, None: true, 15: false} {
		r := check(t, "scru160", lines, Options{CounterStart: start})
		if want != (r.Status == report.Pass) {
			t.Errorf("scru160 from zero, CounterStart %d: %+v", start, r.Failed())
		}
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		mode string
		o    Options
		pass bool
		fact string
	}{
		{"", Options{}, true, "counter of 16 bits"},
		{"", Options{Usage: UsageDefault, Extension: None}, true, "counter of 16 bits"},
		{"", Options{Usage: UsageMicroseconds}, false, "microseconds"},
		{"", Options{Extension: 4}, false, "counter of 20 bits"},
		{"extended", Options{}, true, "counter of 21 bits, the low 5 in random16"},
		{"extended", Options{Extension: 5}, true, "counter of 21 bits"},
		{"extended", Options{Extension: None}, false, "counter of 16 bits"},
		{"micros", Options{}, true, "microseconds and 6 bits of counter"},
		{"micros", Options{Usage: UsageMicroseconds}, true, "microseconds"},
		{"micros", Options{Usage: UsageDefault}, false, "counter of"},
		{"node", Options{}, false, "counter of 19 bits"},
		{"node", Options{NodeBits: 4}, true, "5 (4 bits)"},
		{"node", Options{NodeBits: 4, Extension: 3}, true, "5 (4 bits)"},
	} {
		r := check(t, "scru160",
			controls.Find("scru160", c.mode).Make(controls.New(1, "", 20_000, 0.1)),
			c.o)
		if c.pass != (r.Status == report.Pass) || !strings.Contains(fmt.Sprint(r.Facts), c.fact) {
			t.Errorf("%s, %+v: %v %v", c.mode, c.o, r.Failed(), r.Facts)
		}
	}
}

// A counter that starts too high is not taken for microseconds.
func TestUsageOfHighCounter(t *testing.T) {
	f := sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru160"))))
	for _, pace := range []float64{100, 1, 0.1, 0.01} {
		for name, clear := range map[string]uint64{"any": 0, "one": 0x7ff0 << 32} {
			lines := controls.SCRU160(controls.New(1, "", 20_000, pace), 0, 0, false)
			for i, l := range lines {
				w, _, _, _ := f.ReadLine([]byte(l))
				w.Mid = w.Mid&^clear | 1<<47
				lines[i] = f.InEncoding(w, spec.Text)
			}
			r := check(t, "scru160", lines, Options{})
			if !strings.Contains(fmt.Sprint(r.Facts), "counter of 16 bits") ||
				r.Check("rules.start").Status != report.Fail {
				t.Errorf("%s start, pace %g: %v %v", name, pace, r.Failed(), r.Facts)
			}
		}
	}
}

func TestStateless(t *testing.T) {
	m := controls.New(1, "", 0, 0.1)
	var lines []string
	for range 10_000 {
		m.Tick()
		v := integer.Words{Mid: m.Timestamp(time.UnixMilli(0), 1)<<16 | m.Uint64()>>48,
			Low: m.Uint64()}
		lines = append(lines, sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru128")))).InEncoding(v, spec.Text))
	}
	if r := check(t, "scru128", lines, Options{Stateless: true}); r.Status != report.Pass ||
		len(r.Fields) != 3 {
		t.Errorf("%+v", r.Failed())
	}
	if r := check(t, "scru128", lines, Options{}); r.Status != report.Fail {
		t.Error("stateless IDs pass without the option")
	}
	for i, l := range lines {
		v, _, _, _ := sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru128")))).ReadLine([]byte(l))
		v.Mid &^= 1 << 5
		lines[i] = sample.FormatOf(spec.Of(gencore.Must(format.Lookup("scru128")))).InEncoding(v, spec.Text)
	}
	if r := check(t, "scru128", lines, Options{Stateless: true}); r.Check(
		"random.counter_hi.same").Status != report.Fail {
		t.Errorf("a constant bit of counter_hi is not found: %+v", r.Failed())
	}
}
