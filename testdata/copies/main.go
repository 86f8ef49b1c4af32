// This program copies generators. A test checks that go vet finds each copy.
package main

import (
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

func main() {
	var (
		a scru64.Generator
		b scru128.Generator
		c scru160.Generator
		d euid.Generator
		e uid60.Generator
	)
	f := a // WANT
	g := b // WANT
	h := c // WANT
	i := d // WANT
	j := e // WANT
	use(&f, &g, &h, &i, &j)
}

func use(...any) {}
