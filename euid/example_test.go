package euid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
)

func Example() {
	a := euid.New()
	b := euid.New()
	fmt.Println(a.Compare(b), len(a.String()))
	// Output: -1 27
}

func ExampleParse() {
	for _, text := range []string{
		"C8EE934SR007G5Q94QKKXFRFV8B",
		"c8ee934sro07g5q94qkkxfrfv8b", // an o for a 0
	} {
		id, err := euid.Parse(text)
		fmt.Println(id, id.Time().Format(time.RFC3339Nano), err)
	}
	// Output:
	// C8EE934SR007G5Q94QKKXFRFV8B 2023-05-31T20:49:01.031Z <nil>
	// C8EE934SR007G5Q94QKKXFRFV8B 2023-05-31T20:49:01.031Z <nil>
}

func ExampleParseError() {
	for _, text := range []string{
		"C8EE934SR007G5Q94QKKXFRFV8",  // too short
		"C8EE934SRU07G5Q94QKKXFRFV8B", // a U
		"C8EE943SR007G5Q94QKKXFRFV8B", // 34 typed as 43
	} {
		_, err := euid.Parse(text)
		var p *sortid.ParseError
		fmt.Println(errors.As(err, &p), p.Offset, p.Err)
	}
	// Output:
	// true -1 wrong length
	// true 9 not a symbol of the alphabet
	// true -1 the check value does not fit, so the text is mistyped
}

func ExampleFirst() {
	day := time.Date(2023, 5, 31, 0, 0, 0, 0, time.UTC)
	from, to := euid.First(day), euid.First(day.AddDate(0, 0, 1))
	fmt.Printf("id >= '%v' AND id < '%v'\n", euid.UUID(from), euid.UUID(to))
	// Output: id >= '621bc6ac-0000-0000-0000-000000000000' AND id < '621d1043-0000-0000-0000-000000000000'
}

func ExampleOptions() {
	g, err := euid.NewGenerator(euid.Options{Extension: 42})
	if err != nil {
		panic(err)
	}
	id, err := g.Generate()
	value, ok := id.Extension()
	fmt.Println(value, ok, id.ExtensionLength(), err)
	// Output: 42 true 6 <nil>
}

// With a length, an extension can be zero.
func ExampleOptions_length() {
	g, err := euid.NewGenerator(euid.Options{ExtensionLength: 4})
	if err != nil {
		panic(err)
	}
	id, err := g.Generate()
	value, ok := id.Extension()
	fmt.Println(value, ok, id.ExtensionLength(), err)
	// Output: 0 true 4 <nil>
}

// If the IDs of a millisecond run out, the loop makes the whole batch again.
func ExampleGenerator_Fill() {
	g, err := euid.NewGenerator(euid.Options{})
	if err != nil {
		panic(err)
	}
	ids := make([]euid.ID, 1000)
	err = g.Fill(ids)
	for errors.Is(err, sortid.ErrOverflow) {
		time.Sleep(time.Millisecond)
		err = g.Fill(ids)
	}
	fmt.Println(ids[0].Compare(ids[999]), err)
	// Output: -1 <nil>
}

func ExampleUUID() {
	id := euid.MustParse("C8EE934SR007G5Q94QKKXFRFV8B")
	b, err := json.Marshal(map[string]any{"id": euid.UUID(id), "uuid": euid.UUID(id).String()})
	fmt.Println(string(b), err)
	// Output: {"id":"C8EE934SR007G5Q94QKKXFRFV8B","uuid":"621ce48c-99c0-0078-16e9-25e73ebf0fda"} <nil>
}
