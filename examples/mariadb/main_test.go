package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/sortid/sortid/testserver"
)

func Test(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), dsn(t, testserver.MySQL(t)), &out); err != nil {
		t.Fatal(err)
	}
	const want = `250 events of the last hour
page 1: 100 events, first moved
page 2: 100 events, first event 99
page 3: 51 events, first event 199
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", &out, want)
	}
}

func dsn(t *testing.T, server string) string {
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	return u.User.String() + "@tcp(" + u.Host + ")" + u.Path
}
