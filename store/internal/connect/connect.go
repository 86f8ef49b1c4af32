// Package connect limits and repeats the requests of stores, and opens and closes connections.
package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sortid/sortid/lease"
)

var ErrURL = errors.New("store: malformed URL")

// BadURL wraps an error of the URL. After such an error, [Retry] does not try again.
func BadURL(err error) error { return wrapped{err, ErrURL} }

// Missing wraps the error of a missing file, table or bucket: then no realm is there, either.
func Missing(err error) error { return wrapped{err, lease.ErrNoRealm} }

var errTemporary = errors.New("store: temporary error")

// Temporary wraps an error after which [Retry] tries again.
func Temporary(err error) error { return wrapped{err, errTemporary} }

// Sent returns the error of a request over HTTP. The error is temporary if the server closed the
// connection before it had a request. This error of net/http has no name.
func Sent(err error) error {
	if strings.HasSuffix(err.Error(), "server closed idle connection") {
		return Temporary(err)
	}
	return err
}

// Busy wraps the error of a server that has no free connection. It tells [Retry] how long to pause.
func Busy(err error, pause time.Duration) error { return busy{wrapped{err, errTemporary}, pause} }

type busy struct {
	wrapped
	pause time.Duration
}

// laterError is an error that says when the server wants to be asked again.
type laterError interface {
	error
	RetryAfter() time.Duration
}

// retryAfter returns how long to wait after err, with jitter, or 0.
func retryAfter(err error) time.Duration {
	later := laterError(nil)
	if !errors.As(err, &later) || later.RetryAfter() <= 0 {
		return 0
	}
	return later.RetryAfter() + rand.N(later.RetryAfter()/2+1)
}

var errReason = errors.New("store: known reason")

// Reason wraps an error that explains why no answer came. When [Retry] gives up, it returns this
// error.
func Reason(err error) error { return wrapped{err, errReason} }

type wrapped struct {
	error
	as error
}

func (m wrapped) Unwrap() error        { return m.error }
func (m wrapped) Is(target error) bool { return target == m.as }

const Patience = 30 * time.Second

// The pauses of [Retry] grow from firstPause to lastPause. Each pause is shortened at random, by up
// to three quarters, so that processes do not try at the same time. A busy server refuses those who
// try again soon, so after [Busy] a pause is shortened by up to a half.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 4 * time.Second
)

const (
	readLimit = 3 * time.Second // how long Read waits for an answer to its first request
	readPause = time.Second / 2 // the shortest time from one request of Read to the next
	lastLimit = 16 * time.Second
	// firstLimit is how long all other requests wait for an answer. After each timeout, Read and
	// Retry double their limits. Many clients then open a new connection, which costs a busy server
	// time. So the limits are far above the time that a server needs for a thousand connections.
	firstLimit = 5 * time.Second
)

// retrying is a key in the contexts of attempts. With such a context, [Retry] and [Read] try once.
type retrying struct{}

// Retry calls the function attempt until it succeeds, its error is permanent, or ctx ends. If an
// error has a method RetryAfter() time.Duration, Retry waits at least so long. Without a deadline,
// Retry tries for [Patience]. An attempt may take three times as long as a request by
// [Ask]. If no answer came, the error says so, and names the server (the parameter where).
func Retry[T any](ctx context.Context, where string,
	attempt func(context.Context) (T, error)) (T, error) {
	if ctx.Value(retrying{}) != nil {
		return attempt(ctx)
	}
	began := time.Now()
	all, cancel := patient(ctx)
	defer cancel()
	var refusal, reason error // the latest of each kind
	d := firstLimit
	for pause := firstPause; ; pause = min(pause*3/2, lastPause) {
		limited := context.WithValue(context.WithValue(all, retrying{}, true), limit{}, d)
		limited, cancel := context.WithTimeout(limited, 3*d)
		result, err := attempt(limited)
		cancel()
		switch {
		case err == nil:
			return result, nil
		case errors.Is(err, errReason):
			reason = err
		}
		if all.Err() == nil {
			shortest := pause / 4
			switch b := (busy{}); {
			case errors.As(err, &b):
				refusal, pause = err, max(pause, b.pause)
				shortest = pause / 2
			case isTimeout(err) && !isPermanent(err):
				d = min(2*d, lastLimit)
			case isPermanent(err):
				return result, err
			default:
				refusal = err
			}
			if Sleep(all, max(retryAfter(err), shortest+rand.N(pause-shortest))) == nil {
				continue
			}
		}
		took := fmt.Sprintf("%.2g s", time.Since(began).Seconds())
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return result, fmt.Errorf("connecting to %s: %w", where, context.Cause(ctx))
		case reason != nil:
			return result, reason
		case refusal != nil:
			return result, fmt.Errorf("tried for %v: %w", took, refusal)
		}
		return result, noAnswer{fmt.Sprintf("no answer from %s in %v", where, took), err}
	}
}

// Connect calls the function connect once. If the server has no free connection, is too busy to
// answer in time, or says when to ask again, Connect passes the function to [Retry].
func Connect[T any](ctx context.Context, where string,
	connect func(context.Context) (T, error)) (T, error) {
	result, err := connect(ctx)
	if ctx.Value(retrying{}) != nil {
		return result, err
	}
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	if b := (busy{}); late || errors.As(err, &b) ||
		retryAfter(err) > 0 && Sleep(ctx, retryAfter(err)) == nil {
		return Retry(ctx, where, connect)
	}
	return result, err
}

// NoResult adds an empty result to f, for [Retry], [Read] and [Ask].
func NoResult(f func(context.Context) error) func(context.Context) (struct{}, error) {
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }
}

func Unsafe(format string, args ...any) error {
	return fmt.Errorf("%w: %s", lease.ErrUnsafe, fmt.Sprintf(format, args...))
}

// NotTested returns the condition for a server that is not the tested one.
func NotTested(version, tested string) string {
	return fmt.Sprintf("conditional: this server was not tested. It says that it is %q, and the "+
		"tests of this store run only on %s", version, tested)
}

func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, Patience)
}

type limit struct{}

// Read calls the function read, and repeats it after each timeout until ctx ends. Read returns all
// other errors immediately. The function must change nothing, and must use [Ask] for its requests.
func Read[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	if ctx.Value(retrying{}) != nil {
		return read(ctx)
	}
	all, cancel := patient(ctx)
	defer cancel()
	for d := readLimit; ; d = min(2*d, lastLimit) {
		began := time.Now()
		result, err := read(context.WithValue(all, limit{}, d))
		if err == nil || !isTimeout(err) || all.Err() != nil {
			return result, err
		}
		// Pause, because a client may at once fail again, with the timeout of an earlier request.
		if Sleep(all, readPause-time.Since(began)) != nil {
			return result, err
		}
	}
}

// Ask calls the function ask, which sends one request. Ask limits the time for the answer. If Ask
// fails, the server may still have made the requested change.
func Ask[T any](ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	d, ok := ctx.Value(limit{}).(time.Duration)
	if !ok {
		d = firstLimit
	}
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	result, err := ask(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = noAnswer{fmt.Sprintf("no answer in %v", d), errors.Join(context.DeadlineExceeded,
			err)}
	}
	return result, err
}

// Longer returns a context in which [Ask] waits longer, by d.
func Longer(ctx context.Context, d time.Duration) context.Context {
	is, ok := ctx.Value(limit{}).(time.Duration)
	if !ok {
		is = firstLimit
	}
	return context.WithValue(ctx, limit{}, is+d)
}

// A Limit is how long an attempt to connect may take. It doubles after each failure.
type Limit struct{ failed atomic.Int32 }

func (l *Limit) Next() time.Duration {
	return min(firstLimit<<min(l.failed.Add(1)-1, 8), lastLimit)
}

func (l *Limit) Connected() { l.failed.Store(0) }

// noAnswer hides the text of the wrapped error, which says only that the time was up.
type noAnswer struct {
	text string
	err  error
}

func (e noAnswer) Error() string { return e.text }
func (e noAnswer) Unwrap() error { return e.err }

// temporary lists errors of networks, and of servers that start, restart or are overloaded.
var temporary = []error{
	errTemporary, net.ErrClosed, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded,
	syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
	syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
}

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

// Idle closes unused connections, because servers allow few, and stores rarely need one.
type Idle struct {
	time  time.Duration
	timer *time.Timer
}

const (
	// IdleTime is longer than the pauses between the requests of one renewal, even on a busy
	// server.
	IdleTime = time.Second

	// restTime is longer than the pauses between leases that a process acquires in a row.
	restTime = 20 * time.Millisecond
)

// NewIdle returns an Idle that calls close after d without use.
func NewIdle(d time.Duration, close func()) *Idle {
	return &Idle{d, time.AfterFunc(d, close)}
}

// Used tells Idle that a connection was just used. A nil Idle does nothing.
func (i *Idle) Used() {
	if i != nil {
		i.timer.Reset(i.time)
	}
}

// Rest makes Idle close the connections soon. If Idle's time is longer than IdleTime, Rest does
// nothing.
func (i *Idle) Rest() {
	if i != nil && i.time <= IdleTime {
		i.timer.Reset(min(restTime, i.time))
	}
}

func (i *Idle) Stop() {
	if i != nil {
		i.timer.Stop()
	}
}

// Dial connects to an address. If many processes connect at once, a server drops packets. The
// system repeats them only after 1, 3, 7 and 15 seconds, so Dial tries again sooner.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	for timeout := dialLimit; ; timeout = min(timeout*3/2, lastPause) {
		d := net.Dialer{Timeout: timeout/2 + rand.N(timeout/2), KeepAlive: 30 * time.Second}
		conn, err := d.DialContext(ctx, network, address)
		if err == nil || ctx.Err() != nil || !isTimeout(err) {
			return conn, err
		}
	}
}

const dialLimit = time.Second

// DialTLS is like Dial, but encrypts if config is not nil.
func DialTLS(ctx context.Context, network, address string, config *tls.Config) (net.Conn, error) {
	conn, err := Dial(ctx, network, address)
	if err != nil || config == nil {
		return conn, err
	}
	if config.ServerName == "" {
		config = config.Clone()
		config.ServerName, _, _ = net.SplitHostPort(address)
	}
	encrypted := tls.Client(conn, config)
	if err := encrypted.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return encrypted, nil
}
