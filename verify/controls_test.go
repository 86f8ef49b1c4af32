package verify

import (
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

func check(t testing.TB, formatName string, lines []string, o Options) *report.Report {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return controls.Now }
	}
	r, err := Check(t.Context(), formatName, strings.NewReader(controls.Text(lines)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func options(s controls.Subject) Options { return Options{Nodes: s.Nodes, NodeBits: s.NodeBits} }

// Correct IDs pass with any seed, pace of the clock and length. With SORTID_SOAK, each seed
// has all paces.
func TestSound(t *testing.T) {
	seeds, allPaces := 40, testserver.Soak(t) > 0
	if testing.Short() {
		seeds = 4
	}
	for _, s := range controls.Subjects {
		if testserver.UnderRace && s.Mode != "" { // a mode does not change the goroutines
			continue
		}
		t.Run(s.Format+"/"+s.Mode, func(t *testing.T) {
			for seed := range uint64(seeds) {
				for i, pace := range []float64{1, 0.999, 0.3, 0.05, 0.01, 0.002} {
					if !allPaces && i != int(seed%6) {
						continue
					}
					n := 10 + int(seed*seed*seed)%40_000
					r := check(t, s.Format, s.Make(controls.New(seed, "", n, pace)), options(s))
					if r.Status != report.Pass {
						t.Fatalf("seed %d, pace %g, %d IDs: %+v %+v", seed, pace, n, r.Failed(), r.Warned())
					}
					if r.IDs != uint64(n) {
						t.Errorf("%d IDs, want %d", r.IDs, n)
					}
				}
			}
		})
	}
}

// A control is a broken generator and the check that must fail.
type control struct {
	controls.Subject
	fault, want string
	pace        float64
	n           int
	edit        func(lines []string) []string // if not nil, makes the fault in correct IDs
	also        []string                      // prefixes of other checks that may fail
	mixed       bool
}

func broken(t *testing.T) (cs []control) {
	for _, f := range format.Ours() {
		formatName := f.Name()
		c := control{Subject: controls.Find(formatName, ""), pace: 0.05, n: 40_000}
		add := func(fault, want string, edit func(lines []string) []string) {
			c.fault, c.want, c.edit = fault, want, edit
			cs = append(cs, c)
		}
		type lines = []string
		add("duplicate", "order.duplicate",
			func(l lines) lines { return slices.Insert(l, 9, l[8]) })
		add("swapped", "order.swapped", func(l lines) lines { l[5], l[6] = l[6], l[5]; return l })
		c.also = []string{"order.duplicate"} // these faults also repeat IDs
		add("ahead", "order.ahead", func(l lines) lines { l[500] = l[9000]; return l })
		add("behind", "order.behind", func(l lines) lines { l[5000] = l[100]; return l })
		add("rollback", "clock.rollback", nil)
		c.also = nil
		add("restart", "clock.rollback",
			func(l lines) lines { return slices.Concat(l[30_000:], l[:30_000]) })
		if c.pace = 0.002; !c.LeavesTicks {
			add("coarse", "clock.resolution", nil)
		}
	}
	var err error
	for line := range strings.Lines(controls.Controls) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		c := control{fault: words[1], want: words[2], pace: 0.05, n: 40_000}
		for _, option := range words[3:] {
			name, value, _ := strings.Cut(option, "=")
			switch name {
			case "pace":
				c.pace, err = strconv.ParseFloat(value, 64)
			case "n":
				c.n, err = strconv.Atoi(value)
			case "also":
				c.also = strings.Split(value, ",")
			case "mixed":
				c.mixed = true
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		for name := range strings.SplitSeq(words[0], ",") {
			formatName, mode, _ := strings.Cut(name, ":")
			for _, s := range controls.Subjects {
				if s.Format == formatName && (s.Mode == mode || mode == "*") {
					c.Subject = s
					cs = append(cs, c)
				}
			}
		}
	}
	return cs
}

func TestEveryFormat(t *testing.T) {
	const file = "verify/internal/controls/controls.go"
	for _, f := range format.Ours() {
		if !slices.ContainsFunc(controls.Subjects,
			func(s controls.Subject) bool { return s.Format == f.Name() && s.Mode == "" }) {
			t.Errorf("%s: Subjects lacks %s", file, f.Name())
		}
		if !regexp.MustCompile(`(?m)^(\S*,)?` + f.Name() + `[ ,:]`).MatchString(controls.Controls) {
			t.Errorf("%s: Controls has no fault of %s", file, f.Name())
		}
	}
}

func TestNegativeControls(t *testing.T) {
	for i, c := range broken(t) {
		if testserver.UnderRace && i%8 > 0 { // all controls have the same goroutines
			continue
		}
		if testing.Short() && i%4 > 0 {
			continue
		}
		t.Run(c.Format+c.Mode+"/"+c.fault, func(t *testing.T) {
			fault := c.fault
			if c.edit != nil {
				fault = ""
			}
			seed := fnv.New64a() // the seed depends only on the control's name
			seed.Write([]byte(t.Name()))
			lines := c.Make(controls.New(seed.Sum64(), fault, c.n, c.pace))
			if c.edit != nil {
				lines = c.edit(lines)
			}
			o := options(c.Subject)
			if o.Unordered = c.mixed; c.mixed {
				rand.New(rand.NewPCG(1, 1)).Shuffle(len(lines),
					func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
			}
			r := check(t, c.Format, lines, o)
			if r.Status != report.Fail {
				t.Fatal("no check fails")
			}
			// A bias can make several tests of a field fail. Every other fault makes one check fail.
			field, _, _ := strings.Cut(strings.TrimPrefix(c.want, "random."), ".")
			for _, failed := range r.Failed() {
				expected := strings.HasPrefix(failed.Name, "random.") &&
					strings.Contains(failed.Name, field)
				for _, prefix := range c.also {
					expected = expected || strings.HasPrefix(failed.Name, prefix)
				}
				if failed.Name != c.want && !expected {
					t.Errorf("also fails %s: %s, %+v", failed.Name, failed.Detail, failed.Examples)
				}
			}
			got := r.Check(c.want)
			switch {
			case got == nil || got.Status != report.Fail:
				t.Fatalf("%s does not fail: %+v", c.want, got)
			case got.Count == 0 || got.Detail == "" && len(got.Examples) == 0:
				t.Errorf("%s has no detail and no example: %+v", c.want, got)
			case c.edit != nil && got.Count != 1:
				t.Errorf("%s counts %d faults, want 1", c.want, got.Count)
			}
		})
	}
}

// A uid60 generator may go from 511 to 0 within a millisecond if no sequence number repeats. This
// causes only a warning.
func TestUID60Wrap(t *testing.T) {
	for seed := range uint64(10) {
		lines := controls.UID60(controls.New(seed, "wrap", 40_000, 0.004), 0)
		r := check(t, "uid60", lines, Options{})
		if r.Status != report.Warn || len(r.Warned()) != 1 || r.Warned()[0].Name != "rules.overflow" {
			t.Fatalf("%+v %+v", r.Failed(), r.Warned())
		}
		if n := r.Warned()[0].Count; n < 20 {
			t.Errorf("%d warnings, want at least 20", n)
		}
	}
}

func TestOutliers(t *testing.T) {
	for _, f := range format.Ours() {
		formatName := f.Name()
		s := controls.Find(formatName, "")
		m := controls.New(1, "", 1, 1)
		m.MS = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		far := s.Make(m)[0]
		m = controls.New(2, "", 1, 1)
		m.MS = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		old := s.Make(m)[0]
		for at := range 6 {
			for name, line := range map[string]string{"far": far, "old": old} {
				lines := slices.Insert(s.Make(controls.New(3, "", 5000, 0.1)), at, line)
				r := check(t, formatName, lines, options(s))
				faults := uint64(0)
				for _, c := range r.Failed() {
					faults += c.Count
				}
				// The first ID may be much older than the others.
				want := uint64(1)
				if name == "old" && at == 0 {
					want = 0
				}
				// uid60's sequence may have a gap.
				if faults != want && !(want == 0 && formatName == "uid60") {
					t.Errorf("%s: %s in line %d: %d faults, want %d: %+v", formatName, name, at+1,
						faults, want, r.Failed())
				}
			}
		}
	}
}
