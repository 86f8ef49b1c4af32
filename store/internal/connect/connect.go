// Package connect has what opening a store has in common, whichever server it is on: how
// long to try, what to try again, and how to tell that a URL is malformed.
package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/sortid/sortid/lease"
)

// ErrURL matches the errors that [BadURL] returns.
var ErrURL = errors.New("store: malformed URL")

// BadURL marks an error as one of the URL that was given, which is no use to try again.
func BadURL(err error) error { return marked{err, ErrURL} }

var (
	errTemporary = errors.New("store: temporary error")
	errBusy      = errors.New("store: no connection to spare")
)

// Temporary marks an error as one that may be gone at the next attempt, such as that a
// server is starting.
func Temporary(err error) error { return marked{err, errTemporary} }

// Busy marks the error of a server that has no connection to spare. The pause after it is
// about so long, or longer: it depends on what a refusal costs the server.
func Busy(err error, pause time.Duration) error { return busy{marked{err, errBusy}, pause} }

type busy struct {
	marked
	pause time.Duration
}

var errReason = errors.New("store: known reason")

// Reason marks an error that says why no answer came, so that [Retry] returns it even when
// time is up.
func Reason(err error) error { return marked{err, errReason} }

// marked is an error that matches another one without showing its text.
type marked struct {
	error
	as error
}

func (m marked) Unwrap() error        { return m.error }
func (m marked) Is(target error) bool { return target == m.as }

// Patience is how long [Retry] tries if its context has no deadline.
const Patience = 30 * time.Second

// The pauses between attempts grow from the first to the last of these. Each is made up to
// three quarters shorter at random, so that processes that started together do not stay
// together.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 4 * time.Second
)

// Retry calls attempt until it succeeds or its error is permanent, with growing pauses, as
// long as ctx allows, or, if that has no deadline, [Patience]. The error of an attempt that got no answer at all
// is replaced by one that says so; where is what did not answer.
func Retry[T any](ctx context.Context, where string, attempt func(context.Context) (T, error)) (T, error) {
	began := time.Now()
	limited := ctx
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, Patience)
		defer cancel()
	}
	var refusal error // of the last attempt that was refused
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		result, err := attempt(limited)
		switch {
		case err == nil:
			return result, nil
		case limited.Err() == nil && isPermanent(err):
			return result, err
		case limited.Err() == nil:
			if !isTimeout(err) {
				refusal = err
			}
			if b := (busy{}); errors.As(err, &b) {
				pause = max(pause, b.pause)
			}
			if Sleep(limited, pause/4+rand.N(3*pause/4)) == nil {
				continue
			}
		}
		took := fmt.Sprintf("%.2g s", time.Since(began).Seconds())
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return result, fmt.Errorf("connecting to %s: %w", where, context.Cause(ctx))
		case errors.Is(err, errReason):
			return result, err
		case refusal != nil:
			return result, fmt.Errorf("tried for %v: %w", took, refusal)
		}
		return result, noAnswer{fmt.Sprintf("no answer from %s in %v", where, took), err}
	}
}

// noAnswer hides the text of the error that it wraps, which says only that time was up.
type noAnswer struct {
	text string
	err  error
}

func (e noAnswer) Error() string { return e.text }
func (e noAnswer) Unwrap() error { return e.err }

// temporary are the errors of connections to servers that are starting, restarting,
// overloaded, or behind a network that is in trouble.
var temporary = []error{
	errTemporary, errBusy, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded,
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
}

// isPermanent reports whether it is no use to try again: the server has answered, and its
// answer will stay the same.
func isPermanent(err error) bool {
	if errors.Is(err, lease.ErrUnsafe) || errors.Is(err, ErrURL) {
		return true
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) {
		return dns.IsNotFound
	}
	if isTimeout(err) {
		return false
	}
	return !slices.ContainsFunc(temporary, func(e error) bool { return errors.Is(err, e) })
}

func isTimeout(err error) bool {
	timeout := net.Error(nil)
	return errors.As(err, &timeout) && timeout.Timeout()
}

// Sleep pauses, unless ctx ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Idle closes connections that have not been used for a while: a store is used for some
// milliseconds about twice a minute, and its server's connections are few.
type Idle struct {
	time  time.Duration
	timer *time.Timer
}

const (
	// IdleTime is longer than the pauses between the requests of one acquisition or renewal,
	// on a busy server, too.
	IdleTime = time.Second

	// restTime is longer than those between the acquisitions of many leases, one after the other.
	restTime = 20 * time.Millisecond
)

// NewIdle returns an Idle that calls close when it has not been used for a time.
func NewIdle(d time.Duration, close func()) *Idle {
	return &Idle{d, time.AfterFunc(d, close)}
}

// Used puts the call of close off. A nil Idle never calls it.
func (i *Idle) Used() {
	if i != nil {
		i.timer.Reset(i.time)
	}
}

// Rest has close called soon, unless a longer time than IdleTime was asked for.
func (i *Idle) Rest() {
	if i != nil && i.time <= IdleTime {
		i.timer.Reset(min(restTime, i.time))
	}
}

// Stop ends it.
func (i *Idle) Stop() {
	if i != nil {
		i.timer.Stop()
	}
}

// Dial connects like [net.Dialer] but begins again when nothing has come for a while. When
// many processes connect at once, a server's queue is full and it drops what comes; the
// operating system tries again after 1, 3, 7 and 15 seconds only.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	for timeout := dialTimeout; ; timeout = min(timeout*3/2, lastPause) {
		d := net.Dialer{Timeout: timeout/2 + rand.N(timeout/2), KeepAlive: 30 * time.Second}
		conn, err := d.DialContext(ctx, network, address)
		if err == nil || ctx.Err() != nil || !isTimeout(err) {
			return conn, err
		}
	}
}

// dialTimeout is longer than it takes to connect to any server that does not drop requests.
const dialTimeout = time.Second
