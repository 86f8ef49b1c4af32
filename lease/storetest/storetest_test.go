package storetest

import (
	"testing"

	"github.com/sortid/sortid/lease"
)

func TestMemory(t *testing.T) {
	Run(t, func(t *testing.T) func() lease.Store {
		m := lease.NewMemory()
		return func() lease.Store { return m }
	})
}
