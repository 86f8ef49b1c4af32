package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/sortid/sortid/cmd/sortid/internal/lines"
)

// texts calls do for each argument, and for each line of standard input where there is
// no argument or the argument is "-", and writes out what do appended to b. A text for
// which do fails is named on standard error, and the rest goes on; texts then returns
// errReported. A wrong use of flags that an argument brings to light ends it.
func (a *app) texts(args []string, do func(b []byte, text string) ([]byte, error)) error {
	w := &writer{app: a, Writer: bufio.NewWriterSize(a.out, 64<<10), do: do}
	if len(args) == 0 {
		args = []string{"-"}
	}
	for i, arg := range args {
		var err error
		if arg == "-" {
			err = w.lines(a.in)
		} else {
			err = w.text(arg, "argument", i+1)
		}
		if err != nil {
			w.progress.end()
			return cmp.Or(w.Flush(), err)
		}
	}
	w.progress.end()
	if err := w.Flush(); err != nil {
		return err
	}
	if w.bad >= manyBad && !a.quiet {
		fmt.Fprintf(a.err, "sortid: %s of %s IDs could not be read\n", thousands(w.bad), thousands(w.all))
	}
	if w.bad > 0 {
		return errReported
	}
	return nil
}

// manyBad is how many bad texts are so many that they are counted at the end.
const manyBad = 10

type writer struct {
	*app
	*bufio.Writer
	do       func([]byte, string) ([]byte, error)
	progress *progress
	bad, all uint64 // texts
}

// text deals with one text. Its error is one of writing, or of the use of flags.
func (w *writer) text(text, what string, number int) error {
	w.all++
	b, err := w.do(w.AvailableBuffer(), text)
	if err != nil {
		var usage usageError
		if what == "argument" && errors.As(err, &usage) {
			return err
		}
		return w.report(what, number, err)
	}
	_, err = w.Write(b)
	return err
}

// report names a bad text. On a terminal it stands where it belongs.
func (w *writer) report(what string, number int, err error) error {
	w.bad++
	if w.quiet {
		return nil
	}
	w.progress.end()
	w.complain("%s %d: %v", what, number, err)
	if w.outTerminal {
		return w.Flush()
	}
	return nil
}

func (w *writer) lines(in io.Reader) error {
	if w.inTerminal && !w.quiet {
		fmt.Fprintln(w.err, "sortid: reading IDs from the terminal, one in a line; Ctrl-D ends")
	}
	read := &counter{Reader: in}
	r := lines.NewReader(read)
	done := func() uint64 { return uint64(r.Number()) }
	if size := sizeOf(in); size >= 0 && !w.outTerminal {
		w.progress = w.newProgress("bytes", size)
		done = func() uint64 { return read.n }
	} else {
		w.progress = w.app.progress("lines")
	}
	for {
		if !r.Ready() { // write what there is before waiting for input
			if err := w.Flush(); err != nil {
				return err
			}
		}
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, lines.ErrTooLong):
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
		w.progress.show(done())
	}
}
