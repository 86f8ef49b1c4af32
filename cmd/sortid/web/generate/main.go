// The command generate writes what package format knows of the formats into sortid.js.
package main

import (
	"log"
	"os"

	"github.com/sortid/sortid/cmd/sortid/web"
)

func main() {
	const name = "sortid.js"
	module, err := os.ReadFile(name)
	if err == nil {
		module, err = web.Describe(module)
	}
	if err == nil {
		err = os.WriteFile(name, module, 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}
