package console

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// UntilSignal returns a context that SIGINT, SIGTERM or SIGHUP cancels. The cause is an [ExitCode]:
// 128 plus the signal's number, like in shells. A second signal ends the program. Under nohup,
// SIGHUP stays ignored.
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
			cancel(ExitCode(128 + int(number)))
		case <-ctx.Done():
			signal.Stop(received)
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// Cause returns err. If err is not nil and a signal has ended the context, Cause returns the
// signal's ExitCode.
func Cause(ctx context.Context, err error) error {
	if s, ok := context.Cause(ctx).(ExitCode); ok && err != nil {
		return s
	}
	return err
}

// Sleep waits for d. If ctx ends first, Sleep returns its cause.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
