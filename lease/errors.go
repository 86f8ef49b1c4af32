package lease

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
)

var (
	ErrConfig  = errors.New("lease: invalid configuration")
	ErrRealm   = errors.New("lease: the terms of the realm differ from the configuration")
	ErrNoRealm = errors.New("lease: no such realm")
	// ErrRecord: a realm has records that no client would write.
	ErrRecord = errors.New("lease: records that make no sense")
	// ErrFull: no node ID of this size is free; see [FullError].
	ErrFull = errors.New("lease: no free node ID")
	// ErrLead: a grant would start too far in the future; see [LeadError].
	ErrLead  = errors.New("lease: too far in the future")
	ErrClock = errors.New("lease: this machine's clock disagrees with the store's")
	// ErrForgotten: leases get no grant until somebody calls [Fence].
	ErrForgotten = errors.New("lease: the store has lost records or changes")
	// ErrBusy: other processes were faster each time; try again.
	ErrBusy   = errors.New("lease: too many other processes are changing this realm")
	ErrNoTime = errors.New("lease: the store has no clock")
	// ErrUnsafe: a [Store] refuses settings that could lose data.
	ErrUnsafe = errors.New("lease: the store could lose what it has stored")

	// ErrExpired: the lease has no granted ticks left. The returned error says why.
	ErrExpired = sortid.ErrLeaseExpired
	ErrClosed  = sortid.ErrLeaseClosed
)

// A LeadError says that a node ID cannot be granted yet, because a clock was ahead or the realm was
// fenced. If Block is zero, no node ID can be granted yet. A LeadError matches [ErrLead].
type LeadError struct {
	Realm string
	Block Block
	Ahead time.Duration // how far in the future the grant would start
	Max   time.Duration
	Until time.Time // when the grant can start
}

func (e *LeadError) Error() string {
	what := "node ID " + e.Block.String()
	if e.Block == (Block{}) {
		what = "node IDs"
	}
	return fmt.Sprintf("lease: %s of realm %q can be used from %s on, "+
		"which is %v in the future; at most %v are allowed",
		what, e.Realm, e.Until.Format(timeFormat), e.Ahead, e.Max)
}

func (e *LeadError) Is(target error) bool { return target == ErrLead }

// A FullError says why no node ID is free. It matches [ErrFull]. If Ahead is not empty, it also
// matches [ErrLead].
type FullError struct {
	Realm string
	Size  int
	Held  []Record     // soonest deadline first
	Until []time.Time  // the deadline of each record in Held
	Ahead []*LeadError // node IDs that nobody holds, but that cannot be granted yet

	// From is when the next node ID becomes free, unless its holder renews it.
	From time.Time
}

const timeFormat = clock.Layout

func (e *FullError) Error() string {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "lease: no free node ID of %d bits in realm %q", e.Size, e.Realm)
	if len(e.Held) > 0 {
		fmt.Fprintf(&b, "; %d held: ", len(e.Held))
	}
	for i, r := range e.Held[:min(shown, len(e.Held))] {
		if i > 0 {
			b.WriteString(", ")
		}
		who := cmp.Or(r.Name, r.Owner.String()[:8])
		fmt.Fprintf(&b, "%v by %s until %s", r.Block, who, e.Until[i].Format(timeFormat))
	}
	if more := len(e.Held) - shown; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if len(e.Ahead) > 0 {
		fmt.Fprintf(&b, "; %d free, but cannot be used yet: %v", len(e.Ahead), e.Ahead[0])
	}
	if !e.From.IsZero() {
		fmt.Fprintf(&b,
			"; the next is free from %s on, unless its holder renews it; "+
				"it is free earlier if a holder gives its node ID back",
			e.From.Format(timeFormat))
	}
	return b.String()
}

func (e *FullError) Is(target error) bool {
	return target == ErrFull || target == ErrLead && len(e.Ahead) > 0
}
