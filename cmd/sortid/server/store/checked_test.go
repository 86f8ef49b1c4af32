package store

import (
	"context"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

// counted counts what the checks read.
type counted struct {
	lease.Store
	many, others int
}

func (c *counted) GetMany(ctx context.Context, realm string,
	b []lease.Block) ([]lease.Record, error) {
	c.many++
	return c.Store.GetMany(ctx, realm, b)
}

func (c *counted) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	c.others++
	return c.Store.Get(ctx, realm, b)
}

func (c *counted) Time(ctx context.Context) (time.Time, error) {
	c.others++
	return c.Store.Time(ctx)
}

func TestReadsPerCheck(t *testing.T) {
	memory := lease.NewMemory()
	config := lease.Config{Realm: "orders", Format: lease.SCRU64}
	check.Must(lease.Create(t.Context(), memory, config))(t)
	root := check.Must(lease.Realm(t.Context(), memory, "orders"))(t)
	store := &counted{Store: memory}
	g := newCheckedStore(store)
	r := lease.Record{Realm: "orders@" + root.Generation, Block: lease.Block{NodeID: 1, Size: 1}}
	for i, state := range []lease.State{lease.Split, lease.Merging, lease.Split, lease.Merging} {
		next := r
		next.Revision, next.State = r.Revision+1, state
		store.many, store.others = 0, 0
		ok, err := g.compareAndSet(t.Context(), []lease.Change{{Prev: r, Next: next}})
		if !ok || err != nil || store.many != 1 || i > 0 && store.others != 0 {
			t.Errorf("change %d: %v, %v, %d calls of GetMany, want 1, and %d of Get and Time", i,
				ok, err, store.many, store.others)
		}
		r = next
	}
}
