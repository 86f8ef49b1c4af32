package main

import (
	"context"
	"fmt"
	"log"

	"github.com/sortid/sortid/store/postgres"
)

// Nothing listens on port 1: Open returns an error.
func main() {
	_, err := postgres.Open(context.Background(), "postgres://127.0.0.1:1/ids?connect_timeout=1")
	if err == nil {
		log.Fatal("Open found a server where there is none")
	}
	fmt.Println(err)
}
