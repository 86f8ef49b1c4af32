// Package input reads texts from arguments, lines of any length and compressed files.
package input

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/words"
)

// Texts calls appendResult for each text, and writes the result. Each argument is a text.
// For "-", and without arguments, each line of standard input is a text. Texts prints errors of
// appendResult, continues, and at the end returns console.ErrReported. A usage error of an argument
// ends Texts at once.
func Texts(c *console.Console, args []string,
	appendResult func(b []byte, text string) ([]byte, error)) error {
	w := &writer{console: c, out: bufio.NewWriterSize(c.Out, 64<<10), appendResult: appendResult}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for i, arg := range args {
		var err error
		if arg == "-" {
			err = w.lines(c.In)
		} else {
			err = w.text(arg, "argument", i+1)
		}
		if err != nil {
			w.progress.End()
			if flushed := w.out.Flush(); flushed != nil {
				return flushed
			}
			return err
		}
	}
	w.progress.End()
	if err := w.out.Flush(); err != nil {
		return err
	}
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
	out          *bufio.Writer
	appendResult func([]byte, string) ([]byte, error)
	progress     *console.Progress
	bad, all     uint64 // numbers of texts
}

// The method text returns only errors of writing, or of usage.
func (w *writer) text(text, what string, number int) error {
	w.all++
	b, err := w.appendResult(w.out.AvailableBuffer(), text)
	if err != nil {
		if what == "argument" && console.IsUsageError(err) {
			return err
		}
		return w.report(what, number, err)
	}
	_, err = w.out.Write(b)
	return err
}

func (w *writer) report(what string, number int, err error) error {
	w.bad++
	if w.console.Quiet {
		return nil
	}
	if w.console.OutTerminal { // show the results of earlier texts first
		if err := w.out.Flush(); err != nil {
			return err
		}
	}
	w.console.Say("%s %d: %v", what, number, err)
	return nil
}

func (w *writer) lines(in io.Reader) error {
	if w.console.InTerminal && !w.console.Quiet {
		fmt.Fprintln(w.console.Err,
			"sortid: reading IDs from the terminal, one in a line; Ctrl-D ends")
	}
	read := &Counter{From: in}
	r := newLineReader(read)
	done := func() uint64 { return uint64(r.Number()) }
	if size := SizeOf(in); size >= 0 && !w.console.OutTerminal {
		w.progress = w.console.NewProgress("bytes", size)
		done = func() uint64 { return read.N }
	} else {
		w.progress = w.console.Progress("lines")
	}
	for {
		if !r.Ready() { // write before waiting for input
			if err := w.out.Flush(); err != nil {
				return err
			}
		}
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, errTooLong):
			w.all++
			err = w.report("line", r.Number(), err)
		case err != nil:
			return fmt.Errorf("cannot read standard input: %w", err)
		default:
			err = w.text(string(line), "line", r.Number())
		}
		if err != nil {
			return err
		}
		w.progress.Show(done())
	}
}
