package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// A signalError is a signal that ended a command. The exit code is 128 and its number, as
// shells have it.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("ended by a signal: %v", e.Signal) }
func (e signalError) code() int     { return 128 + int(e.Signal) }

// untilSignal returns a context that SIGINT, SIGTERM or SIGHUP cancels, with a signalError
// as its cause. A second signal ends the program at once. SIGHUP stays ignored if the
// command was started so, as nohup does.
func untilSignal() (ctx context.Context, stop func()) {
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

// interrupted returns the signal that ended the context in the place of an error that came
// of it.
func interrupted(ctx context.Context, err error) error {
	var s signalError
	if err != nil && errors.As(context.Cause(ctx), &s) {
		return s
	}
	return err
}
