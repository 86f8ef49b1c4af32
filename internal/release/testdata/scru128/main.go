package main

import (
	"fmt"
	"log"

	"github.com/sortid/sortid/scru128"
)

func main() {
	id := scru128.New()
	if parsed, err := scru128.Parse(id.String()); err != nil || parsed != id {
		log.Fatalf("Parse(%q) = %v, %v", id.String(), parsed, err)
	}
	fmt.Println(id)
}
