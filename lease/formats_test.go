package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
)

func acquireOf(t *testing.T, f lease.Format, size int) *lease.Lease {
	t.Helper()
	l := check.Must(lease.Acquire(t.Context(), lease.NewMemory(),
		lease.Config{Realm: "test", Format: f, NodeBits: size}))(t)
	t.Cleanup(func() { l.Close(context.Background()) })
	return l
}

// The generators of each format with node IDs take the node ID of a lease, until the lease is
// closed. They refuse the lease of another format.
func TestGenerators(t *testing.T) {
	const size = 5
	tested := 0
	for _, f := range format.Ours() {
		if nodefield.Bits(f) == 0 {
			continue
		}
		tested++
		own := nodefield.LeaseFormat(f)
		l := acquireOf(t, own, size)
		g := check.Must(generate.New(f, generate.Options{Lease: l}))(t)
		for range 100 {
			id := check.Must(g.Next(t.Context()))(t)
			if node := nodeOf(t, f, id, size); node != uint64(l.NodeID()) ||
				time.Since(id.Time()).Abs() > time.Minute {
				t.Fatalf("%s: %v of %v has node ID %d, want %d", f.Name(), id, id.Time(), node,
					l.NodeID())
			}
		}
		check.OK(t, l.Close(t.Context()))
		time.Sleep(2*own.Tick + time.Millisecond) // a full counter may be one tick ahead
		if id, err := g.Next(t.Context()); !errors.Is(err, sortid.ErrLeaseClosed) {
			t.Errorf("%s: after Close: %v, %v", f.Name(), id, err)
		}
		other := lease.UID60()
		if own.Name == other.Name {
			other = lease.SCRU64()
		}
		_, err := generate.New(f, generate.Options{Lease: acquireOf(t, other, size)})
		if !errors.Is(err, sortid.ErrOption) {
			t.Errorf("%s: a lease of another format: %v", f.Name(), err)
		}
	}
	if tested != 3 {
		t.Errorf("%d formats have node IDs, want 3", tested)
	}
}

// nodeOf returns the node ID in an ID: the field of the usage for node IDs of this size.
func nodeOf(t *testing.T, f *format.Format, id format.ID, size int) uint64 {
	t.Helper()
	for _, field := range check.Must(spec.Of(f).Usages(size))(t)[0].Layout {
		if field.Kind == spec.KindNode {
			return id.Words()[2-field.Low/64] >> (field.Low % 64) & (1<<field.Bits - 1)
		}
	}
	t.Fatalf("%s has no field for node IDs", f.Name())
	return 0
}

// Package lease has the Formats of our formats for programs that do not import the others.
func TestFormats(t *testing.T) {
	for _, f := range []lease.Format{lease.SCRU64(), lease.SCRU160(), lease.UID60()} {
		if want := nodefield.LeaseFormat(check.Must(format.Lookup(f.Name))(t)); f != want {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}
