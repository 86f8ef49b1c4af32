package verify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/verify/internal/model"
	"github.com/sortid/sortid/verify/report"
)

func check(t testing.TB, formatName string, lines []string, o Options) *report.Report {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return model.Now }
	}
	r, err := Check(t.Context(), formatName, strings.NewReader(model.Text(lines)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func options(s model.Subject) Options { return Options{Nodes: s.Nodes, NodeBits: s.NodeBits} }

// Sound streams pass with any seed, pace and length. With -soak each seed has all paces.
func TestSound(t *testing.T) {
	seeds := 40
	if testing.Short() || model.UnderRace {
		seeds = 4
	}
	for _, s := range model.Subjects {
		t.Run(s.Format+"/"+s.Mode, func(t *testing.T) {
			for seed := range uint64(seeds) {
				for i, pace := range []float64{1, 0.3, 0.01} {
					if !*soak && i != int(seed%3) {
						continue
					}
					n := 10 + int(seed*seed*seed)%20_000
					r := check(t, s.Format, s.Make(model.New(seed, "", n, pace)), options(s))
					if r.Status != report.Pass {
						t.Fatalf("seed %d, pace %g, %d IDs: %+v %+v", seed, pace, n, r.Failed(), r.Warned())
					}
					if r.IDs != uint64(n) {
						t.Errorf("%d IDs of %d", r.IDs, n)
					}
				}
			}
		})
	}
}

// A control is a broken generator and exactly the checks that must fail.
type control struct {
	model.Subject
	fault string
	want  []string
	pace  float64
	n     int
	edit  func(lines []string) []string // instead of a generator's fault
	once  bool                          // the fault is counted once
	also  []string                      // consequences, by their beginning
}

func controls() (cs []control) {
	add := func(formatName, mode, fault string, want ...string) *control {
		cs = append(cs, control{Subject: model.Find(formatName, mode), fault: fault, want: want, pace: 0.05, n: 40_000})
		return &cs[len(cs)-1]
	}
	// The same for all formats.
	for _, formatName := range format.Names() {
		for _, e := range []struct {
			name string
			want string
			edit func(lines []string) []string
		}{
			{"duplicate", "order.duplicate", func(l []string) []string { return slices.Insert(l, 1000, l[999]) }},
			{"swapped", "order.swapped", func(l []string) []string { l[500], l[501] = l[501], l[500]; return l }},
			{"ahead", "order.ahead", func(l []string) []string { l[500] = l[9000]; return l }},
			{"behind", "order.behind", func(l []string) []string { l[5000] = l[100]; return l }},
			{"restart", "clock.rollback", func(l []string) []string { return slices.Concat(l[30_000:], l[:30_000]) }},
		} {
			c := add(formatName, "", e.name, e.want)
			c.edit, c.once = e.edit, true
		}
		add(formatName, "", "rollback", "clock.rollback")
		if !model.Find(formatName, "").LeavesTicks {
			add(formatName, "", "coarse", "clock.resolution").pace = 0.002
		}
	}
	for _, formatName := range []string{"scru128", "scru160", "euid"} {
		add(formatName, "", "seconds", "clock.unit").pace = 1
		add(formatName, "", "epoch2010", "clock.epoch")
	}
	add("scru128", "", "micros", "clock.unit")
	add("scru160", "", "micros", "clock.unit")
	add("scru64", "", "seconds", "clock.unit")
	add("scru64", "", "tick250", "clock.unit")
	add("scru64", "", "epoch2010", "clock.epoch")
	add("uid60", "", "unixepoch", "clock.epoch")
	add("uid60", "", "seconds", "clock.unit").pace = 1
	cs[len(cs)-1].also = []string{"rules.overflow", "rules.sequence"}

	add("scru128", "", "frozen", "clock.frozen").n = 1_100_000
	add("scru128", "", "stuck", "rules.repeat")
	add("scru128", "", "race", "rules.repeat")
	add("scru128", "", "jump", "rules.step")
	add("scru128", "", "carry-lost", "rules.carry")
	add("scru128", "", "lo-zero", "random.counter_lo.same")
	cs[len(cs)-1].also = []string{"rules.counter_lo"}
	add("scru128", "", "lo-kept", "rules.counter_lo")
	cs[len(cs)-1].also = []string{"random.counter_lo"}
	add("scru128", "", "lo-sequential", "random.counter_lo.serial")
	add("scru128", "", "lo-biased", "random.counter_lo.balance").pace = 0.5
	add("scru128", "", "hi-often", "rules.counter_hi.early")
	add("scru128", "", "hi-kept", "rules.counter_hi")
	add("scru128", "", "hi-half", "rules.counter_hi")
	add("scru128", "", "hi-biased", "random.counter_hi.balance").pace = 1
	add("scru128", "", "biased", "random.entropy.balance")
	add("scru128", "", "stuck-bit", "random.entropy.same")
	add("scru128", "", "short", "random.entropy.repeats")
	add("scru128", "", "entropy-counts", "random.entropy.same")
	add("scru128", "", "entropy-repeats-last", "random.entropy.serial")
	add("scru128", "", "entropy-mirrored", "random.entropy.repeats")

	for _, mode := range []string{"", "node"} {
		add("scru64", mode, "race", "order.duplicate")
		add("scru64", mode, "jump", "rules.step")
		add("scru64", mode, "zero", "rules.start")
		add("scru64", mode, "biased", "random.counter.balance").pace = 1
		add("scru64", mode, "stuck-bit", "random.counter.same")
		add("scru64", mode, "wrap", "rules.overflow")
		add("scru64", mode, "node", "rules.node")
		add("scru64", mode, "kept", "rules.counter")
		cs[len(cs)-1].also = []string{"random.counter", "rules.start"}
	}
	add("scru64", "node", "overflow", "rules.overflow")
	cs[len(cs)-1].also = []string{"rules.node"}
	add("scru64", "node", "two-nodes", "rules.node")
	cs[len(cs)-1].also = []string{"order.", "rules.step"}

	for _, mode := range []string{"", "extended", "node", "micros"} {
		add("scru160", mode, "race", "rules.repeat")
		add("scru160", mode, "jump", "rules.step")
		add("scru160", mode, "five", "rules.start")
		add("scru160", mode, "wide", "rules.start")
		add("scru160", mode, "start-biased", "random.counter.balance").pace = 0.5
		add("scru160", mode, "biased16", "random.random16.balance")
		add("scru160", mode, "biased80", "random.random80.high.balance")
		add("scru160", mode, "short", "random.random80.low.repeats")
		add("scru160", mode, "stuck-bit", "random.random80.low.same")
	}
	add("scru160", "node", "node", "rules.node")
	add("scru160", "micros", "micros-nano", "rules.micros")

	for _, mode := range []string{"", "extension"} {
		add("euid", mode, "race", "rules.repeat")
		add("euid", mode, "jump", "rules.step")
		add("euid", mode, "header", "rules.header")
		add("euid", mode, "version", "rules.version")
		add("euid", mode, "wrap", "rules.overflow")
		cs[len(cs)-1].also = []string{"random.random_high"}
		add("euid", mode, "high-zero", "random.random_high.same")
		cs[len(cs)-1].also = []string{"rules.counter"}
		add("euid", mode, "high-kept", "rules.counter")
		cs[len(cs)-1].also = []string{"random.random_high"}
		add("euid", mode, "high-biased", "random.random_high.balance").pace = 0.5
		add("euid", mode, "header-biased", "random.header.balance").pace = 0.5
		add("euid", mode, "biased", "random.random_low.balance")
		add("euid", mode, "stuck-bit", "random.random_low.same")
		add("euid", mode, "short", "random.random_low.repeats")
	}

	for _, mode := range []string{"", "worker"} {
		add("uid60", mode, "race", "rules.sequence")
		cs[len(cs)-1].also = []string{"order.duplicate"}
		add("uid60", mode, "jump", "rules.step")
		add("uid60", mode, "each-zero", "rules.step")
		add("uid60", mode, "hurry", "rules.sequence").pace = 0.001
		add("uid60", mode, "again", "rules.sequence")
		cs[len(cs)-1].also = []string{"order.", "rules.step"}
		add("uid60", mode, "biased", "random.random.balance")
		add("uid60", mode, "stuck-bit", "random.random.same")
	}
	add("uid60", "", "counts", "random.random.serial")
	add("uid60", "worker", "worker", "rules.worker")
	return cs
}

func TestNegativeControls(t *testing.T) {
	for i, c := range controls() {
		if model.UnderRace && i%8 != 0 { // no races here
			continue
		}
		t.Run(c.Format+c.Mode+"/"+c.fault, func(t *testing.T) {
			fault := c.fault
			if c.edit != nil {
				fault = ""
			}
			lines := c.Make(model.New(uint64(i), fault, c.n, c.pace))
			if c.edit != nil {
				lines = c.edit(lines)
			}
			r := check(t, c.Format, lines, options(c.Subject))
			if r.Status != report.Fail {
				t.Fatal("not caught")
			}
			// A bias fails several tests of a field; other faults fail one check.
			field, _, _ := strings.Cut(strings.TrimPrefix(c.want[0], "random."), ".")
			for _, failed := range r.Failed() {
				of := strings.HasPrefix(failed.Name, "random.") && strings.Contains(failed.Name, field)
				for _, prefix := range c.also {
					of = of || strings.HasPrefix(failed.Name, prefix)
				}
				if !slices.Contains(c.want, failed.Name) && !of {
					t.Errorf("also fails %s: %s, %+v", failed.Name, failed.Detail, failed.Examples)
				}
			}
			for _, want := range c.want {
				o := r.Check(want)
				if o == nil || o.Status != report.Fail {
					t.Fatalf("%s does not fail: %+v", want, o)
				}
				if o.Count == 0 || o.Detail == "" && len(o.Examples) == 0 {
					t.Errorf("%s has nothing to show: %+v", want, o)
				}
				if c.once && o.Count != 1 {
					t.Errorf("%s counts %d faults", want, o.Count)
				}
			}
		})
	}
}

// A uid60 generator may go from 511 to 0 within a millisecond if it repeats no sequence. The IDs
// are out of order, which is a warning.
func TestUID60Wrap(t *testing.T) {
	for seed := range uint64(10) {
		r := check(t, "uid60", model.UID60(model.New(seed, "wrap", 40_000, 0.004), 0), Options{})
		if r.Status != report.Warn || len(r.Warned()) != 1 || r.Warned()[0].Name != "rules.overflow" {
			t.Fatalf("%+v %+v", r.Failed(), r.Warned())
		}
		if n := r.Warned()[0].Count; n < 20 {
			t.Errorf("%d times", n)
		}
	}
}

// The streams without a fault pass.
func TestControlsWithoutFault(t *testing.T) {
	for i, c := range controls() {
		if (testing.Short() || model.UnderRace) && i%10 != 0 {
			continue
		}
		r := check(t, c.Format, c.Make(model.New(uint64(i), "", c.n, c.pace)), options(c.Subject))
		if r.Status != report.Pass {
			t.Errorf("%s %s, control %d %s: %+v", c.Format, c.Mode, i, c.fault, r.Failed())
		}
	}
}

func TestOutliers(t *testing.T) {
	for _, formatName := range format.Names() {
		s := model.Find(formatName, "")
		m := model.New(1, "", 1, 1)
		m.MS = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		far := s.Make(m)[0]
		m = model.New(2, "", 1, 1)
		m.MS = time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
		old := s.Make(m)[0]
		for at := range 6 {
			for name, line := range map[string]string{"far": far, "old": old} {
				lines := slices.Insert(s.Make(model.New(3, "", 5000, 0.1)), at, line)
				r := check(t, formatName, lines, options(s))
				faults := uint64(0)
				for _, c := range r.Failed() {
					faults += c.Count
				}
				// A first ID older than the rest is not known to be wrong.
				want := uint64(1)
				if name == "old" && at == 0 {
					want = 0
				}
				if faults != want && !(want == 0 && formatName == "uid60") { // whose sequence may tell
					t.Errorf("%s: %s in line %d: %d faults, want %d: %+v", formatName, name, at+1, faults, want, r.Failed())
				}
			}
		}
	}
}
