package lease

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// A desk is a realm with two lessors over one store.
type desk struct {
	*testing.T
	*network
	a, b *StoreLessor
}

// at runs a test with a realm of format f, in virtual time.
func at(t *testing.T, f Format, bits int, test func(t *testing.T, d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &desk{T: t, network: &network{Store: NewMemory()}}
		d.a, d.b = NewLessor(d.network, LessorOptions{}), NewLessor(d.network, LessorOptions{})
		_, made, err := d.a.CreateRealm(t.Context(), Config{Realm: "realm", Format: f,
			NodeBits: bits})
		if err != nil || !made {
			t.Fatalf("CreateRealm: %v, %v", made, err)
		}
		test(t, d)
	})
}

func ask(name string) AcquireRequest {
	return AcquireRequest{Request: fmt.Sprintf("%-16s", name), NodeID: -1, Holder: name}
}

func (d *desk) acquire(l *StoreLessor, r AcquireRequest) Grant {
	d.Helper()
	g, err := l.Acquire(d.Context(), "realm", r)
	if err != nil {
		d.Fatalf("Acquire(%+v): %v", r, err)
	}
	return g
}

func (d *desk) renew(l *StoreLessor, g Grant, renewal string) (Grant, error) {
	return l.Renew(d.Context(), "realm", g.ID,
		RenewRequest{Secret: g.Secret, EndTick: g.EndTick, Renewal: renewal})
}

func (d *desk) mustRenew(l *StoreLessor, g Grant, renewal string) Grant {
	d.Helper()
	next, err := d.renew(l, g, renewal)
	if err != nil {
		d.Fatalf("Renew(%v): %v", g.Block, err)
	}
	return next
}

func (d *desk) release(l *StoreLessor, g Grant, last time.Time) {
	d.Helper()
	if err := l.Release(d.Context(), "realm", g.ID, ReleaseRequest{Secret: g.Secret,
		EndTick: g.EndTick, LastTime: last}); err != nil {
		d.Fatalf("Release(%v): %v", g.Block, err)
	}
}

// record returns the stored record of a lease's block.
func (d *desk) record(g Grant) Record {
	d.Helper()
	root := check.Must(Realm(d.Context(), d.Store, "realm"))(d.T)
	r := check.Must(d.Store.Get(d.Context(), spaceOf(root), g.Block))(d.T)
	return r
}

// lossy makes the store lose the next answers to changes.
func (d *desk) lossy(answers int) {
	d.set(func() {
		d.deaf = func(op string, _ ...Record) bool {
			if op != "set" || answers == 0 {
				return false
			}
			answers--
			return true
		}
	})
}

var forever = SCRU160() // a format with ticks of 1 ms since 1970

type imprecise struct{ Store }

func (imprecise) TimePrecision() time.Duration { return time.Second }

// piecemeal is a store that makes changes one by one.
type piecemeal struct{ *network }

func (piecemeal) Atomic() bool { return false }

func (p piecemeal) CompareAndSetMany(ctx context.Context, changes []Change) (bool, error) {
	for _, c := range changes {
		if ok, err := p.network.CompareAndSet(ctx, c.Prev, c.Next); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
