package lease

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/clock"
)

var (
	// ErrConfig: a [Config], or another parameter, cannot be right.
	ErrConfig = newError("invalid configuration")
	// ErrRealm: the realm has another format or size of node IDs than the [Config], or a shorter
	// window or lead.
	ErrRealm = newError("the terms of the realm differ from the configuration")
	// ErrNoRealm: nobody has made the realm, or the store has lost it.
	ErrNoRealm = newError("no such realm")
	// ErrRecord: a realm has records that no client would write.
	ErrRecord = newError("records that make no sense")
	// ErrFull: no node ID of this size is free; see [FullError].
	ErrFull = newError("no free node ID")
	// ErrLead: a grant would start too far in the future; see [LeadError].
	ErrLead = newError("too far in the future")
	// ErrClock: the clocks differ by more than the lead; see [ClockError].
	ErrClock = newError("this machine's clock disagrees with the store's")
	// ErrForgotten: leases get no grant until somebody calls [Fence].
	ErrForgotten = newError("the store has lost records or changes")
	// ErrBusy: other processes were faster each time; try again.
	ErrBusy = newError("too many other processes are changing this realm")
	// ErrWaiting: [Reclaim] cannot make the node ID free yet.
	ErrWaiting = newError("the node ID waits after its last use")
	// ErrNoTime: a [Store] has no clock, so processes use their own.
	ErrNoTime = newError("the store has no clock")
	// ErrUnsafe: a [Store] refuses settings that could lose data.
	ErrUnsafe = newError("the store could lose what it has stored")

	// ErrExpired: the lease has no granted ticks left. The returned error says why.
	ErrExpired = sortid.ErrLeaseExpired
	// ErrClosed: [Lease.Close] was called.
	ErrClosed = sortid.ErrLeaseClosed
)

// An Error is a failure of this package: one of its variables, or one of them with a detail.
type Error struct {
	Err    error  // The variable, such as [ErrRealm]; nil in the variable itself.
	Detail string // What is wrong.
}

func newError(detail string) error { return &Error{Detail: detail} }

// errorf returns an error that matches one of the variables.
func errorf(matches error, format string, args ...any) error {
	return &Error{matches, fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return "lease: " + e.Text() }

// Text returns what Error returns, without the name of the package.
func (e *Error) Text() string {
	if of, ok := e.Err.(*Error); ok {
		return of.Text() + ": " + e.Detail
	}
	return e.Detail
}

func (e *Error) Unwrap() error { return e.Err }

// A LeadError says that a node ID cannot be granted yet, because a clock was ahead or the realm was
// fenced. If Block is zero, no node ID can be granted yet. A LeadError matches [ErrLead].
type LeadError struct {
	Realm string
	Block Block
	Ahead time.Duration // how far in the future the grant would start
	Max   time.Duration
	Until time.Time // when the grant can start
}

func (e *LeadError) Error() string { return "lease: " + e.Text() }

// Text is like [Error.Text].
func (e *LeadError) Text() string {
	what := "node ID " + e.Block.String()
	if e.Block == (Block{}) {
		what = "node IDs"
	}
	return fmt.Sprintf("%s of realm %q can be used from %s on, "+
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
	Ahead []*LeadError // blocks that nobody holds, but that cannot be granted yet

	// All is how many node IDs of this size the realm has, and Waiting how many of them nobody holds,
	// but wait after their last use. If All is 0, both are unknown.
	All, Waiting int

	// From is when the next node ID can be granted, unless its holder renews it.
	From time.Time
}

const timeFormat = clock.Layout

func (e *FullError) Error() string { return "lease: " + e.Text() }

// Text is like [Error.Text].
func (e *FullError) Text() string {
	const shown = 5
	var b strings.Builder
	fmt.Fprintf(&b, "no free node ID of %d bits in realm %q", e.Size, e.Realm)
	switch {
	case e.All == 0:
	case e.Waiting == 0:
		fmt.Fprintf(&b, ": all %d are held", e.All)
	case e.Waiting == e.All:
		fmt.Fprintf(&b, ": all %d wait after their last use", e.All)
	default:
		fmt.Fprintf(&b, ": all %d are held (%d) or wait after their last use (%d)", e.All,
			e.All-e.Waiting, e.Waiting)
	}
	if !e.From.IsZero() {
		fmt.Fprintf(&b, "; the next can be had from %s on", e.From.Format(timeFormat))
		if e.Waiting == 0 || len(e.Until) > 0 && e.From.Equal(e.Until[0]) {
			b.WriteString(", unless its holder renews it")
		}
		if len(e.Held) > 0 {
			b.WriteString(", or earlier if a holder gives its node ID back")
		}
	}
	if len(e.Held) > 0 {
		b.WriteString("; held: ")
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
	return b.String()
}

func (e *FullError) Is(target error) bool {
	return target == ErrFull || target == ErrLead && len(e.Ahead) > 0
}
