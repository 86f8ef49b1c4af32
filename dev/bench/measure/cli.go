package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/sortid/sortid/dev/bench"
)

// A run is a command line. If it has an input, cat writes the input to a pipe.
type run struct {
	title    string
	program  string // empty for bin/sortid
	env      []string
	args     []string
	input    string
	millions float64 // of lines
}

func measureCLI(lines io.Writer, o options) error {
	bin, err := filepath.Abs("../bin/sortid")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-cli-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := measureStart(lines, bin, dir, max(1, int(100*o.scale))); err != nil {
		return err
	}
	n := int(20_000_000 * o.scale)
	runs, err := prepare(bin, dir, n)
	if err != nil {
		return err
	}
	for _, r := range runs {
		for range o.count {
			if err := r.once(bin, lines); err != nil {
				return fmt.Errorf("%s: %w", r.title, err)
			}
		}
	}
	return measurePairs(lines, bin, dir, n, o.count)
}

func prepare(bin, dir string, lines int) (runs []run, err error) {
	n, millions := fmt.Sprint(lines), float64(lines)/1e6
	for _, s := range []string{"scru128", "scru160", "euid"} {
		runs = append(runs, run{args: []string{"new", s, "-n", n}, millions: millions})
	}
	file, part := filepath.Join(dir, "ids"), filepath.Join(dir, "part")
	if err := writeIDs(bin, file, lines); err != nil {
		return nil, err
	}
	if err := writeIDs(bin, part, lines/10); err != nil {
		return nil, err
	}
	runs = append(runs,
		run{args: []string{"inspect", "-o", "json", "-"}, input: part, millions: millions / 10},
		run{args: []string{"convert", "--to", "hex", "-"}, input: part, millions: millions / 10},
		run{args: []string{"verify", "scru128", "-"}, input: file, millions: millions},
	)
	for i, r := range runs {
		runs[i].title = strings.TrimSuffix("sortid "+strings.Join(r.args, " "), " -")
	}
	unique := run{
		title: "sortid verify scru128 --unique (ten files)",
		args:  []string{"verify", "scru128", "--unique"}, millions: 5 * millions,
	}
	for i := range 10 {
		f := filepath.Join(dir, fmt.Sprintf("source%d", i))
		if err := writeIDs(bin, f, lines/2); err != nil {
			return nil, err
		}
		unique.args = append(unique.args, f)
	}
	return append(runs, unique), nil
}

func writeIDs(bin, file string, lines int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(bin, "new", "scru128", "-n", fmt.Sprint(lines))
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	return cmd.Run()
}

func (r run) once(bin string, lines io.Writer) error {
	s, err := r.start(bin, io.Discard)
	if err != nil {
		return err
	}
	bench.Write(lines, "CLI", r.title, s.cpu, "cpu-s", r.millions, "M",
		r.millions/s.wall, "M/s", r.millions/s.cpu, "M/cpu-s", s.peak, "MB-peak")
	return nil
}

// A sample is what a program used.
type sample struct {
	wall, cpu float64 // seconds
	peak      float64 // MB of memory
}

// start runs the program, and copies its output to a writer.
func (r run) start(bin string, to io.Writer) (sample, error) {
	cmd := exec.Command(cmp.Or(r.program, bin), r.args...)
	cmd.Env = append(os.Environ(), r.env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return sample{}, err
	}
	var cat *exec.Cmd
	if r.input != "" {
		cat = exec.Command("cat", r.input)
		in, err := cat.StdoutPipe()
		if err != nil {
			return sample{}, err
		}
		cmd.Stdin = in.(*os.File)
		if err := cat.Start(); err != nil {
			return sample{}, err
		}
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return sample{}, err
	}
	// With a smaller buffer, the writer would wait for the reader more often.
	buf := make([]byte, 1<<20)
	for {
		n, err := out.Read(buf)
		to.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return sample{}, err
		}
	}
	err = cmd.Wait()
	wall := time.Since(start).Seconds()
	if cat != nil {
		if failed := cat.Wait(); failed != nil {
			err = failed
		}
	}
	if err != nil {
		return sample{}, err
	}
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return sample{wall, cpu, float64(usage.Maxrss) / 1024}, nil
}
