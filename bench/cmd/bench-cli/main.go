// The command bench-cli times whole runs of bin/sortid: lines made to a pipe, lines read
// from a pipe. It prints a table and writes docs/benchmarks-cli.md. "A CPU second" counts
// what all of the command's threads used, the kernel's part included.
//
//	go run ./cmd/bench-cli [-count 5] [-lines 20000000]
package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sortid/sortid/bench/internal/report"
)

// A run is one command line; its input, if any, is a file that cat feeds it by a pipe.
type run struct {
	title   string
	program string // the command if it is empty
	env     []string
	args    []string
	input   string
	lines   int
}

type result struct {
	wall, cpu time.Duration
	rss       int64 // KiB
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench-cli: ")
	count := flag.Int("count", 5, "repetitions of each command; the table gives the fastest")
	lines := flag.Int("lines", 20_000_000, "lines of the long streams")
	bin := flag.String("bin", "../bin/sortid", "the command")
	docs := flag.String("docs", "../docs", "the folder for benchmarks-cli.md")
	flag.Parse()

	path, err := filepath.Abs(*bin)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "bench-cli-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	runs, err := prepare(path, dir, *lines)
	var scans []run
	var size int64
	if err == nil {
		scans, size, err = prepareLog(path, dir, *lines/8)
	}
	if err == nil {
		err = measure(path, *docs, runs, scans, size, *count)
	}
	if err != nil {
		log.Print(err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

// prepare makes the input files.
func prepare(bin, dir string, lines int) (runs []run, err error) {
	n := fmt.Sprint(lines)
	for _, s := range []string{"scru64", "scru128", "scru160", "euid"} {
		args := []string{"new", s, "-n", n}
		if s == "scru64" {
			args = append(args, "--node", "0/1", "--allowance", "1h")
		}
		runs = append(runs, run{title: strings.Join(append([]string{"sortid"}, args...), " "), args: args, lines: lines})
	}
	file := filepath.Join(dir, "ids")
	if err := write(bin, file, lines); err != nil {
		return nil, err
	}
	part := filepath.Join(dir, "part")
	if err := write(bin, part, lines/10); err != nil {
		return nil, err
	}
	runs = append(runs,
		run{title: "sortid inspect -o json", args: []string{"inspect", "-o", "json", "-"}, input: part, lines: lines / 10},
		run{title: "sortid convert --to hex", args: []string{"convert", "--to", "hex", "-"}, input: part, lines: lines / 10},
		run{title: "sortid verify scru128", args: []string{"verify", "scru128", "-"}, input: file, lines: lines},
	)
	// Ten sources with generators of their own.
	unique := run{title: "sortid verify scru128 --unique (ten files)", args: []string{"verify", "scru128", "--unique"}, lines: 10 * (lines / 2)}
	for i := range 10 {
		f := filepath.Join(dir, fmt.Sprintf("source%d", i))
		if err := write(bin, f, lines/2); err != nil {
			return nil, err
		}
		unique.args = append(unique.args, f)
	}
	return append(runs, unique), nil
}

// prepareLog makes a log of which every second line holds an ID, and returns its size.
func prepareLog(bin, dir string, lines int) (runs []run, size int64, err error) {
	ids := filepath.Join(dir, "logged")
	if err := write(bin, ids, lines/2); err != nil {
		return nil, 0, err
	}
	in, err := os.Open(ids)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	file := filepath.Join(dir, "log")
	out, err := os.Create(file)
	if err != nil {
		return nil, 0, err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	scanner := bufio.NewScanner(in)
	for i := 0; scanner.Scan(); i++ {
		at := time.UnixMilli(1_795_000_000_000 + int64(i)*7).UTC().Format("2006-01-02T15:04:05.000Z")
		fmt.Fprintf(w, "%s INFO  http: request served method=GET path=/v1/orders/%s status=200 bytes=%d duration=12.4ms\n"+
			"%s DEBUG cache: lookup key=user:%d hit=true shard=7 took=0.3ms goroutine=42 worker=pool-3\n", at, scanner.Bytes(), i%90_000, at, i%1_000_000)
	}
	if err := cmp.Or(scanner.Err(), w.Flush()); err != nil {
		return nil, 0, err
	}
	info, err := out.Stat()
	if err != nil {
		return nil, 0, err
	}
	for _, output := range []string{"annotate", "lines", "ids"} {
		runs = append(runs, run{title: "sortid scan -o " + output, args: []string{"scan", "-o", output, file}})
	}
	const pattern = "[0-9A-Za-z_-]{9,40}"
	if grep, err := exec.LookPath("grep"); err == nil {
		runs = append(runs, run{title: "LC_ALL=C grep -oE '" + pattern + "'", program: grep, env: []string{"LC_ALL=C"}, args: []string{"-oE", pattern, file}})
	}
	return runs, info.Size(), nil
}

func write(bin, file string, lines int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(bin, "new", "scru128", "-n", fmt.Sprint(lines))
	cmd.Stdout, cmd.Stderr = f, os.Stderr
	return cmd.Run()
}

// fastest runs a command several times and returns the run with the least processor time.
func fastest(bin string, r run, count int) (result, error) {
	var results []result
	for range count {
		res, err := once(bin, r)
		if err != nil {
			return res, fmt.Errorf("%s: %w", r.title, err)
		}
		results = append(results, res)
	}
	return slices.MinFunc(results, func(a, b result) int { return cmp.Compare(a.cpu, b.cpu) }), nil
}

func measure(bin, docs string, runs, scans []run, size int64, count int) error {
	var md strings.Builder
	fmt.Fprintf(&md, `# Benchmarks of the command

Written by `+"`make bench-cli`"+`; do not edit. Output goes to a pipe, input comes from one; of %d
repetitions the one with the least processor time counts. A CPU second counts what all threads used, the
kernel's part included.

Machine: %s, %d processors, %s/%s, %s.

| Command | Million lines | per second | per CPU second | Peak memory, MB |
|---|--:|--:|--:|--:|
`, count, report.Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, r := range runs {
		best, err := fastest(bin, r, count)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("| `%s` | %.1f | %.1f | %.1f | %.0f |\n", r.title, float64(r.lines)/1e6,
			float64(r.lines)/1e6/best.wall.Seconds(), float64(r.lines)/1e6/best.cpu.Seconds(), float64(best.rss)/1024)
		fmt.Print(line)
		md.WriteString(line)
	}
	head := fmt.Sprintf(`
## IDs in a log

A log of %d MB, of which every second line holds an ID of scru128; the output goes to a pipe. Both programs read the same
file, one after the other.

| Command | MB per second | MB per CPU second | Peak memory, MB |
|---|--:|--:|--:|
`, size/1e6)
	fmt.Print(head)
	md.WriteString(head)
	for _, r := range scans {
		best, err := fastest(bin, r, count)
		if err != nil {
			return err
		}
		mb := float64(size) / 1e6
		line := fmt.Sprintf("| `%s` | %.0f | %.0f | %.0f |\n", r.title, mb/best.wall.Seconds(), mb/best.cpu.Seconds(), float64(best.rss)/1024)
		fmt.Print(line)
		md.WriteString(line)
	}
	return os.WriteFile(filepath.Join(docs, "benchmarks-cli.md"), []byte(md.String()), 0o644)
}

func once(bin string, r run) (result, error) {
	cmd := exec.Command(cmp.Or(r.program, bin), r.args...)
	cmd.Env = append(os.Environ(), r.env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return result{}, err
	}
	var cat *exec.Cmd
	if r.input != "" {
		cat = exec.Command("cat", r.input)
		in, err := cat.StdoutPipe()
		if err != nil {
			return result{}, err
		}
		cmd.Stdin = in.(*os.File)
		if err := cat.Start(); err != nil {
			return result{}, err
		}
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return result{}, err
	}
	// More than a pipe holds: small reads would wake the writer often, which costs it
	// time that is the reader's fault.
	buf := make([]byte, 1<<20)
	for {
		if _, err := out.Read(buf); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return result{}, err
		}
	}
	err = cmd.Wait()
	wall := time.Since(start)
	if cat != nil {
		if err := cat.Wait(); err != nil {
			return result{}, err
		}
	}
	if err != nil {
		return result{}, err
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return result{
		wall: wall,
		cpu:  cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		rss:  usage.Maxrss,
	}, nil
}
