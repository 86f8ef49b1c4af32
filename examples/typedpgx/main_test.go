package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sortid/sortid/testserver"
)

func Test(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), testserver.Postgres(t), &out); err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(
		`^2 orders\n{"id":"order_[0-9a-z]{25}","user":"user_[0-9a-z]{25}"}\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("%s\nwant %v", &out, want)
	}
}
