package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

func TestIsPermanent(t *testing.T) {
	for _, err := range []error{
		errors.New("wrong password"), lease.ErrUnsafe, BadURL(io.EOF),
		&net.DNSError{IsNotFound: true}, fmt.Errorf("x: %w", lease.ErrUnsafe),
	} {
		if !isPermanent(err) {
			t.Errorf("after %v there would be another attempt", err)
		}
	}
	for _, err := range []error{
		Temporary(errors.New("starting")), Busy(errors.New("too many connections"), time.Second),
		io.EOF, &net.DNSError{IsTemporary: true}, &net.DNSError{IsTimeout: true},
		&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		fmt.Errorf("x: %w", syscall.ECONNRESET), context.DeadlineExceeded,
	} {
		if isPermanent(err) {
			t.Errorf("after %v there would be no other attempt", err)
		}
	}
}

var (
	errRefused = &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	errBusy    = Busy(errors.New("too many connections"), time.Second)
)

// An attempt gets its number n, from 1 on.
type attempt func(ctx context.Context, n int) error

func fails(err error) attempt { return func(context.Context, int) error { return err } }

func silent(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }

// retry calls Retry, and returns the number of attempts and the time that they took.
func retry(ctx context.Context, try attempt) (n int, took time.Duration, err error) {
	began := time.Now()
	_, err = Retry(ctx, "host:1", func(ctx context.Context) (int, error) {
		n++
		return n, try(ctx, n)
	})
	return n, time.Since(began), err
}

func TestRetry(t *testing.T) {
	refusedTwice := func(ctx context.Context, n int) error {
		if n < 3 {
			return errRefused
		}
		return silent(ctx, n)
	}
	reason := func(ctx context.Context, n int) error { return Reason(silent(ctx, n)) }
	silentTwice := func(ctx context.Context, n int) error {
		_, err := Ask(ctx, func(ctx context.Context) (int, error) {
			if n > 2 {
				return 0, nil
			}
			return 0, silent(ctx, n)
		})
		return err
	}
	const refused = ": dial: connection refused"
	for name, c := range map[string]struct {
		patience time.Duration
		try      attempt
		want     string
		took     time.Duration // 0 if it may take any time
		most     int           // how many attempts there are if all pauses are the shortest
	}{
		"at once":     {0, fails(nil), "", 0, 1},
		"permanent":   {0, fails(errors.New("wrong password")), "wrong password", 0, 1},
		"unreachable": {0, fails(errRefused), "tried for 30 s" + refused, Patience, 40},
		"unreachable, for long": {time.Minute, fails(errRefused), "tried for 60 s" + refused,
			time.Minute, 70},
		"unreachable, for 1 s": {time.Second, fails(errRefused), "tried for 1 s" + refused,
			time.Second, 10},
		"busy": {3 * time.Second, fails(errBusy), "tried for 3 s: too many connections",
			3 * time.Second, 6},
		"silent":               {0, silent, "no answer from host:1 in 30 s", Patience, 2},
		"refused, then silent": {0, refusedTwice, "tried for 30 s" + refused, Patience, 5},
		"a reason":             {0, reason, "context deadline exceeded", Patience, 2},
		"silent, twice":        {0, silentTwice, "", 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.patience != 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.patience)
					defer cancel()
				}
				n, took, err := retry(ctx, c.try)
				if c.want == "" && err != nil || c.want != "" &&
					(err == nil || err.Error() != c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if took != c.took && c.took != 0 || n > c.most {
					t.Errorf("%d attempts took %v, want at most %d and %v", n, took, c.most, c.took)
				}
			})
		})
	}
}

// After each attempt without an answer, the next request may take twice as long, up to lastLimit.
func TestRetryLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var limits []time.Duration
		retry(ctx, func(ctx context.Context, n int) error {
			if n > 4 {
				return nil
			}
			_, err := Ask(ctx, func(ctx context.Context) (int, error) {
				deadline, _ := ctx.Deadline()
				limits = append(limits, time.Until(deadline))
				return 0, silent(ctx, n)
			})
			return err
		})
		want := []time.Duration{firstLimit, 2 * firstLimit, lastLimit, lastLimit}
		if !slices.Equal(limits, want) {
			t.Errorf("the limits are %v, want %v", limits, want)
		}
	})
}

func TestRetryInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("interrupted")) })
		_, _, err := retry(ctx, fails(errRefused))
		if err == nil || !strings.HasSuffix(err.Error(), "interrupted") {
			t.Error(err)
		}
	})
}

func TestRetrySpreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := map[time.Duration]bool{}
		for range 20 {
			_, took, _ := retry(t.Context(), func(_ context.Context, n int) error {
				if n == 1 {
					return errBusy
				}
				return nil
			})
			second[took] = true
		}
		if len(second) < 15 {
			t.Errorf("20 processes tried again at only %d different times", len(second))
		}
	})
}

func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int64
		idle := NewIdle(IdleTime, func() { closed.Add(1) })
		want := func(n int, after time.Duration) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := int(closed.Load()); got != n {
				t.Fatalf("closed %d times, want %d", got, n)
			}
		}
		want(0, IdleTime-1)
		idle.Used()
		want(0, IdleTime-1)
		want(1, 1)
		idle.Used()
		idle.Rest()
		want(1, restTime-1)
		idle.Used()
		want(1, restTime)
		idle.Rest()
		want(2, restTime)
		idle.Stop()

		idle = NewIdle(2*IdleTime, func() { closed.Add(1) })
		idle.Rest()
		want(2, 2*IdleTime-1)
		want(3, 1)
	})
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		call  func(context.Context, func(context.Context) (int, error)) (int, error)
		calls int
		took  time.Duration
	}{
		"read": {func(ctx context.Context, f func(context.Context) (int, error)) (int, error) {
			return Read(ctx, func(ctx context.Context) (int, error) { return Ask(ctx, f) })
		}, 4, Patience},
		"change": {Ask[int], 1, firstLimit},
		// Only the outer Retry tries again. Its limits are also the limits of the inner calls.
		"within Retry": {func(ctx context.Context,
			f func(context.Context) (int, error)) (int, error) {
			return Retry(ctx, "host:1", func(ctx context.Context) (int, error) {
				return Retry(ctx, "host:1", func(ctx context.Context) (int, error) {
					return Read(ctx, func(ctx context.Context) (int, error) { return Ask(ctx, f) })
				})
			})
		}, 3, Patience},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, n := time.Now(), 0
			_, err := c.call(t.Context(), func(ctx context.Context) (int, error) {
				n++
				<-ctx.Done()
				return 0, ctx.Err()
			})
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) ||
				n != c.calls || took != c.took {
				t.Errorf("%s: %d calls in %v, want %d in %v: %v", name, n, took, c.calls, c.took,
					err)
			}
			n = 0
			answer, err := c.call(t.Context(), func(ctx context.Context) (int, error) {
				if n++; n < c.calls {
					<-ctx.Done()
				}
				return n, ctx.Err()
			})
			if answer != c.calls || err != nil {
				t.Errorf("%s: %d, %v, want %d", name, answer, err, c.calls)
			}
		})
	}
	var l Limit
	for range 10 {
		l.Next()
	}
	if d := l.Next(); d != lastLimit {
		t.Errorf("after ten failures the limit is %v", d)
	}
	l.Connected()
	if d := l.Next(); d != firstLimit {
		t.Errorf("after a success the limit is %v", d)
	}
}

// A server that closes each connection at once has handled no request.
func TestSent(t *testing.T) {
	listener := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.(*net.TCPConn).CloseWrite()
		}
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	unnamed := 0
	for range 5000 {
		_, err := client.Get("http://" + listener.Addr().String())
		if err == nil || isPermanent(Sent(err)) {
			t.Fatalf("a closed connection: %v, want a temporary error", err)
		}
		if isPermanent(err) {
			if unnamed++; unnamed == 3 {
				return
			}
		}
	}
	t.Logf("net/http returned its error without a name %d times", unnamed)
}
