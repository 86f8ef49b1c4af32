// Package input reads texts from arguments, lines of any length and compressed files.
package input

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/words"
)

// A Function appends the result for a text to b. The text was read at about the time now.
type Function func(b []byte, text string, now time.Time) ([]byte, error)

// Texts calls the function appendResult for each text, and writes the result. Each argument is a
// text. For "-", and without arguments, each line of standard input is a text. Texts prints errors
// of appendResult, continues, and at the end returns console.ErrReported. A usage error of an
// argument ends Texts at once.
//
// If parallel is true, several goroutines call appendResult at once. Results stay in order.
func Texts(c *console.Console, args []string, parallel bool, appendResult Function) error {
	w := &writer{console: c, appendResult: appendResult, workers: 1}
	if parallel {
		w.workers = min(runtime.GOMAXPROCS(0), 4)
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for i, arg := range args {
		var err error
		if arg != "-" {
			err = w.argument(i+1, arg)
		} else if err = Begin(c, arg, IDs); err == nil {
			err = w.lines(c.In)
		}
		if err != nil {
			w.progress.End()
			return err
		}
	}
	w.progress.End()
	if w.bad >= manyBad && !c.Quiet {
		fmt.Fprintf(c.Err, "sortid: %s of %s IDs could not be read\n", words.Count(w.bad),
			words.Count(w.all))
	}
	if w.bad > 0 {
		return console.ErrReported
	}
	return nil
}

// If at least manyBad texts are bad, Texts prints their number.
const manyBad = 10

type writer struct {
	console      *console.Console
	appendResult Function
	workers      int

	mu   sync.Mutex // for reading
	in   *blockReader
	read atomic.Uint64 // bytes
	size int64         // of standard input, in bytes; negative if it is unknown
	turn chan struct{} // job.after of the last job

	// The worker whose turn it is uses these members.
	progress *console.Progress
	bad, all uint64 // numbers of texts
	failed   bool   // an error has ended the output
}

// A result is what one worker has made of its last block.
type result struct {
	out []byte
	bad []badText
	all uint64 // number of texts
}

// A badText is a text with an error. Its result would be at this position in result.out.
type badText struct {
	what   string // line or argument
	number int
	at     int
	err    error
}

func (w *writer) argument(number int, text string) error {
	var r result
	w.text(&r, "argument", number, text, time.Now())
	if len(r.bad) > 0 && console.IsUsageError(r.bad[0].err) {
		return r.bad[0].err
	}
	return w.write(&r)
}

// text appends the result for a text to r.
func (w *writer) text(r *result, what string, number int, text string, now time.Time) {
	r.all++
	out, err := w.appendResult(r.out, text, now)
	if err != nil {
		r.bad = append(r.bad, badText{what, number, len(r.out), err})
		return
	}
	r.out = out
}

// write writes a result and prints its errors. The order matters only on a terminal.
func (w *writer) write(r *result) error {
	w.all += r.all
	w.bad += uint64(len(r.bad))
	out, written := r.out, 0
	for _, bad := range r.bad {
		if w.console.Quiet {
			break
		}
		if n := bad.at - written; w.console.OutTerminal && n > 0 {
			if _, err := w.console.Out.Write(out[:n]); err != nil {
				return err
			}
			out, written = out[n:], bad.at
		}
		w.console.Say("%s %d: %v", bad.what, bad.number, bad.err)
	}
	return w.console.WriteBlock(out)
}

func (w *writer) lines(in io.Reader) error {
	plain, err := Plain(Counter{in, &w.read})
	if err != nil {
		return Fault(Stdin, err)
	}
	defer plain.Close()
	w.in, w.turn = newBlockReader(plain), make(chan struct{})
	close(w.turn)
	w.size = SizeOf(in)
	if w.size >= 0 && !w.console.OutTerminal {
		w.progress = w.console.NewProgress("bytes", w.size)
	} else {
		w.progress = w.console.Progress("lines", -1)
	}
	ended := make(chan error, w.workers)
	for range w.workers {
		go func() { ended <- w.work() }()
	}
	for range w.workers {
		// Another worker may wait for input, so an error does not wait for it.
		if err := <-ended; err != io.EOF {
			return err
		}
	}
	return nil
}

// A job is a block to convert, or the error at the end of the input.
type job struct {
	block
	err    error
	done   uint64        // how much was read, for the progress
	before chan struct{} // closed when the job before is written
	after  chan struct{} // to close when this job is written
}

// work does jobs. While a worker converts a block, other workers read.
func (w *writer) work() error {
	var r result
	for {
		j := w.next()
		r.out, r.bad, r.all = r.out[:0], r.bad[:0], 0
		if j.long {
			r.bad = append(r.bad, badText{"line", j.first, 0, errTooLong})
			r.all++
		}
		j.lines(func(number int, line string) { w.text(&r, "line", number, line, j.now) })
		<-j.before
		err := w.end(&j, &r)
		close(j.after)
		if err != nil {
			return err
		}
	}
}

func (w *writer) next() (j job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j.block, j.err = w.in.next()
	j.before, j.after = w.turn, make(chan struct{})
	w.turn = j.after
	j.done = uint64(w.in.n)
	if w.size >= 0 {
		j.done = w.read.Load()
	}
	return j
}

// end writes the result of a job. Its error ends the worker.
func (w *writer) end(j *job, r *result) error {
	switch {
	case w.failed:
		return io.EOF
	case j.err == io.EOF:
		return j.err
	case j.err != nil:
		w.failed = true
		return Fault(Stdin, j.err)
	}
	err := w.write(r)
	w.failed = err != nil
	w.progress.Show(j.done)
	return err
}
