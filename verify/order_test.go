package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/verify/internal/words"
)

// How far merged streams are out of order, against a plain computation.
func TestLateness(t *testing.T) {
	for _, scheme := range Schemes() {
		var all []string
		for seed := range uint64(3) {
			all = append(all, find(scheme, "").make(newModel(seed, "", 2000, 0.5))...)
		}
		f := formatOf(scheme)
		byID := map[string]id{}
		for _, l := range all {
			v, _, err := f.read([]byte(l))
			if err != nil {
				t.Fatal(err)
			}
			byID[l] = v
		}
		// In order, but for a few hundred places forth and back.
		slices.SortFunc(all, func(a, b string) int { return compare(byID[a], byID[b]) })
		r := rand.New(rand.NewPCG(1, 1))
		for range 300 {
			i, j := r.IntN(len(all)), r.IntN(200)
			j = min(i+j, len(all)-1)
			all[i], all[j] = all[j], all[i]
		}
		late, most, lines, top := 0, uint64(0), 0, id{}
		for i, l := range all {
			v := byID[l]
			if !less(v, top) {
				top = v
				continue
			}
			late++
			most = max(most, f.timestamp(top)-f.timestamp(v))
			for k := range all[:i] {
				if less(v, byID[all[k]]) {
					lines = max(lines, i-k)
					break
				}
			}
		}
		report := check(t, scheme, all, Options{Unordered: true})
		if report.Status != Pass {
			t.Errorf("%s: %+v", scheme, report.Failed())
		}
		facts := fmt.Sprint(report.Facts)
		for _, want := range []string{
			fmt.Sprintf("%s (", words.Plural(uint64(late), "ID")), fmt.Sprintf("at most %s (line", f.span(most)), fmt.Sprintf("at most %s}", words.Count(uint64(lines))),
		} {
			if !strings.Contains(facts, want) {
				t.Errorf("%s: no %q in %s", scheme, want, facts)
			}
		}
		if report := check(t, scheme, all, Options{}); report.Status != Fail {
			t.Errorf("%s: the merged stream passes as one source", scheme)
		}
	}
}

// What holds for each ID alone is checked in merged streams, too.
func TestUnordered(t *testing.T) {
	for _, c := range []struct{ scheme, mode, fault, want string }{
		{"scru128", "", "biased", "random.entropy.balance"},
		{"scru128", "", "epoch2010", "clock.epoch"},
		{"scru160", "", "biased80", "random.random80.high.balance"},
		{"scru160", "", "biased16", "random.random16.balance"},
		{"euid", "", "version", "rules.version"},
		{"euid", "", "stuck-bit", "random.random_low.balance"},
		{"uid60", "", "biased", "random.random.balance"},
	} {
		s := find(c.scheme, c.mode)
		lines := s.make(newModel(1, c.fault, 20_000, 0.05))
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		o := s.options
		o.Unordered = true
		r := check(t, c.scheme, lines, o)
		if got := r.Check(c.want); got == nil || got.Status != Fail {
			t.Errorf("%s %s: %s does not fail: %+v", c.scheme, c.fault, c.want, r.Failed())
		}
	}
}

// The node IDs of scru64: those of merged streams must be known, and no prefixes.
func TestNodes(t *testing.T) {
	lines := sample("scru64", 1000)
	for _, c := range []struct {
		nodes []string
		want  string // the check that fails; empty: none
	}{
		{[]string{"42/8"}, ""},
		{[]string{"43/8"}, "rules.node"},
		{[]string{"42/8", "43/8"}, ""},
		{[]string{"1/8", "43/8"}, "rules.node"},
		{[]string{"42/8", "84/9"}, "rules.prefix"},
		{[]string{"42/8", "42/8"}, "rules.prefix"},
	} {
		r := check(t, "scru64", lines, Options{Nodes: c.nodes, Unordered: true})
		if c.want == "" && r.Status != Pass || c.want != "" && (len(r.Failed()) != 1 || r.Failed()[0].Name != c.want) {
			t.Errorf("%v: %+v, want %s", c.nodes, r.Failed(), c.want)
		}
	}
	facts := fmt.Sprint(check(t, "scru64", lines, Options{}).Facts)
	if !strings.Contains(facts, "00101010, or the first of these bits") {
		t.Errorf("the node ID 42/8 is not inferred: %s", facts)
	}
}

// Guard bits and other starts are inferred, or as stated.
func TestCounterStart(t *testing.T) {
	lines := scru64Model(newModel(1, "guard", 20_000, 0.3))
	for start, want := range map[int]bool{0: true, 13: true, 14: true, 12: false, Zero: false} {
		r := check(t, "scru64", lines, Options{Nodes: []string{"42/8"}, CounterStart: start})
		// Of 14 bits the highest is never set.
		if want = want && start != 14; want != (r.Status == Pass) {
			t.Errorf("scru64, 3 guard bits, a start of %d stated: %+v", start, r.Failed())
		}
	}
	lines = scru64Model(newModel(1, "zero", 20_000, 0.3))
	if r := check(t, "scru64", lines, Options{CounterStart: Zero}); r.Status != Pass {
		t.Errorf("scru64 from zero, as stated: %+v", r.Failed())
	}
	lines = scru160Model(newModel(1, "zero", 20_000, 0.3), 0, 0, false)
	for start, want := range map[int]bool{0: true, Zero: true, 15: false} {
		if r := check(t, "scru160", lines, Options{CounterStart: start}); want != (r.Status == Pass) {
			t.Errorf("scru160 from zero, a start of %d stated: %+v", start, r.Failed())
		}
	}
}

// What scru160 does with its counter is inferred, or as stated.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		mode string
		o    Options
		pass bool
		fact string
	}{
		{"", Options{}, true, "counter of 16 bits"},
		{"", Options{Usage: UsageDefault, Extension: Zero}, true, "counter of 16 bits"},
		{"", Options{Usage: UsageMicroseconds}, false, "microseconds"},
		{"", Options{Extension: 4}, false, "counter of 20 bits"},
		{"extended", Options{}, true, "counter of 21 bits, the low 5 in random16"},
		{"extended", Options{Extension: 5}, true, "counter of 21 bits"},
		{"extended", Options{Extension: Zero}, false, "counter of 16 bits"},
		{"micros", Options{}, true, "microseconds and 6 bits of counter"},
		{"micros", Options{Usage: UsageMicroseconds}, true, "microseconds"},
		{"micros", Options{Usage: UsageDefault}, false, "counter of"},
		{"node", Options{}, false, "counter of 19 bits"},
		{"node", Options{NodeBits: 4}, true, "5 of 4 bits"},
		{"node", Options{NodeBits: 4, Extension: 3}, true, "5 of 4 bits"},
	} {
		r := check(t, "scru160", find("scru160", c.mode).make(newModel(1, "", 20_000, 0.1)), c.o)
		if c.pass != (r.Status == Pass) || !strings.Contains(fmt.Sprint(r.Facts), c.fact) {
			t.Errorf("%s, %+v: %v %v", c.mode, c.o, r.Failed(), r.Facts)
		}
	}
}

// Stateless generators are no fault if they are said to be such.
func TestStateless(t *testing.T) {
	m := newModel(1, "", 0, 0.1)
	var lines []string
	for range 10_000 {
		m.tick()
		v := id{hi: m.timestamp(time.UnixMilli(0), 1)<<16 | m.Uint64()>>48, lo: m.Uint64()}
		lines = append(lines, formatSCRU128.text(v, 25))
	}
	if r := check(t, "scru128", lines, Options{Stateless: true}); r.Status != Pass || len(r.Fields) != 3 {
		t.Errorf("%+v", r.Failed())
	}
	if r := check(t, "scru128", lines, Options{}); r.Status != Fail {
		t.Error("passes without the option")
	}
	for i, l := range lines {
		v, _, _ := formatSCRU128.read([]byte(l))
		v.hi &^= 1 << 5
		lines[i] = formatSCRU128.text(v, 25)
	}
	if r := check(t, "scru128", lines, Options{Stateless: true}); r.Check("random.counter_hi.balance").Status != Fail {
		t.Errorf("a bit of counter_hi is stuck: %+v", r.Failed())
	}
}
