package generate_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
)

func Example() {
	f, err := format.Lookup("scru64") // such as from a configuration file
	if err != nil {
		log.Fatal(err)
	}
	g, err := generate.New(f, generate.Options{
		At:     time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Values: map[string]string{"node": "42/8"},
	})
	if err != nil {
		log.Fatal(err)
	}
	id, err := g.Next(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id.Format().Name(), id.Time().Format(time.DateOnly), len(id.String()))
	// Output: scru64 2026-01-01 12
}

func ExampleOptionsOf() {
	f, err := format.Lookup("euid")
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range generate.OptionsOf(f) {
		fmt.Println(o.Name, o.Value)
	}
	// Output:
	// ext N[/BITS]
	// rollback POLICY
	// allowance DURATION
}
