package main

import (
	"context"
	"testing"

	"github.com/sortid/sortid/examples/internal/faults"
	"github.com/sortid/sortid/lease"
)

func TestUnique(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes many IDs, and -short is set; to run this test: go test without -short")
	}
	t.Parallel()
	faults.Test(t, func(l *lease.Lease) (func(context.Context) (int64, error), error) {
		guard, err := newGuard(l)
		if err != nil {
			return nil, err
		}
		return guard.Next, nil
	})
}
