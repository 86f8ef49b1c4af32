package nodeid

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store"
)

// A Holder leases a node ID for this process. A generator can be made before Acquire, to find
// mistakes in its options first. Call Acquire before ClaimTick and WaitTick.
type Holder struct {
	*lease.Lease // nil until Acquire

	console *console.Console
	options *Options
	format  *format.Format
	source  store.Source
	stop    context.CancelFunc
	watch   sync.WaitGroup
}

var _ sortid.Lease = (*Holder)(nil)

func NewHolder(c *console.Console, o *Options, f *format.Format) *Holder {
	return &Holder{console: c, options: o, format: f, stop: func() {}}
}

func (h *Holder) NodeBits() int { return int(h.options.Bits) }

func (h *Holder) TickLength() time.Duration { return nodefield.LeaseFormat(h.format).Tick }

// Epoch is when tick 0 begins.
func (h *Holder) Epoch() time.Time { return nodefield.LeaseFormat(h.format).Epoch }

// Acquire leases a node ID. It waits for the store for at most [Patience]. With the option Wait, it
// waits for a free node ID without a limit.
func (h *Holder) Acquire(ctx context.Context) error {
	o := h.options
	config := lease.Config{
		Realm: o.RealmOf(h.format), Format: nodefield.LeaseFormat(h.format), NodeBits: int(o.Bits),
		Window: o.Window, Name: MyName(),
	}
	if err := Validate(config); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	source, err := OpenSource(limited, h.console, o, config)
	if err != nil {
		return err
	}
	for _, condition := range source.Conditions() {
		h.console.Say("%s", condition)
	}
	config.MustExist = true // OpenSource has made the realm if o allows it
	held, err := source.Acquire(limited, config)
	if o.Wait && (errors.Is(err, lease.ErrFull) || errors.Is(err, lease.ErrLead) ||
		errors.Is(err, lease.ErrBusy)) {
		h.console.Say("waiting for a node ID: %v", err)
		config.Wait = true
		held, err = source.Acquire(ctx, config)
	}
	if errors.Is(err, lease.ErrNoRealm) {
		err = o.NoRealm(config)
	}
	if err != nil {
		source.Close()
		return err
	}
	h.source, h.Lease = source, held
	return nil
}

// Watch prints a message when generators begin to wait for the store, and when they continue. It
// ends when ctx ends, or at Release.
func (h *Holder) Watch(ctx context.Context) {
	ctx, h.stop = context.WithCancel(ctx)
	h.watch.Go(func() { h.tell(ctx) })
}

func (h *Holder) Release() {
	h.stop()
	h.watch.Wait()
	until := h.Lease.Until()
	ctx, cancel := context.WithTimeout(context.Background(), ReleasePatience)
	defer cancel()
	if err := h.Lease.Close(ctx); err != nil {
		h.console.Say("node ID %s could not be given back; it becomes free soon after %s: %v",
			h.Node(), words.Time(until), err)
	}
	h.source.Close()
}

// Node returns the node ID and its size, as in "42/8".
func (h *Holder) Node() string {
	return lease.Block{NodeID: h.Lease.NodeID(), Size: uint8(h.Lease.NodeBits())}.String()
}

// tell prints a message when the lease runs out, and when it is renewed, until ctx ends. If the
// process was stopped and continues, it renews the lease at once, and tell prints nothing.
func (h *Holder) tell(ctx context.Context) {
	const look, worth = 200 * time.Millisecond, 3
	late := 0
	for console.Sleep(ctx, look) == nil {
		until := h.Lease.Until()
		if time.Now().Before(until) {
			if late >= worth {
				h.console.Say("continuing with node ID %s", h.Node())
			}
			late = 0
			continue
		}
		if late++; late == worth {
			reason := h.Lease.Err()
			if reason == nil {
				reason = errors.New("the store does not answer")
			}
			h.console.Say("node ID %s was leased until %s; waiting for it to be renewed: %v", h.Node(),
				words.Time(until), reason)
		}
	}
}
