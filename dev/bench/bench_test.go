package bench

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	snowflake "github.com/bwmarrin/snowflake"
	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	nanoid "github.com/matoous/go-nanoid/v2"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// rows has the sub-benchmarks that other files add.
var rows = map[string]map[string]func(*testing.B){}

//lint:ignore U1000 stdlib_test.go uses it, with Go 1.27
func later(benchmark, lib string, f func(*testing.B)) {
	if rows[benchmark] == nil {
		rows[benchmark] = map[string]func(*testing.B){}
	}
	rows[benchmark][lib] = f
}

func runLater(b *testing.B) {
	m := rows[strings.TrimPrefix(b.Name(), "Benchmark")]
	for _, lib := range slices.Sorted(maps.Keys(m)) {
		b.Run("lib="+lib, m[lib])
	}
}

// gen60 and flake often wait: they make at most 512 and 4096 IDs a millisecond.
var (
	gen160 = must(scru160.NewGenerator(scru160.Options{}))
	genE   = must(euid.NewGenerator(euid.Options{}))
	gen60  = must(uid60.NewGenerator(uid60.Options{}))
	flake  = must(snowflake.NewNode(1))
)

// The results go here, so that the compiler keeps the calls.
var (
	s64   scru64.ID
	s128  scru128.ID
	s160  scru160.ID
	sE    euid.ID
	s60   uid60.ID
	sXid  xid.ID
	sUlid ulid.ULID
	sGoog google.UUID
	sGofr gofrs.UUID
	sKsu  ksuid.KSUID
	sFlak snowflake.ID
	sStr  string
	sErr  error
)

func BenchmarkNew(b *testing.B) {
	runLater(b)
	b.Run("lib=scru64", func(b *testing.B) {
		for b.Loop() {
			s64 = generate64()
		}
	})
	b.Run("lib=scru64-a-second-long", secondLong)
	b.Run("lib=scru128", func(b *testing.B) {
		for b.Loop() {
			s128 = scru128.New()
		}
	})
	b.Run("lib=scru160", func(b *testing.B) {
		for b.Loop() {
			s160 = scru160.New()
		}
	})
	b.Run("lib=euid", func(b *testing.B) {
		for b.Loop() {
			sE, sErr = genE.Generate()
		}
	})
	b.Run("lib=uid60", func(b *testing.B) {
		for b.Loop() {
			s60, sErr = gen60.Generate()
		}
	})
	b.Run("lib=xid", func(b *testing.B) {
		for b.Loop() {
			sXid = xid.New()
		}
	})
	b.Run("lib=ulid", func(b *testing.B) {
		for b.Loop() {
			sUlid = ulid.Make()
		}
	})
	b.Run("lib=google-uuid-v7", func(b *testing.B) {
		for b.Loop() {
			sGoog, sErr = google.NewV7()
		}
	})
	b.Run("lib=google-uuid-v7-pool", func(b *testing.B) {
		google.EnableRandPool()
		defer google.DisableRandPool()
		for b.Loop() {
			sGoog, sErr = google.NewV7()
		}
	})
	b.Run("lib=gofrs-uuid-v7", func(b *testing.B) {
		for b.Loop() {
			sGofr, sErr = gofrs.NewV7()
		}
	})
	b.Run("lib=ksuid", func(b *testing.B) {
		for b.Loop() {
			sKsu = ksuid.New()
		}
	})
	b.Run("lib=snowflake", func(b *testing.B) {
		for b.Loop() {
			sFlak = flake.Generate()
		}
	})
}

// gen64 has the default options. When it is the allowance ahead of the clock, after more than a
// million IDs, generate64 replaces it.
var gen64 atomic.Pointer[scru64.Generator]

func new64(policy sortid.RollbackPolicy) *scru64.Generator {
	o := scru64.Options{NodeSpec: must(scru64.ParseNodeSpec("42/8"))}
	o.RollbackPolicy = policy
	return must(scru64.NewGenerator(o))
}

func generate64() scru64.ID {
	for {
		g := gen64.Load()
		if g != nil {
			if id, err := g.Generate(); err == nil {
				return id
			}
		}
		gen64.CompareAndSwap(g, new64(sortid.RollbackAbort))
	}
}

// BenchmarkBurst reports how many IDs a new generator makes before it waits for the clock.
func BenchmarkBurst(b *testing.B) {
	b.Run("lib=scru64", func(b *testing.B) {
		made := 0
		for b.Loop() {
			for g := new64(sortid.RollbackAbort); ; made++ {
				if s64, sErr = g.Generate(); sErr != nil {
					break
				}
			}
		}
		b.ReportMetric(float64(made)/float64(b.N)/1e6, "M")
	})
}

// secondLong makes IDs for a second with a new generator, and waits where it must.
func secondLong(b *testing.B) {
	made := 0
	for b.Loop() {
		g := new64(sortid.RollbackWait)
		for start := time.Now(); time.Since(start) < time.Second; {
			for range 100 {
				s64, sErr = g.Generate()
				made++
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(made), "ns/op")
	b.ReportMetric(0, "allocs/op") // only the generator
}

func BenchmarkNewString(b *testing.B) {
	runLater(b)
	b.Run("lib=scru64", func(b *testing.B) {
		for b.Loop() {
			sStr = generate64().String()
		}
	})
	b.Run("lib=scru128", func(b *testing.B) {
		for b.Loop() {
			sStr = scru128.NewString()
		}
	})
	b.Run("lib=scru160", func(b *testing.B) {
		for b.Loop() {
			sStr = scru160.NewString()
		}
	})
	b.Run("lib=euid", func(b *testing.B) {
		for b.Loop() {
			sStr = euid.NewString()
		}
	})
	b.Run("lib=uid60", func(b *testing.B) {
		for b.Loop() {
			s60, sErr = gen60.Generate()
			sStr = s60.String()
		}
	})
	b.Run("lib=xid", func(b *testing.B) {
		for b.Loop() {
			sStr = xid.New().String()
		}
	})
	b.Run("lib=ulid", func(b *testing.B) {
		for b.Loop() {
			sStr = ulid.Make().String()
		}
	})
	b.Run("lib=google-uuid-v7", func(b *testing.B) {
		for b.Loop() {
			sGoog, sErr = google.NewV7()
			sStr = sGoog.String()
		}
	})
	b.Run("lib=gofrs-uuid-v7", func(b *testing.B) {
		for b.Loop() {
			sGofr, sErr = gofrs.NewV7()
			sStr = sGofr.String()
		}
	})
	b.Run("lib=ksuid", func(b *testing.B) {
		for b.Loop() {
			sStr = ksuid.New().String()
		}
	})
	b.Run("lib=snowflake", func(b *testing.B) {
		for b.Loop() {
			sStr = flake.Generate().String()
		}
	})
	b.Run("lib=nanoid", func(b *testing.B) {
		for b.Loop() {
			sStr, sErr = nanoid.New()
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	runLater(b)
	b.Run("lib=scru64", func(b *testing.B) {
		id := generate64()
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("lib=scru128", func(b *testing.B) {
		id := scru128.New()
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("lib=scru160", func(b *testing.B) {
		id := scru160.New()
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("lib=euid", func(b *testing.B) {
		id := must(genE.Generate())
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("lib=uid60", func(b *testing.B) {
		id := must(gen60.Generate())
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf, _ = id.AppendText(buf[:0])
		}
	})
	b.Run("lib=xid", func(b *testing.B) {
		id := xid.New()
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf = id.Encode(buf[:20])
		}
	})
	b.Run("lib=ulid", func(b *testing.B) {
		id := ulid.Make()
		buf := make([]byte, 0, 64)
		for b.Loop() {
			_ = id.MarshalTextTo(buf[:26])
		}
	})
	b.Run("lib=ksuid", func(b *testing.B) {
		id := ksuid.New()
		buf := make([]byte, 0, 64)
		for b.Loop() {
			buf = id.Append(buf[:0])
		}
	})
}

func BenchmarkParse(b *testing.B) {
	runLater(b)
	b.Run("lib=nothing", func(b *testing.B) {
		s := scru128.NewString()
		for b.Loop() {
			sSixteen, sErr = parseNothing(s)
		}
	})
	b.Run("lib=scru64", func(b *testing.B) {
		s := generate64().String()
		for b.Loop() {
			s64, sErr = scru64.Parse(s)
		}
	})
	b.Run("lib=scru128", func(b *testing.B) {
		s := scru128.NewString()
		for b.Loop() {
			s128, sErr = scru128.Parse(s)
		}
	})
	b.Run("lib=scru160", func(b *testing.B) {
		s := scru160.NewString()
		for b.Loop() {
			s160, sErr = scru160.Parse(s)
		}
	})
	b.Run("lib=euid", func(b *testing.B) {
		s := euid.NewString()
		for b.Loop() {
			sE, sErr = euid.Parse(s)
		}
	})
	b.Run("lib=uid60", func(b *testing.B) {
		s := must(gen60.Generate()).String()
		for b.Loop() {
			s60, sErr = uid60.Parse(s)
		}
	})
	b.Run("lib=xid", func(b *testing.B) {
		s := xid.New().String()
		for b.Loop() {
			sXid, sErr = xid.FromString(s)
		}
	})
	b.Run("lib=ulid", func(b *testing.B) { // Parse does not check the characters
		s := ulid.Make().String()
		for b.Loop() {
			sUlid, sErr = ulid.Parse(s)
		}
	})
	b.Run("lib=ulid-strict", func(b *testing.B) {
		s := ulid.Make().String()
		for b.Loop() {
			sUlid, sErr = ulid.ParseStrict(s)
		}
	})
	b.Run("lib=google-uuid-v7", func(b *testing.B) {
		s := must(google.NewV7()).String()
		for b.Loop() {
			sGoog, sErr = google.Parse(s)
		}
	})
	b.Run("lib=gofrs-uuid-v7", func(b *testing.B) {
		s := must(gofrs.NewV7()).String()
		for b.Loop() {
			sGofr, sErr = gofrs.FromString(s)
		}
	})
	b.Run("lib=ksuid", func(b *testing.B) {
		s := ksuid.New().String()
		for b.Loop() {
			sKsu, sErr = ksuid.Parse(s)
		}
	})
	b.Run("lib=snowflake", func(b *testing.B) {
		s := flake.Generate().String()
		for b.Loop() {
			sFlak, sErr = snowflake.ParseString(s)
		}
	})
}

// BenchmarkParallel shares one generator between all processors, so the IDs are in order.
func BenchmarkParallel(b *testing.B) {
	parallel(b, runtime.GOMAXPROCS(0))

	// uid60 and snowflake wait for the clock, with any number of goroutines.
	shared(b, "uid60", 1, func() { gen60.Generate() })
	shared(b, "snowflake", 1, func() { flake.Generate() })

	// If each goroutine has its own generator, there is no contention, but only the IDs of one
	// goroutine are in order.
	b.Run("lib=scru128-each", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			g := must(scru128.NewGenerator(scru128.Options{}))
			for pb.Next() {
				g.Generate()
			}
		})
	})
}

func BenchmarkParallel8(b *testing.B)  { parallel(b, 8) }
func BenchmarkParallel64(b *testing.B) { parallel(b, 64) }

func parallel(b *testing.B, goroutines int) {
	perProcessor := max(1, goroutines/runtime.GOMAXPROCS(0))
	for name, f := range sharing {
		shared(b, name, perProcessor, f)
	}
}

// sharing has functions that goroutines can call at the same time.
var sharing = map[string]func(){
	"scru64":         func() { generate64() },
	"scru128":        func() { scru128.New() },
	"scru160":        func() { scru160.New() },
	"euid":           func() { genE.Generate() },
	"xid":            func() { xid.New() },
	"ulid":           func() { ulid.Make() },
	"google-uuid-v7": func() { google.NewV7() },
	"gofrs-uuid-v7":  func() { gofrs.NewV7() },
	"ksuid":          func() { ksuid.New() },
}

func shared(b *testing.B, name string, perProcessor int, f func()) {
	b.Run("lib="+name, func(b *testing.B) {
		b.SetParallelism(perProcessor)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				f()
			}
		})
	})
}

// BenchmarkBatch makes a thousand IDs at once, and reports the time for one.
func BenchmarkBatch(b *testing.B) {
	g := must(scru128.NewGenerator(scru128.Options{}))
	batch(b, "scru64", func(ids []scru64.ID) {
		if sErr = gen64.Load().Fill(ids); sErr != nil {
			gen64.Store(new64(sortid.RollbackAbort))
		}
	})
	batch(b, "scru128", func(ids []scru128.ID) { sErr = g.Fill(ids) })
	batch(b, "scru160", func(ids []scru160.ID) { sErr = gen160.Fill(ids) })
	batch(b, "euid", func(ids []euid.ID) { sErr = genE.Fill(ids) })
	batch(b, "uid60", func(ids []uid60.ID) { sErr = gen60.Fill(ids) })
	batch(b, "xid", func(ids []xid.ID) {
		for i := range ids {
			ids[i] = xid.New()
		}
	})
	batch(b, "ulid", func(ids []ulid.ULID) {
		for i := range ids {
			ids[i] = ulid.Make()
		}
	})
	batch(b, "google-uuid-v7", func(ids []google.UUID) {
		for i := range ids {
			ids[i], sErr = google.NewV7()
		}
	})
	batch(b, "ksuid", func(ids []ksuid.KSUID) {
		for i := range ids {
			ids[i] = ksuid.New()
		}
	})
}

func batch[T any](b *testing.B, name string, fill func([]T)) {
	b.Run("lib="+name, func(b *testing.B) {
		ids := make([]T, 1000)
		for b.Loop() {
			fill(ids)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ids)), "ns/id")
	})
}
