package verify

import (
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
	"github.com/sortid/sortid/verify/internal/model"
	"github.com/sortid/sortid/verify/report"
)

// A stepClock moves on at each call. At times it steps forward, or back within the rollback
// allowance. A waiting generator, which asks again, sees the next millisecond.
type stepClock struct {
	micros  atomic.Int64
	asked   atomic.Bool
	calls   atomic.Int64
	stepped atomic.Int64
	pace    time.Duration
	back    time.Duration
}

func (c *stepClock) Now() time.Time {
	if c.asked.Swap(true) {
		for {
			now := c.micros.Load()
			if c.micros.CompareAndSwap(now, now-now%1000+1000) {
				break
			}
		}
	}
	now, back := c.micros.Load(), c.back.Microseconds()
	switch n := c.calls.Add(1); {
	case n%70_001 == 0:
		c.micros.Add((3 * time.Second).Microseconds())
	case now-c.stepped.Load() > 4*back+100_000:
		c.stepped.Store(now)
		c.micros.Add(-back)
	}
	return time.UnixMicro(c.micros.Add(c.pace.Microseconds()))
}

// next announces another call.
func (c *stepClock) next() { c.asked.Store(false) }

type subjectGenerator struct {
	format, mode string
	single, fill time.Duration // the clock's pace
	back         time.Duration
	most         int
	options      Options
	run          func(g subjectGenerator, t *testing.T, how string, n int, w io.Writer)
}

type generator[T conformance.ID[T]] interface {
	Generate() (T, error)
	Fill([]T) error
}

func running[T conformance.ID[T], G generator[T]](
	make func(now func() time.Time) (G, error)) func(subjectGenerator, *testing.T, string, int,
	io.Writer) {
	return func(s subjectGenerator, t *testing.T, how string, n int, w io.Writer) {
		clock := &stepClock{pace: s.single, back: s.back}
		clock.micros.Store(conformance.Start.UnixMicro())
		clock.stepped.Store(conformance.Start.UnixMicro())
		if how == "fill" {
			clock.pace = s.fill
		}
		g, err := make(clock.Now)
		if err != nil {
			t.Error(err)
			return
		}
		drive[T](t, g, clock, how, s.most, !s.options.Stateless, n, w)
	}
}

// again reports whether to repeat the call: a millisecond's EUIDs are used up.
func again(err error) bool { return errors.Is(err, sortid.ErrOverflow) }

func drive[T conformance.ID[T]](t *testing.T, g generator[T], clock *stepClock, how string,
	most int, ordered bool, n int, w io.Writer) {
	r := rand.New(rand.NewPCG(1, 1))
	one := func() (v T, ok bool) {
		for {
			clock.next()
			v, err := g.Generate()
			if err == nil {
				return v, true
			}
			if !again(err) {
				t.Error(err)
				return v, false
			}
		}
	}
	many := func(ids []T) bool {
		for {
			clock.next()
			err := g.Fill(ids)
			if err == nil {
				return true
			}
			if !again(err) {
				t.Error(err)
				return false
			}
		}
	}
	const round = 8000
	ids := make([]T, round)
	var out []byte
	for left := n; left > 0 && !t.Failed(); left -= round {
		switch how {
		case "single":
			for i := range ids {
				var ok bool
				if ids[i], ok = one(); !ok {
					return
				}
			}
		case "fill":
			for rest := ids; len(rest) > 0; {
				k := min(len(rest), 1+r.IntN(most))
				if !many(rest[:k]) {
					return
				}
				rest = rest[k:]
			}
		case "parallel":
			// Goroutines' IDs together are in order.
			const goroutines = 4
			var wg sync.WaitGroup
			for k := range goroutines {
				part := ids[k*round/goroutines : (k+1)*round/goroutines]
				wg.Go(func() {
					for i := 0; i < len(part); {
						if i%3 == 0 && k%2 == 0 {
							n := min(len(part)-i, 7, most)
							if !many(part[i : i+n]) {
								return
							}
							i += n
							continue
						}
						var ok bool
						if part[i], ok = one(); !ok {
							return
						}
						i++
					}
				})
			}
			wg.Wait()
			if ordered {
				slices.SortFunc(ids, T.Compare)
			}
		}
		out = out[:0]
		for _, v := range ids {
			out, _ = v.AppendText(out)
			out = append(out, '\n')
		}
		if _, err := w.Write(out); err != nil {
			return
		}
	}
}

func subjectGenerators() (all []subjectGenerator) {
	const ms, us = time.Millisecond, time.Microsecond
	add := func(formatName, mode string, single, fill, back time.Duration, most int, o Options,
		run func(subjectGenerator, *testing.T, string, int, io.Writer)) {
		o.To = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
		all = append(all, subjectGenerator{formatName, mode, single, fill, back, most, o, run})
	}
	node := func(spec string, o scru64.Options) func(subjectGenerator, *testing.T, string, int,
		io.Writer) {
		return running[scru64.ID](func(now func() time.Time) (*scru64.Generator, error) {
			s, err := scru64.ParseNodeSpec(spec)
			if err != nil {
				return nil, err
			}
			o := o // several tests run at a time
			o.NodeSpec, o.Clock = s, now
			return scru64.NewGenerator(o)
		})
	}
	add("scru64", "8", 25*us, 8*ms, 900*ms, 600, Options{}, node("42/8", scru64.Options{}))
	add("scru64", "8 stated", 25*us, 8*ms, 900*ms, 600, Options{Nodes: []string{"42/8"}},
		node("42/8", scru64.Options{}))
	add("scru64", "1", 2*us, ms, 900*ms, 4000, Options{}, node("1/1", scru64.Options{}))
	add("scru64", "20", 100*ms, 100*ms, 900*ms, 3, Options{}, node("0xabcde/20", scru64.Options{}))
	add("scru64", "23", 200*ms, 200*ms, 900*ms, 1, Options{}, node("1/23", scru64.Options{}))
	add("scru64", "guard", 20*us, 8*ms, 900*ms, 600, Options{},
		node("42/8", scru64.Options{OverflowGuard: 3}))
	add("scru64", "zero", 10*us, 4*ms, 900*ms, 600, Options{CounterStart: Zero},
		node("42/8", scru64.Options{OverflowGuard: 16}))

	s128 := func(o scru128.Options) func(subjectGenerator, *testing.T, string, int, io.Writer) {
		return running[scru128.ID](func(now func() time.Time) (*scru128.Generator, error) {
			o := o
			o.Clock = now
			return scru128.NewGenerator(o)
		})
	}
	add("scru128", "", 2*us, 200*us, 300*ms, 1000, Options{}, s128(scru128.Options{}))
	add("scru128", "slow", 700*us, 700*us, 500*ms, 2, Options{}, s128(scru128.Options{}))
	add("scru128", "stateless", 20*us, 200*us, 300*ms, 1000, Options{Stateless: true},
		s128(scru128.Options{Stateless: true}))

	s160 := func(o scru160.Options) func(subjectGenerator, *testing.T, string, int, io.Writer) {
		return running[scru160.ID](func(now func() time.Time) (*scru160.Generator, error) {
			o := o
			o.Clock = now
			return scru160.NewGenerator(o)
		})
	}
	add("scru160", "", 2*us, 200*us, 3*ms, 1000, Options{}, s160(scru160.Options{}))
	add("scru160", "narrow", 2*us, 200*us, 3*ms, 1000, Options{},
		s160(scru160.Options{CounterWidth: 9}))
	add("scru160", "zero", 2*us, 200*us, 3*ms, 1000, Options{CounterStart: Zero},
		s160(scru160.Options{CounterWidth: -1}))
	add("scru160", "extended", 2*us, 200*us, 3*ms, 1000, Options{},
		s160(scru160.Options{CounterExtension: 6}))
	add("scru160", "node", 2*us, 200*us, 3*ms, 1000, Options{NodeBits: 10},
		s160(scru160.Options{CounterExtension: 4, NodeID: 700, NodeBits: 10}))
	add("scru160", "microseconds", us, 3*us, 10*us, 25, Options{},
		s160(scru160.Options{Microseconds: true}))

	e := func(o euid.Options) func(subjectGenerator, *testing.T, string, int, io.Writer) {
		return running[euid.ID](func(now func() time.Time) (*euid.Generator, error) {
			o := o
			o.Clock = now
			return euid.NewGenerator(o)
		})
	}
	add("euid", "", 2*us, 200*us, 300*ms, 1000, Options{}, e(euid.Options{}))
	add("euid", "extension", 2*us, 200*us, 300*ms, 1000, Options{}, e(euid.Options{Extension: 700}))
	add("euid", "extension of 15", 2*us, 200*us, 300*ms, 1000, Options{},
		e(euid.Options{Extension: 3, ExtensionLength: 15}))

	u := func(o uid60.Options) func(subjectGenerator, *testing.T, string, int, io.Writer) {
		return running[uid60.ID](func(now func() time.Time) (*uid60.Generator, error) {
			o := o
			o.Clock = now
			return uid60.NewGenerator(o)
		})
	}
	add("uid60", "", 20*us, ms, ms, 300, Options{}, u(uid60.Options{}))
	add("uid60", "worker", 20*us, ms, ms, 300, Options{NodeBits: 4},
		u(uid60.Options{WorkerID: 11, WorkerIDSize: 4}))
	add("uid60", "worker of 9", 20*us, ms, ms, 300, Options{NodeBits: 9},
		u(uid60.Options{WorkerID: 300, WorkerIDSize: 9}))
	return all
}

// passes requires a sound report of a generator with the system's entropy. By chance one report in
// a million fails in a random field, so passes then makes another one. Both fail once in 1e12.
func passes(t *testing.T, check func() *report.Report) {
	t.Helper()
	got := check()
	if len(got.Failed()) > 0 && len(got.Warned()) == 0 &&
		!slices.ContainsFunc(got.Failed(), func(o report.Outcome) bool { return !byChance(o) }) {
		t.Logf("tried again: %+v", got.Failed())
		got = check()
	}
	if got.Status != report.Pass {
		t.Errorf("%+v %+v", got.Failed(), got.Warned())
	}
}

func byChance(o report.Outcome) bool {
	return strings.HasPrefix(o.Name, "random.") || strings.HasPrefix(o.Name, "rules.counter")
}

var soak = flag.Bool("soak", false, "verify: ten times as many IDs of each generator, and more streams")

// Our generators pass in each mode and call, with a clock that runs, jumps and goes back.
func TestGenerators(t *testing.T) {
	n := 1_000_000
	switch {
	case *soak:
		n *= 10
	case model.UnderRace:
		n = 20_000
	case testing.Short():
		n = 100_000
	}
	for _, s := range subjectGenerators() {
		for _, how := range []string{"single", "fill", "parallel"} {
			t.Run(s.format+"/"+s.mode+"/"+how, func(t *testing.T) {
				t.Parallel()
				passes(t, func() *report.Report {
					r, w := io.Pipe()
					defer r.Close()
					go func() {
						s.run(s, t, how, n, w)
						w.Close()
					}()
					got, err := Check(t.Context(), s.format, r, s.options)
					if err != nil {
						t.Fatal(err)
					}
					if got.IDs < uint64(n) {
						t.Errorf("%d IDs of %d", got.IDs, n)
					}
					return got
				})
			})
		}
	}
}

// On the system's clock: no lead, lag or drift.
func TestGeneratorsLive(t *testing.T) {
	length := 7 * time.Second
	if testing.Short() {
		length = 500 * time.Millisecond
	}
	for _, f := range format.Ours() {
		values := map[string]string{}
		if f.NodeCounter > 0 {
			values[f.Node] = "1/4"
		}
		g, err := f.NewGenerator(format.Options{Values: values})
		if err != nil {
			t.Fatal(err)
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			passes(t, func() *report.Report {
				var start, made time.Time
				var left []byte
				got, err := Check(t.Context(), f.Name, readerFunc(func(b []byte) (int, error) {
					if start.IsZero() { // not before: a busy machine may be slow
						start = time.Now()
					}
					if time.Since(start) > length {
						return 0, io.EOF
					}
					if len(left) == 0 {
						time.Sleep(5 * time.Millisecond)
						for range 30 {
							id, err := g.Next(t.Context())
							if err != nil {
								return 0, err
							}
							left = append(id.Append(left, format.Text), '\n')
						}
						made = time.Now()
					}
					n := copy(b, left)
					left = left[n:]
					return n, nil
				}), Options{Live: true, Now: func() time.Time { // the reader's time: the check may be later
					if made.IsZero() {
						return time.Now()
					}
					return made
				}})
				if err != nil {
					t.Fatal(err)
				}
				if drift := got.Check("clock.drift"); drift.Status != report.Pass && !testing.Short() {
					t.Errorf("%+v", drift)
				}
				return got
			})
		})
	}
}
