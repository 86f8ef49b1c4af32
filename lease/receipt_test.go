package lease

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// After a process was killed, its last receipt gives the node ID back. An older one, or the receipt
// of another realm or source, gives no tick back.
func TestReturn(t *testing.T) {
	for _, c := range []struct {
		name           string
		remote, old    bool
		returns, fence bool
	}{
		{name: "store", returns: true},
		{name: "server", remote: true, returns: true},
		{name: "store, renewed since", old: true},
		{name: "server, renewed since", remote: true, old: true},
		{name: "store, fenced since", fence: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, config := NewMemory(), config(8)
			_, err := Create(t.Context(), m, config)
			check.OK(t, err)
			lessor := NewLessor(m, LessorOptions{})
			var l *Lease
			if c.remote {
				l, err = AcquireFrom(t.Context(), lessor, config)
			} else {
				l, err = Acquire(t.Context(), m, config)
			}
			check.OK(t, err)
			receipt := l.Receipt()
			time.Sleep(DefaultWindow)
			if !c.old {
				receipt = l.Receipt()
			}
			abandon(l)
			before, last := held(t, m)[0], time.Now().Add(2*time.Second)
			if c.fence {
				_, err := Fence(t.Context(), m, Config{Realm: "realm"}, 0)
				check.OK(t, err)
			}
			check.OK(t, Return(t.Context(), m, receipt, last)) // does nothing for a server's receipt
			check.OK(t, ReturnTo(t.Context(), lessor, receipt, last))
			after := check.Must(m.Get(t.Context(), before.Realm, before.Block))(t)
			returned := after.HWM == config.terms().At(last)+1 && after.Owner == Owner{}
			if returned != c.returns || !returned && after.HWM != before.HWM {
				t.Errorf("%s: %+v became %+v", c.name, before, after)
			}
		})
	}
}
