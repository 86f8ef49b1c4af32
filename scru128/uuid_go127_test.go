//go:build go1.27

package scru128_test

import (
	"testing"
	"uuid"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
)

// The standard library's UUID has the same underlying type, so Go can convert an ID to it.
func TestStandardUUID(t *testing.T) {
	id := scru128.MustParse("0372ijojuxuhjsfkeryi2mrtm")
	u := uuid.UUID(id)
	if u.String() != "017fef39-c264-1ba5-6a94-83188841e05a" || scru128.ID(u) != id {
		t.Errorf("%v is %v, which is %v", id, u, scru128.ID(u))
	}
	if u := uuid.UUID(scru128.UUID(id)); u.String() != scru128.UUID(id).String() {
		t.Errorf("%v, want %v", u, scru128.UUID(id))
	}
	if e := euid.Max(); euid.ID(uuid.UUID(e)) != e {
		t.Errorf("%v", uuid.UUID(e))
	}

	// A UUIDv7 begins with the same milliseconds.
	before := scru128.New()
	v7 := uuid.NewV7()
	after := scru128.New()
	if at := scru128.ID(v7).Time(); at.Before(before.Time()) || at.After(after.Time()) {
		t.Errorf("UUIDv7 %v of %v, want %v to %v", v7, at, before.Time(), after.Time())
	}
}
