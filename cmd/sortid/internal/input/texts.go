// Package input reads texts from arguments, lines of any length and compressed files.
package input

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/judge"
	"github.com/sortid/sortid/cmd/sortid/internal/ordered"
	"github.com/sortid/sortid/internal/words"
)

// A Function appends the result for a text to b. The text was read at about the time now.
type Function func(b []byte, text string, now time.Time) ([]byte, error)

// A Worker makes results. Several workers can do so at the same time.
type Worker struct {
	Append Function
	Judge  *judge.Judge // of the function; nil if results do not depend on the texts before
}

// Texts makes a result for each text, and writes it. Each argument is a text. For "-", and without
// arguments, each line of standard input is a text. Texts prints errors of a Function, continues, and
// at the end returns console.ErrReported. A usage error of an argument ends Texts at once. Results
// stay in order, also if there are several workers.
func Texts(c *console.Console, args []string, workers []Worker) error {
	w := &writer{console: c}
	for i := range workers {
		w.workers = append(w.workers, &worker{Worker: workers[i]})
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
	console  *console.Console
	workers  []*worker
	read     atomic.Uint64 // bytes
	size     int64         // of standard input, in bytes; negative if it is unknown
	progress *console.Progress

	// What was written so far.
	judge    judge.Judge
	bad, all uint64 // numbers of texts
}

// A worker has a block, and what it has made of it.
type worker struct {
	Worker
	block block
	done  uint64 // how much was read, for the progress

	out []byte
	bad []badText
	all uint64 // number of texts
}

// A badText is a text with an error. Its result would be at this position in worker.out.
type badText struct {
	what   string // line or argument
	number int
	at     int
	err    error
}

func (w *writer) argument(number int, text string) error {
	one := w.workers[0]
	w.follow(one)
	one.out, one.bad, one.all = one.out[:0], one.bad[:0], 0
	one.text("argument", number, text, time.Now())
	if len(one.bad) > 0 && console.IsUsageError(one.bad[0].err) {
		return one.bad[0].err
	}
	return w.write(one)
}

// text appends the result for a text.
func (w *worker) text(what string, number int, text string, now time.Time) {
	w.all++
	out, err := w.Append(w.out, text, now)
	if err != nil {
		w.bad = append(w.bad, badText{what, number, len(w.out), err})
		return
	}
	w.out = out
}

// work makes the results for a block.
func (w *worker) work() {
	w.out, w.bad, w.all = w.out[:0], w.bad[:0], 0
	if w.block.long {
		w.bad = append(w.bad, badText{"line", w.block.first, 0, errTooLong})
		w.all++
	}
	w.block.lines(func(number int, line string) { w.text("line", number, line, w.block.now) })
}

// follow lets a worker start from what all texts so far have shown.
func (w *writer) follow(one *worker) {
	if one.Judge != nil {
		one.Judge.Follow(&w.judge)
	}
}

// write writes a worker's results and prints its errors. The order matters only on a terminal.
func (w *writer) write(one *worker) error {
	for one.Judge != nil && !w.judge.Confirm(one.Judge) {
		w.follow(one)
		one.work()
	}
	w.follow(one) // for its next block
	w.all += one.all
	w.bad += uint64(len(one.bad))
	out, written := one.out, 0
	for _, bad := range one.bad {
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
	err := w.console.WriteBlock(out)
	w.progress.Show(one.done)
	return err
}

func (w *writer) lines(in io.Reader) error {
	plain, err := Plain(Counter{in, &w.read})
	if err != nil {
		return Fault(Stdin, err)
	}
	defer plain.Close()
	blocks := newBlockReader(plain)
	w.size = SizeOf(in)
	if w.size >= 0 && !w.console.OutTerminal {
		w.progress = w.console.NewProgress("bytes", w.size)
	} else {
		w.progress = w.console.Progress("lines", -1)
	}
	for _, one := range w.workers {
		w.follow(one)
	}
	return ordered.Run(w.workers, func(one *worker) (err error) {
		one.block, err = blocks.next()
		one.done = uint64(blocks.n)
		if w.size >= 0 {
			one.done = w.read.Load()
		}
		if err != nil && err != io.EOF {
			err = Fault(Stdin, err)
		}
		return err
	}, (*worker).work, w.write)
}
