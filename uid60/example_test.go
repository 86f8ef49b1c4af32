package uid60_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/uid60"
)

func ExampleNew() {
	id, err := uid60.New()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(id.String()))
	// Output: 10
}

func ExampleParse() {
	id, err := uid60.Parse("xinaS8QBh")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id.Uint64())
	fmt.Println(id.Time())
	fmt.Println(id.Sequence(), id.Random())
	// Output:
	// 11093174944930914
	// 2019-07-03 18:45:04.129 +0000 UTC
	// 270 98
}

func ExampleParse_error() {
	_, err := uid60.Parse("xina+8QBh")
	fmt.Println(err)
	fmt.Println(errors.Is(err, sortid.ErrSymbol))
	var p *sortid.ParseError
	if errors.As(err, &p) {
		fmt.Println(p.Offset)
	}
	// Output:
	// uid60: cannot parse "xina+8QBh": not a symbol of the alphabet: '+' at offset 4, want A-Z, a-z, 0-9, - or _
	// true
	// 4
}

func ExampleNewGenerator() {
	g, err := uid60.NewGenerator(
		uid60.Options{GeneratorOptions: sortid.GeneratorOptions{RollbackPolicy: sortid.RollbackWait}})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		id, err := g.Generate()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id.Sequence())
	}
	// Output:
	// 0
	// 1
	// 2
}

func ExampleOptions() {
	g, err := uid60.NewGenerator(uid60.Options{WorkerID: 5, WorkerIDSize: 4})
	if err != nil {
		log.Fatal(err)
	}
	id, err := g.Generate()
	fmt.Println(id.Worker(4), err)
	// Output: 5 <nil>
}

// A millisecond has room for 512 IDs. This clock stands still, so the next millisecond never comes.
func ExampleGenerator_GenerateContext() {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	g, err := uid60.NewGenerator(
		uid60.Options{GeneratorOptions: sortid.GeneratorOptions{Clock: func() time.Time { return noon }}})
	if err != nil {
		log.Fatal(err)
	}
	if err := g.Fill(make([]uid60.ID, 512)); err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err = g.GenerateContext(ctx)
	fmt.Println(err)
	// Output: uid60: the counter is full until the clock moves on; gave up waiting: context deadline exceeded
}

// An index of integers finds the IDs of a day. Texts do not sort by time.
func ExampleFirst() {
	day := time.Date(2019, 7, 3, 0, 0, 0, 0, time.UTC)
	from, to := uid60.First(day), uid60.First(day.AddDate(0, 0, 1))
	fmt.Printf("WHERE id >= %d AND id < %d\n", from, to)
	id := uid60.MustParse("xinaS8QBh")
	fmt.Println(from <= id && id < to)
	// Output:
	// WHERE id >= 11075479142400000 AND id < 11098128384000000
	// true
}

// JSON has the text, because JavaScript would lose digits of the integer.
func ExampleID_MarshalText() {
	b, err := json.Marshal(map[string]uid60.ID{"id": 11093174944930914})
	fmt.Println(string(b), err)
	// Output: {"id":"xinaS8QBh"} <nil>
}

func ExampleText() {
	id := uid60.MustParse("xinaS8QBh")
	integer, _ := id.Value()
	text, _ := uid60.Text(id).Value()
	fmt.Printf("%T %v\n%T %v\n", integer, integer, text, text)
	// Output:
	// int64 11093174944930914
	// string xinaS8QBh
}
