package tester

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/report"
)

// An Execution is a generator that "sortid verify" starts.
type Execution struct {
	Command   string        // for the shell
	Processes int           // at the same time
	Length    time.Duration // after this time, the processes are ended
}

const (
	MaxProcesses = 1000

	// endTime is how long a process may take to end before it is killed.
	endTime = 2 * time.Second
)

type generatorProcess struct {
	source *source
	cmd    *exec.Cmd
	out    *os.File      // What it prints.
	file   string        // A copy of out, for the search for duplicates.
	done   chan struct{} // Closed after the process ends.
	length time.Duration // Its run time. Valid after done.
	err    error         // How it ended. Valid after done.
	ended  atomic.Bool   // Verify has told it to end.
	report *report.Report
}

// RunProcesses starts generators, checks each, and looks for duplicates among all IDs. If name is
// "", it guesses their format.
func (v *Tester) RunProcesses(name string) error {
	dir, err := os.MkdirTemp(v.Duplicates.Dir, "sortid-")
	if err != nil {
		return fmt.Errorf("cannot make a folder for what the processes print: %w", err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(untilSignal(), v.Exec.Length)
	defer cancel()
	var all []*generatorProcess
	defer func() {
		for _, p := range all {
			p.end()
		}
	}()
	for i := range v.Exec.Processes {
		p, err := v.startProcess(fmt.Sprint("process ", i+1), filepath.Join(dir, fmt.Sprint(i+1)))
		if err != nil {
			return fmt.Errorf("cannot start %q: %w", v.Exec.Command, err)
		}
		all = append(all, p)
	}
	stop := context.AfterFunc(ctx, func() {
		for _, p := range all {
			go p.end()
		}
	})
	defer stop()
	if name == "" {
		var sources []*source
		for _, p := range all {
			sources = append(sources, p.source)
		}
		if name, err = formatOf(context.Background(), false, sources...); err != nil {
			return err
		}
	}
	if f, err := generate.Lookup(name); err == nil && spec.Of(f).NodeCounter > 0 {
		// Only the search for duplicates uses --node-bits.
		v.Duplicates.NodeBits, v.Options.NodeBits = v.Options.NodeBits, 0
	}
	if err := v.checkProcesses(name, all); err != nil {
		return err
	}
	return v.reportProcesses(name, all)
}

func (v *Tester) reportProcesses(name string, all []*generatorProcess) error {
	p := &printer{tester: v, out: bufio.NewWriter(v.Console.Out)}
	var sources []duplicates.Source
	for _, process := range all {
		if v.tellEnd(process) {
			p.bad = true
		}
		sources = append(sources, duplicates.File(process.file))
		sources[len(sources)-1].Name = process.source.in.Name
		if err := p.report(process.report); err != nil {
			return err
		}
	}
	searching := untilSignal()
	r, err := v.find(searching, name, sources, p.out)
	if err != nil {
		return err
	}
	if err := p.end(r); err != nil {
		return err
	}
	if r.Interrupted {
		return console.Cause(searching, console.ErrInterrupted)
	}
	return nil
}

func (v *Tester) startProcess(name, file string) (*generatorProcess, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	console.Widen(w)
	p := &generatorProcess{out: r, file: file, cmd: shell(v.Exec.Command),
		done: make(chan struct{})}
	messages := &prefixed{console: v.Console, prefix: name + ": "}
	p.cmd.Stdout, p.cmd.Stderr = w, messages
	// Children of the process can keep standard error open, so Wait needs a limit.
	p.cmd.WaitDelay = endTime
	ownGroup(p.cmd)
	started := time.Now()
	err = p.cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	p.source = &source{in: duplicates.Source{Name: name, Once: true,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(&wholeLines{process: p}), nil }}}
	go func() {
		p.err = p.cmd.Wait()
		p.length = time.Since(started)
		messages.flush()
		close(p.done)
	}()
	return p, nil
}

// end asks the process and its children to end, and then kills them.
func (p *generatorProcess) end() {
	select {
	case <-p.done:
	default:
		p.ended.Store(true)
		interruptGroup(p.cmd)
		select {
		case <-p.done:
		case <-time.After(endTime):
		}
	}
	killGroup(p.cmd)
	<-p.done
	// Processes in other groups can keep the pipe open, so reading needs a limit.
	p.out.SetReadDeadline(time.Now().Add(endTime))
}

func (v *Tester) checkProcesses(name string, all []*generatorProcess) error {
	bar := v.Console.NewProgress("IDs", -1)
	defer bar.End()
	v.Options.Sources = new(verify.Sources)
	var mu sync.Mutex // guards total and bar
	total := uint64(0)
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() {
			last := uint64(0)
			errs[i] = v.checkProcess(name, p, func(at verify.Progress) {
				mu.Lock()
				defer mu.Unlock()
				total += at.IDs - last
				last = at.IDs
				bar.Show(total)
			})
			p.out.Close() // so the process does not wait for a reader
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (v *Tester) checkProcess(name string, p *generatorProcess, show func(verify.Progress)) error {
	in, err := p.source.read()
	if err != nil {
		return err
	}
	defer in.Close()
	file, err := os.Create(p.file)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 256<<10)
	o := v.Options
	o.Source, o.Progress = p.source.in.Name, show
	// This check ends when the process ends. So it ignores signals.
	p.report, err = verify.Check(context.Background(), name, io.TeeReader(in, w), o)
	if err == nil {
		err = w.Flush()
	}
	return err
}

// tellEnd prints how a process ended by itself, and reports whether the process failed.
func (v *Tester) tellEnd(p *generatorProcess) (failed bool) {
	<-p.done
	name, seconds, lines := p.source.in.Name, p.length.Seconds(), p.report.Lines
	after := fmt.Sprintf("after %.1f s and %s", seconds, words.Plural(lines, "line"))
	switch {
	case p.ended.Load():
		if lines == 0 {
			v.Console.Say("%s has printed nothing in %.1f s", name, seconds)
		}
		return lines == 0
	case p.err != nil:
		v.Console.Say("%s ended by itself %s: %v", name, after, p.err)
		return true
	case lines == 0:
		v.Console.Say("%s ended by itself after %.1f s and has printed nothing", name, seconds)
		return true
	case !v.Console.Quiet:
		v.Console.Say("%s ended by itself %s", name, after)
	}
	return false
}

// wholeLines reads a process's output. It leaves out a last line that is incomplete because verify
// has ended the process.
type wholeLines struct {
	process *generatorProcess
	buffer  []byte // begins with the rest of a line
	rest    int    // the length of this rest
	out     []byte // whole lines of buffer
	err     error
}

func (l *wholeLines) Read(b []byte) (int, error) {
	for len(l.out) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		if l.buffer == nil {
			l.buffer = make([]byte, 256<<10)
		}
		n, err := l.process.out.Read(l.buffer[l.rest:])
		n += l.rest
		if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, fs.ErrClosed) {
			err = io.EOF
		}
		end := bytes.LastIndexByte(l.buffer[:n], '\n') + 1
		switch {
		case err != nil && !l.process.ended.Load(), end == 0 && n == len(l.buffer):
			end = n // a last line without a newline, or a line too long for an ID
		case err != nil:
			n = end
		}
		l.out, l.err = bytes.Clone(l.buffer[:end]), err
		l.rest = copy(l.buffer, l.buffer[end:n])
	}
	n := copy(b, l.out)
	l.out = l.out[n:]
	return n, nil
}

type prefixed struct {
	console *console.Console
	prefix  string
	line    []byte
}

var prefixedLock sync.Mutex // so that lines of processes do not mix

func (w *prefixed) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		w.line = append(w.line, line...)
		if bytes.HasSuffix(w.line, []byte("\n")) || len(w.line) > 4096 {
			w.flush()
		}
	}
	return len(b), nil
}

func (w *prefixed) flush() {
	if len(w.line) == 0 {
		return
	}
	prefixedLock.Lock()
	defer prefixedLock.Unlock()
	fmt.Fprintf(w.console.Err, "%s%s\n", w.prefix, bytes.TrimRight(w.line, "\r\n"))
	w.line = w.line[:0]
}
