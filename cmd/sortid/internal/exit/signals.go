package exit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// A signalError is a signal that ended a command. Like shells, it exits with 128 plus its number.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("ended by a signal: %v", e.Signal) }
func (e signalError) code() int     { return 128 + int(e.Signal) }

// UntilSignal returns a context that SIGINT, SIGTERM or SIGHUP cancels; the cause is a signalError.
// A second signal ends the program. SIGHUP stays ignored if it was, as by nohup.
func UntilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			signal.Stop(received)
			number, _ := s.(syscall.Signal)
			cancel(signalError{number})
		case <-ctx.Done():
			signal.Stop(received)
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// Cause returns the signal that ended the context, else err.
func Cause(ctx context.Context, err error) error {
	var s signalError
	if err != nil && errors.As(context.Cause(ctx), &s) {
		return s
	}
	return err
}

// Sleep waits for d, or returns ctx's cause.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
