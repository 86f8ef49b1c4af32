package main

import (
	"strings"
	"testing"

	"github.com/sortid/sortid/testserver"
)

func Test(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), testserver.Postgres(t), &out); err != nil {
		t.Fatal(err)
	}
	const want = `Ada: friend of Ada: false
Charles: friend of Ada: true
the column has the prefix: true
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", &out, want)
	}
}
