package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/sortid/sortid/service/internal/lines"
)

// texts calls do for each argument, and for each line of standard input where there is
// no argument or the argument is "-", and writes out what do appended to b. A text for
// which do fails is named on standard error, and the rest goes on; texts then returns
// errReported.
func (a *app) texts(args []string, do func(b []byte, text string) ([]byte, error)) error {
	w := &writer{app: a, Writer: bufio.NewWriterSize(a.out, 64<<10), do: do, progress: a.progress("lines")}
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
			return err
		}
	}
	w.progress.end()
	if err := w.Flush(); err != nil {
		return err
	}
	if w.bad {
		return errReported
	}
	return nil
}

type writer struct {
	*app
	*bufio.Writer
	do       func([]byte, string) ([]byte, error)
	progress *progress
	bad      bool
}

// text deals with one text. Its error is one of writing.
func (w *writer) text(text, what string, number int) error {
	b, err := w.do(w.AvailableBuffer(), text)
	if err != nil {
		return w.fault(what, number, err)
	}
	_, err = w.Write(b)
	return err
}

// fault names a bad text. On a terminal it stands where it belongs.
func (w *writer) fault(what string, number int, err error) error {
	w.bad = true
	w.progress.end()
	fmt.Fprintf(w.err, "sortid: %s %d: %v\n", what, number, err)
	if w.outTerminal {
		return w.Flush()
	}
	return nil
}

func (w *writer) lines(in io.Reader) error {
	if w.inTerminal {
		fmt.Fprintln(w.err, "sortid: reading IDs from the terminal, one in a line; Ctrl-D ends")
	}
	r := lines.NewReader(in)
	for {
		if !r.Ready() { // nobody shall wait for output that is there
			if err := w.Flush(); err != nil {
				return err
			}
		}
		line, err := r.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, lines.ErrTooLong):
			err = w.fault("line", r.Number(), err)
		case err != nil:
			return fmt.Errorf("cannot read standard input: %w", err)
		default:
			err = w.text(string(line), "line", r.Number())
		}
		if err != nil {
			return err
		}
		w.progress.show(uint64(r.Number()))
	}
}
