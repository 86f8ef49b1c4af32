// The command generate writes formats.js, and the names of our formats in sortid.d.ts.
package main

import (
	"log"
	"os"

	"github.com/sortid/sortid/cmd/sortid/web"
)

func main() {
	types, err := os.ReadFile("sortid.d.ts")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"formats.js": web.Table(), "sortid.d.ts": web.Types(types)} {
		if err := os.WriteFile(name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
