// The command generate writes the table of package format into formats.js.
package main

import (
	"log"
	"os"

	"github.com/sortid/sortid/cmd/sortid/web"
)

func main() {
	if err := os.WriteFile("formats.js", web.Table(), 0o644); err != nil {
		log.Fatal(err)
	}
}
