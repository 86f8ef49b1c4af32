package main

import (
	"bufio"
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
	"github.com/sortid/sortid/format"
)

// A run is a command line. If it has an input, cat writes the input to a pipe.
type run struct {
	benchmark string // CLI, or Log if it reads the log
	title     string
	program   string // empty for bin/sortid
	env       []string
	args      []string
	input     string
	millions  float64 // millions of lines, or of bytes of the log
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
	scans, err := prepareLog(bin, dir, n/8)
	if err != nil {
		return err
	}
	for _, r := range append(runs, scans...) {
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
	for _, s := range []string{"scru64", "scru128", "scru160", "euid"} {
		args := []string{"new", s, "-n", n}
		if s == "scru64" {
			args = append(args, "--node", "0/1", "--allowance", "1h")
		}
		runs = append(runs, run{args: args, millions: millions})
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

// prepareLog writes a log that has an ID in every second line.
func prepareLog(bin, dir string, lines int) (runs []run, err error) {
	ids := filepath.Join(dir, "logged")
	if err := writeIDs(bin, ids, lines/2); err != nil {
		return nil, err
	}
	in, err := os.Open(ids)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	file := filepath.Join(dir, "log")
	out, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	scanner := bufio.NewScanner(in)
	for i := 0; scanner.Scan(); i++ {
		at := time.UnixMilli(1_795_000_000_000 + int64(i)*7).UTC().Format(
			"2006-01-02T15:04:05.000Z")
		fmt.Fprintf(w, "%s INFO  http: request served method=GET path=/v1/orders/%s "+
			"status=200 bytes=%d duration=12.4ms\n", at, scanner.Bytes(), i%90_000)
		fmt.Fprintf(w, "%s DEBUG cache: lookup key=user:%d hit=true shard=7 took=0.3ms "+
			"goroutine=42 worker=pool-3\n", at, i%1_000_000)
	}
	if err := errors.Join(scanner.Err(), w.Flush()); err != nil {
		return nil, err
	}
	info, err := out.Stat()
	if err != nil {
		return nil, err
	}
	for _, output := range []string{"annotate", "lines", "ids"} {
		args := []string{"scan", "-o", output, file}
		runs = append(runs, run{title: "sortid scan -o " + output, args: args})
	}
	var all []string
	for _, f := range format.All() {
		all = append(all, f.Name)
	}
	runs = append(runs, run{title: "sortid scan -o ids --format (all there are)",
		args: []string{"scan", "-o", "ids", "--format", strings.Join(all, ","), file}})
	const pattern = "[0-9A-Za-z_-]{9,40}"
	for _, r := range []run{
		{program: "grep", env: []string{"LC_ALL=C"}, args: []string{"-oE", pattern, file}},
		{program: "rg", args: []string{"--no-config", "-o", pattern, file}},
	} {
		r.title = strings.Join(append(append(r.env, r.program), r.args[:len(r.args)-2]...), " ") +
			" '" + pattern + "'"
		if r.program, err = exec.LookPath(r.program); err != nil {
			fmt.Fprintf(os.Stderr, "skipped: %s: it is not installed\n", r.title)
			continue
		}
		runs = append(runs, r)
	}
	for i := range runs {
		runs[i].benchmark, runs[i].millions = "Log", float64(info.Size())/1e6
	}
	return runs, nil
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
	bench.Write(lines, cmp.Or(r.benchmark, "CLI"), r.title, s.cpu, "cpu-s", r.millions, "M",
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
