package supervise

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// catchSignals returns a channel of the signals for the program.
func catchSignals() chan os.Signal {
	signals := make(chan os.Signal, 16)
	for _, sig := range forwarded {
		if !ignored(sig) { // such as SIGHUP after nohup
			signal.Notify(signals, sig)
		}
	}
	return signals
}

// relaySignals runs passSignals until the caller calls the function end.
func relaySignals(c *console.Console, signals chan os.Signal, interrupt func(os.Signal)) (
	programs chan<- *program, end func()) {
	started := make(chan *program, 1)
	passed := make(chan struct{})
	go func() {
		defer close(passed)
		passSignals(c, signals, started, interrupt)
	}()
	return started, func() {
		signal.Stop(signals)
		close(started)
		<-passed
	}
}

// passSignals receives the program from the channel programs, and passes signals on to the program.
// It ends when this channel is closed. If a signal that ends programs arrives before the program
// has started, or after it has gone, passSignals interrupts the wait for the node ID. The wait may
// already be over, so the program also gets this signal.
func passSignals(c *console.Console, signals <-chan os.Signal, programs <-chan *program,
	interrupt func(os.Signal)) {
	var running *program
	var gone <-chan struct{}
	var early []os.Signal
	for {
		select {
		case <-gone:
			running, gone = nil, nil
		case running = <-programs:
			if running == nil {
				return
			}
			for _, sig := range early {
				running.signal(sig)
			}
			early, gone = nil, running.gone
		case sig := <-signals:
			switch {
			case running == nil && ends(sig):
				early = append(early, sig)
				interrupt(sig)
			// The terminal itself sends signals from the keyboard to the program, too.
			case running != nil && !(c.InTerminal && fromKeyboard(sig)):
				running.signal(sig)
			}
			if running != nil && (sig == os.Interrupt || sig == syscall.SIGTERM) {
				interrupt(sig) // no other program may follow this one
			}
		}
	}
}
