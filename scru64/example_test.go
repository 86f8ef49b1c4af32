package scru64_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scru64"
)

// New needs a node spec in the environment, here SCRU64_NODE_SPEC=42/8.
func ExampleNew() {
	id, err := scru64.New()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(id.String()), id.NodeID(8))
	// Output: 12 42
}

func ExampleParse() {
	id, err := scru64.Parse("0U2PF62JI4B9") // either case
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
	fmt.Println(id.Uint64())
	fmt.Println(id.Time())
	fmt.Println(id.NodeID(8), id.Counter(8))
	// Output:
	// 0u2pf62ji4b9
	// 109959589539758421
	// 2023-03-03 13:29:42.144 +0000 UTC
	// 42 16725
}

func ExampleParse_error() {
	_, err := scru64.Parse("0u2pf62ji4b!")
	fmt.Println(err)
	fmt.Println(errors.Is(err, sortid.ErrSymbol))
	var p *sortid.ParseError
	if errors.As(err, &p) {
		fmt.Println(p.Offset)
	}
	// Output:
	// scru64: cannot parse "0u2pf62ji4b!": not a symbol of the alphabet: '!' at offset 11, want a Base36 digit, 0-9 or a-z
	// true
	// 11
}

func ExampleNewGenerator() {
	spec, err := scru64.NewNodeSpec(42, 8)
	if err != nil {
		log.Fatal(err)
	}
	// The clock stands still, and the counter starts at zero.
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	o := scru64.Options{NodeSpec: spec, OverflowGuard: 16}
	o.Clock = func() time.Time { return noon }
	g, err := scru64.NewGenerator(o)
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		id, err := g.Generate()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id, id.Time(), id.NodeID(8), id.Counter(8))
	}
	// Output:
	// 0umxvqc2ht6o 2024-02-29 12:00:00 +0000 UTC 42 0
	// 0umxvqc2ht6p 2024-02-29 12:00:00 +0000 UTC 42 1
	// 0umxvqc2ht6q 2024-02-29 12:00:00 +0000 UTC 42 2
}

// A generator that continues after an ID makes only larger IDs, even if its clock is a little
// behind.
func ExampleNodeSpecAfter() {
	last := scru64.MustParse("0u2pf62ji4b9")
	spec, err := scru64.NodeSpecAfter(last, 8)
	if err != nil {
		log.Fatal(err)
	}
	o := scru64.Options{NodeSpec: spec}
	o.Clock = func() time.Time { return last.Time().Add(-time.Second) }
	g, err := scru64.NewGenerator(o)
	if err != nil {
		log.Fatal(err)
	}
	id, err := g.Generate()
	fmt.Println(spec, spec.NodeID())
	fmt.Println(id, err)
	// Output:
	// 0u2pf62ji4b9/8 42
	// 0u2pf62ji4ba <nil>
}

func ExampleParseNodeSpec() {
	for _, s := range []string{"42/8", "0xb00/12", "0u2r85hm2pt3/16", "300/8"} {
		spec, err := scru64.ParseNodeSpec(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		previous, ok := spec.Previous()
		fmt.Println(spec.NodeID(), spec.NodeIDSize(), previous, ok)
	}
	// Output:
	// 42 8 000000000000 false
	// 2816 12 000000000000 false
	// 11001 16 0u2r85hm2pt3 true
	// scru64: invalid node spec "300/8": node ID 300, want at most 255 for a size of 8 bits
}

func ExampleGenerator_Fill() {
	spec, err := scru64.ParseNodeSpec("42/8")
	if err != nil {
		log.Fatal(err)
	}
	g, err := scru64.NewGenerator(scru64.Options{NodeSpec: spec})
	if err != nil {
		log.Fatal(err)
	}
	ids := make([]scru64.ID, 1000)
	if err := g.Fill(ids); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids[0] < ids[999])
	// Output: true
}

func ExampleOptions_counterStart() {
	spec, err := scru64.ParseNodeSpec("3/4")
	if err != nil {
		log.Fatal(err)
	}
	g, err := scru64.NewGenerator(scru64.Options{
		NodeSpec:     spec,
		CounterStart: func(timestamp uint64, counterSize int) uint32 { return 1000 },
	})
	if err != nil {
		log.Fatal(err)
	}
	id, err := g.Generate()
	fmt.Println(id.Counter(4), err)
	// Output: 1000 <nil>
}

func ExampleFirst() {
	day := time.Date(2023, 3, 3, 0, 0, 0, 0, time.UTC)
	from, to := scru64.First(day), scru64.First(day.AddDate(0, 0, 1))
	fmt.Printf("WHERE id >= %d AND id < %d\n", from, to)
	id := scru64.MustParse("0u2pf62ji4b9")
	fmt.Println(from <= id && id < to)
	// Output:
	// WHERE id >= 109956405657600000 AND id < 109962067968000000
	// true
}

// JSON has the text, because JavaScript would lose digits of the integer.
func ExampleID_MarshalText() {
	b, err := json.Marshal(map[string]scru64.ID{"id": 109959589539758421})
	fmt.Println(string(b), err)
	// Output: {"id":"0u2pf62ji4b9"} <nil>
}

func ExampleText() {
	id := scru64.MustParse("0u2pf62ji4b9")
	integer, _ := id.Value()
	text, _ := scru64.Text(id).Value()
	fmt.Printf("%T %v\n%T %v\n", integer, integer, text, text)
	// Output:
	// int64 109959589539758421
	// string 0u2pf62ji4b9
}

// This store is in memory. Package store has other stores.
func ExampleOptions_lease() {
	ctx := context.Background()
	l, err := lease.Acquire(ctx, lease.NewMemory(),
		lease.Config{Realm: "orders", Format: lease.SCRU64(), NodeBits: 8})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close(ctx)
	o := scru64.Options{Lease: l}
	o.RollbackPolicy = sortid.RollbackWait
	g, err := scru64.NewGenerator(o)
	if err != nil {
		log.Fatal(err)
	}
	id, err := g.Generate()
	if err != nil {
		log.Fatal(err) // with RollbackWait, only if the lease is closed
	}
	fmt.Println(id.NodeID(8) == l.NodeID())
	// Output: true
}
