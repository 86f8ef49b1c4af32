package scru128_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/scru128"
)

func ExampleNew() {
	a, b := scru128.New(), scru128.New()
	fmt.Println(len(a.String()), a.Compare(b), a.String() < b.String())
	// Output: 25 -1 true
}

func ExampleParse() {
	id, err := scru128.Parse("0372IJOJUXUHJSFKERYI2MRTM") // either case
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
	fmt.Println(id.Time())
	fmt.Printf("%x %x %x %x\n", id.Timestamp(), id.CounterHi(), id.CounterLo(), id.Entropy())
	// Output:
	// 0372ijojuxuhjsfkeryi2mrtm
	// 2022-04-03 11:40:14.308 +0000 UTC
	// 17fef39c264 1ba56a 948318 8841e05a
}

func ExampleParse_error() {
	_, err := scru128.Parse("0372ijojuxuhjsfkeryi2mrt!")
	fmt.Println(err)
	fmt.Println(errors.Is(err, sortid.ErrSymbol))
	var p *sortid.ParseError
	if errors.As(err, &p) {
		fmt.Println(p.Offset)
	}
	// Output:
	// scru128: cannot parse "0372ijojuxuhjsfkeryi2mrt!": not a symbol of the alphabet: '!' at offset 24, want a Base36 digit, 0-9 or a-z
	// true
	// 24
}

func ExampleNewGenerator() {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	var o scru128.Options
	o.RollbackPolicy = sortid.RollbackAbort
	o.Clock = func() time.Time { return noon } // the example sets it back below
	g, err := scru128.NewGenerator(o)
	if err != nil {
		log.Fatal(err)
	}
	id, err := g.Generate()
	fmt.Println(id.Time(), err)
	noon = noon.Add(-time.Minute)
	_, err = g.Generate()
	fmt.Println(errors.Is(err, sortid.ErrClockRollback))
	// Output:
	// 2024-02-29 12:00:00 +0000 UTC <nil>
	// true
}

// With fixed entropy and a fixed clock, a test gets the same IDs each time.
func ExampleNewGenerator_entropy() {
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	g, err := scru128.NewGenerator(scru128.Options{GeneratorOptions: sortid.GeneratorOptions{
		Clock:   func() time.Time { return noon },
		Entropy: strings.NewReader("random enough for a test"),
	}})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		id, err := g.Generate()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id, id.CounterLo())
	}
	// Output:
	// 03b9svwj6m3v07n7gr843qcmf 7151717
	// 03b9svwj6m3v07n7gra1dtshb 7151718
	// 03b9svwj6m3v07n7grc36tr8g 7151719
}

func ExampleGenerator_Fill() {
	g, err := scru128.NewGenerator(scru128.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ids := make([]scru128.ID, 1000)
	if err := g.Fill(ids); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids[0].Compare(ids[999]))
	// Output: -1
}

func ExampleFirst() {
	day := time.Date(2022, 4, 3, 0, 0, 0, 0, time.UTC)
	from, to := scru128.First(day), scru128.First(day.AddDate(0, 0, 1))
	fmt.Printf("WHERE id >= '%v' AND id < '%v'\n", from, to)
	id := scru128.MustParse("0372ijojuxuhjsfkeryi2mrtm")
	fmt.Println(from.Compare(id) <= 0 && id.Compare(to) < 0)
	// Output:
	// WHERE id >= '0372eqw623pqy6vj6eplsnpc0' AND id < '0372mk6vmit58ancxgwvoxs00'
	// true
}

func ExampleID_MarshalText() {
	b, err := json.Marshal(map[string]scru128.ID{"id": scru128.MustParse(
		"0372ijojuxuhjsfkeryi2mrtm")})
	fmt.Println(string(b), err)
	// Output: {"id":"0372ijojuxuhjsfkeryi2mrtm"} <nil>
}

func ExampleUUID() {
	id := scru128.MustParse("0372ijojuxuhjsfkeryi2mrtm")
	text, _ := id.Value()
	uuid, _ := scru128.UUID(id).Value()
	raw, _ := scru128.Bytes(id).Value()
	fmt.Printf("%v\n%v\n%x\n", text, uuid, raw)
	// Output:
	// 0372ijojuxuhjsfkeryi2mrtm
	// 017fef39-c264-1ba5-6a94-83188841e05a
	// 017fef39c2641ba56a9483188841e05a
}
