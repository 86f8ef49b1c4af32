package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Lessor grants leases to clients who do not take part in the protocol. A [StoreLessor] is one
// over a store. Package store/http has one that asks a server. All methods are safe for concurrent
// use.
//
// All state is in the store: any Lessor over the same store answers any request. A repeated request
// has the same outcome as the first one.
type Lessor interface {
	// Acquire grants a node ID, or returns the lease that the same r.Request got before, with its
	// newest times.
	Acquire(ctx context.Context, realm string, r AcquireRequest) (Grant, error)
	// Renew moves the lease's end. It fails with [ErrLost] if the secret does not hold the lease.
	Renew(ctx context.Context, realm, id string, r RenewRequest) (Grant, error)
	// Release ends a lease. It succeeds if the lease has ended already. After Release was called,
	// the client makes no more IDs, whatever Release returns.
	Release(ctx context.Context, realm, id string, r ReleaseRequest) error
}

// An AcquireRequest asks for a node ID.
type AcquireRequest struct {
	// Request is 16 to 128 printable ASCII characters, random for each lease, and secret.
	Request  string
	NodeBits int           // 0: the realm's only size
	NodeID   int64         // -1: any
	Holder   string        // for people who look at leases
	Window   time.Duration // 0: the realm's window
	Wait     time.Duration // how long to wait for a node ID
	Time     time.Time     // the client's clock; zero: it is not checked
}

// A RenewRequest asks a [Lessor] to renew a lease.
type RenewRequest struct {
	Secret  string
	EndTick int64     // EndTick of the newest Grant that the client has
	Renewal string    // random for each renewal, the same in its repetitions; may be empty
	Time    time.Time // the client's clock; zero: it is not checked
}

// A ReleaseRequest gives a lease back to a [Lessor].
type ReleaseRequest struct {
	Secret   string
	EndTick  int64     // EndTick of the newest Grant that the client has; 0: unknown
	LastTime time.Time // the time of the last ID, in whole milliseconds; zero: unknown
}

// A Grant is a node ID for the ticks from FirstTick up to, not including, EndTick. A client takes
// the Grant with the greatest EndTick whole.
type Grant struct {
	ID     string // public
	Secret string // the same for the lease's whole life; only its holder may know it
	Realm  string
	Format string // the name of the realm's format; "" if the realm serves any generator
	Block  Block
	Holder string

	FirstTick, EndTick int64
	Tick               time.Duration
	Epoch              time.Time // the start of tick 0

	// RenewAt is when the client should renew, by the clock of the store.
	RenewAt time.Time
	// These two are for one user at one moment, by a monotonic clock. Use begins StartsIn after the
	// first answer with this ID and FirstTick came. It ends ValidFor after the request was sent
	// whose answer has the greatest EndTick. Both are not negative.
	StartsIn, ValidFor time.Duration
	ServerTime         time.Time // the store's clock

	Repeated bool // the lease was granted to an earlier copy of the same request
}

// ValidFrom returns when the first tick begins, in UTC.
func (g Grant) ValidFrom() time.Time { return g.time(g.FirstTick) }

// ValidUntil returns when the last tick ends, in UTC.
func (g Grant) ValidUntil() time.Time { return g.time(g.EndTick) }

func (g Grant) time(tick int64) time.Time {
	return time.UnixMilli(g.Epoch.UnixMilli() + tick*g.Tick.Milliseconds()).UTC()
}

// A RealmInfo describes a realm, with counts that may be up to 10 seconds old.
type RealmInfo struct {
	Name  string
	Terms Terms // Terms.Only is the only size, or 0
	// Held node IDs, node IDs that wait after their last use, and free ones. In a realm of several
	// sizes, Free counts free blocks of 8 bits, or of Terms.Bits if that is less.
	Held, Waiting, Free int
	FreeShare           float64 // 0 to 1
}

// A Holding is a row in the list of a realm's leases, without a secret.
type Holding struct {
	ID       string
	Block    Block
	Holder   string
	State    HoldingState
	Since    time.Time // the time of the lease's first tick
	Until    time.Time // the time of the lease's end
	FreeFrom time.Time // when an acquire of this node ID can succeed
}

// A HoldingState says why nobody else can have a node ID.
type HoldingState string

const (
	Held    HoldingState = "held"    // somebody holds the node ID
	Waiting HoldingState = "waiting" // nobody holds the node ID, but it cannot be granted yet
)

var (
	// ErrLost: the client no longer holds the lease. It stops at once, and acquires a new lease
	// with a new request.
	ErrLost = newError("this lease has ended")
	// ErrNotFound: no held lease has this ID.
	ErrNotFound = newError("no such lease")
	// ErrRequestDiffers: the same request had another size or node ID before.
	ErrRequestDiffers = newError("an earlier copy of this request differs")
	// ErrInUse: holders need a window or a lead that was to become shorter.
	ErrInUse = newError("holders need the present window or lead")
	// ErrTooManyRealms: the store has as many realms as the lessor permits.
	ErrTooManyRealms = newError("too many realms")
)

// A HeldError says that somebody else has the node ID that a request names. It matches [ErrFull].
type HeldError struct {
	Realm string
	Holding
}

func (e *HeldError) Error() string { return "lease: " + e.Text() }

// Text is like [Error.Text].
func (e *HeldError) Text() string {
	what := "is held"
	if e.State == Waiting {
		what = "waits after its last use"
	}
	return fmt.Sprintf("node ID %v of realm %q %s by %q until %s; it is free from %s on",
		e.Block, e.Realm, what, e.Holder, e.Until.Format(timeFormat), e.FreeFrom.Format(timeFormat))
}

func (e *HeldError) Is(target error) bool { return target == ErrFull }

// An InUseError says that holders need a window or a lead that was to become shorter. It matches
// [ErrInUse].
type InUseError struct {
	Realm   string
	Holders int
	Until   time.Time // the end of the last of their leases, unless it is renewed
}

func (e *InUseError) Error() string { return "lease: " + e.Text() }

// Text is like [Error.Text].
func (e *InUseError) Text() string {
	return fmt.Sprintf("%d node IDs of realm %q are held until %s or longer, and their holders need "+
		"its present window and lead", e.Holders, e.Realm, e.Until.Format(timeFormat))
}

func (e *InUseError) Is(target error) bool { return target == ErrInUse }

// A RequestError says which part of a request is wrong. It matches [ErrConfig].
type RequestError struct {
	Field  string // the name in JSON, such as "wait_ms"
	Detail string
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("%v: %s: %s", ErrConfig, e.Field, e.Detail)
}

func (e *RequestError) Is(target error) bool { return target == ErrConfig }

// wrongField returns the error of a field that has the detail of err.
func wrongField(field string, err error) error {
	e := &RequestError{Field: field, Detail: err.Error()}
	if of := (*Error)(nil); errors.As(err, &of) {
		e.Detail = of.Detail
	}
	return e
}

// A ClockError says that the client's clock and the store's differ by more than the realm's lead.
// It matches [ErrClock].
type ClockError struct {
	Difference time.Duration // the client's clock minus the store's
	Max        time.Duration
}

func (e *ClockError) Error() string { return "lease: " + e.Text() }

// Text is like [Error.Text].
func (e *ClockError) Text() string {
	return fmt.Sprintf("this machine's clock disagrees with the store's by %v; "+
		"at most %v are allowed", e.Difference, e.Max)
}

func (e *ClockError) Is(target error) bool { return target == ErrClock }
