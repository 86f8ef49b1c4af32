package scru160_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/scru160"
)

func Example() {
	a := scru160.New()
	b := scru160.New()
	fmt.Println(a.Compare(b), len(a.String()), len(a.Hex()))
	// Output: -1 32 40
}

func ExampleParse() {
	for _, text := range []string{
		"05TTUP1HNCPNH30VEK64KDQT9BSNU4C4",
		"05ttup1hncpnh30vek64kdqt9bsnu4c4",
		"017bdf6431bb33788c1f750c4a375d4af97f1184",
	} {
		id, err := scru160.Parse(text)
		fmt.Println(id, id.Time().Format(time.RFC3339Nano), err)
	}
	// Output:
	// 05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 2021-09-13T13:41:30.683Z <nil>
	// 05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 2021-09-13T13:41:30.683Z <nil>
	// 05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 2021-09-13T13:41:30.683Z <nil>
}

func ExampleParseError() {
	_, err := scru160.Parse("05TTUP1HNCPNH3OVEX64KDQT9BSNU4C4")
	var p *sortid.ParseError
	fmt.Println(errors.As(err, &p), errors.Is(err, sortid.ErrSymbol), p.Offset)
	fmt.Println(err)
	// Output:
	// true true 17
	// scru160: cannot parse "05TTUP1HNCPNH3OVEX64KDQT9BSNU4C4": not a symbol of the alphabet: 'X' at offset 17, want 0-9 or A-V, because a text of 32 characters is base32hex
}

func ExampleFirst() {
	day := time.Date(2021, 9, 13, 0, 0, 0, 0, time.UTC)
	fmt.Printf("id >= '%v' AND id < '%v'\n", scru160.First(day),
		scru160.First(day.AddDate(0, 0, 1)))
	// Output: id >= '05TTOT0K000000000000000000000000' AND id < '05TU36JG000000000000000000000000'
}

func ExampleID_fields() {
	id := scru160.MustParse("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4")
	fmt.Printf("%d %d %d %x\n", id.Timestamp(), id.Counter(), id.Random16(), id.Random80())
	// Output: 1631540490683 13176 35871 750c4a375d4af97f1184
}

func ExampleHex() {
	type event struct {
		ID     scru160.ID
		Parent scru160.Hex
	}
	id := scru160.MustParse("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4")
	b, err := json.Marshal(event{id, scru160.Hex(id)})
	fmt.Println(string(b), err)
	// Output: {"ID":"05TTUP1HNCPNH30VEK64KDQT9BSNU4C4","Parent":"017bdf6431bb33788c1f750c4a375d4af97f1184"} <nil>
}

func ExampleGenerator_Fill() {
	g, err := scru160.NewGenerator(scru160.Options{})
	if err != nil {
		panic(err)
	}
	ids := make([]scru160.ID, 1000)
	if err := g.Fill(ids); err != nil {
		panic(err)
	}
	fmt.Println(ids[0].Compare(ids[999]))
	// Output: -1
}

func ExampleOptions_microseconds() {
	clock := func() time.Time { return time.UnixMicro(1631540490683_250) }
	g, err := scru160.NewGenerator(scru160.Options{
		Microseconds:     true,
		GeneratorOptions: sortid.GeneratorOptions{Clock: clock},
	})
	if err != nil {
		panic(err)
	}
	id, err := g.Generate()
	fmt.Println(id.Timestamp(), id.Micros(), id.CounterLow() < 32, err)
	// Output: 1631540490683 250 true <nil>
}

// The high 4 bits of random16 extend the counter, and the next 8 bits are the node ID.
func ExampleOptions_nodeID() {
	g, err := scru160.NewGenerator(scru160.Options{CounterExtension: 4, NodeID: 42, NodeBits: 8})
	if err != nil {
		panic(err)
	}
	id, err := g.Generate()
	fmt.Println(id.Random16()>>4&0xff, err)

	_, err = scru160.NewGenerator(scru160.Options{CounterExtension: 12, NodeID: 42, NodeBits: 8})
	fmt.Println(err)
	// Output:
	// 42 <nil>
	// scru160: invalid option: CounterExtension and NodeBits: 12 and 8 bits are more than the 16 bits of random16
}
