package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sortid/sortid/dev/bench"
	"github.com/sortid/sortid/scru128"
)

// A pair is a command of sortid, and other programs that do the same. If there are several, the
// slowest counts.
type pair struct {
	title string
	ours  run
	peers []run
	goal  float64 // of the ratio of the times
	other bool    // the peers print something else, or in another order
}

// measurePairs runs the two sides of each pair in turn.
func measurePairs(lines io.Writer, bin, dir string, n, count int) error {
	pairs, err := floors(bin, dir, n/10)
	if err != nil {
		return err
	}
	logs, err := logPairs(dir, n/40)
	if err != nil {
		return err
	}
	for _, p := range append(pairs, logs...) {
		if err := p.measure(lines, bin, count); err != nil {
			return fmt.Errorf("%s: %w", p.title, err)
		}
	}
	return nil
}

func (p *pair) measure(lines io.Writer, bin string, count int) error {
	for _, r := range p.peers {
		if _, err := exec.LookPath(r.program); err != nil {
			fmt.Fprintf(os.Stderr, "skipped: %s: %v\n", p.title, err)
			return nil
		}
	}
	// This also reads the input into memory.
	want := crc32.NewIEEE()
	if _, err := p.ours.start(bin, want); err != nil {
		return err
	}
	for _, r := range p.peers {
		got := crc32.NewIEEE()
		if _, err := r.start(bin, got); err != nil {
			return err
		}
		if !p.other && got.Sum32() != want.Sum32() {
			return fmt.Errorf("%s %q prints something else", r.program, r.args)
		}
	}
	bench.Write(lines, "Goals", p.title, p.goal, "ratio")
	for range count {
		ours, err := p.ours.start(bin, io.Discard)
		if err != nil {
			return err
		}
		var slowest sample
		for _, r := range p.peers {
			s, err := r.start(bin, io.Discard)
			if err != nil {
				return err
			}
			if s.wall > slowest.wall {
				slowest = s
			}
		}
		bench.Write(lines, "Pairs", p.title, ours.wall/slowest.wall, "ratio",
			ours.cpu/slowest.cpu, "cpu-ratio", ours.cpu/ours.wall, "cpu/wall", ours.peak, "MB-peak")
	}
	return nil
}

// floors compares with command floor.
func floors(bin, dir string, lines int) (pairs []pair, err error) {
	floor := filepath.Join(dir, "floor")
	build := exec.Command("go", "build", "-o", floor, "./bench/floor")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	ids := filepath.Join(dir, "pairs")
	if err := writeIDs(bin, ids, lines); err != nil {
		return nil, err
	}
	add := func(goal float64, title string, work []string, args ...string) {
		pairs = append(pairs, pair{title: title + ", floor", goal: goal,
			ours:  run{args: append(args, "-"), input: ids},
			peers: []run{{program: floor, args: work, input: ids}}})
	}
	const named = "--format=scru128"
	for _, a := range []struct {
		title  string
		format []string
		goal   float64 // for JSON
	}{{"named", []string{named}, 2.5}, {"guessed", nil, 5}} {
		args := append([]string{"inspect", "-o", "json"}, a.format...)
		end, err := jsonEnd(bin, args)
		if err != nil {
			return nil, err
		}
		add(a.goal, "inspect -o json, "+a.title, []string{"json", end}, args...)
		add(a.goal+1, "inspect -o short, "+a.title, []string{"short"},
			append([]string{"inspect", "-o", "short"}, a.format...)...)
	}
	for _, to := range []string{"text", "hex", "int", "uuid"} {
		add(1.35, "convert --to "+to, []string{to}, "convert", "--to", to, named)
	}
	add(2.2, "convert --to time", []string{"time"}, "convert", "--to", "time", named)
	return pairs, nil
}

// jsonEnd returns what follows the input in the JSON object of an ID. It is the same for all IDs of
// the format.
func jsonEnd(bin string, args []string) (string, error) {
	id := scru128.NewString()
	object, err := exec.Command(bin, append(args, id)...).Output()
	_, end, ok := bytes.Cut(object, []byte(`"input":"`+id))
	if err == nil && !ok {
		err = fmt.Errorf("no input in %s", object)
	}
	return strings.TrimSpace(string(end)), err
}

// A logKind is a log that services write. The second argument of line is the number of the line.
type logKind struct {
	name string
	goal float64
	line func(w *bufio.Writer, id string, i int, r *rand.Rand)
}

var logKinds = []logKind{
	{"nginx", 0.7, func(w *bufio.Writer, id string, i int, _ *rand.Rand) {
		fmt.Fprintf(w, "10.0.%d.%d - - [%s] \"GET /v1/orders/%s?page=%d HTTP/1.1\" 200 %d \"-\" "+
			"\"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36\" 0.%03d\n", i%250, i%199,
			logTime(i), id, i%90, i%90_000, i%1000)
	}},
	{"Java", 0.7, func(w *bufio.Writer, id string, i int, _ *rand.Rand) {
		fmt.Fprintf(w, "%s INFO  [http-nio-8080-exec-%d] com.example.orders.OrderService - "+
			"Processed order orderId=%s customer=%d\n", logTime(i), i%20, id, i)
		fmt.Fprintf(w, "\tat com.example.orders.OrderService.process(OrderService.java:%d)\n", i%400)
	}},
	{"PostgreSQL", 0.7, func(w *bufio.Writer, id string, i int, r *rand.Rand) {
		fmt.Fprintf(w, "%s UTC [%d] app@shop LOG:  duration: %d.123 ms  execute <unnamed>: SELECT "+
			"* FROM orders WHERE id = '%s' AND digest = '\\x%016x%016x'\n", logTime(i), i%9999, i%50,
			id, r.Uint64(), r.Uint64())
	}},
	{"JSON with trace IDs", 1, func(w *bufio.Writer, id string, i int, r *rand.Rand) {
		fmt.Fprintf(w, `{"ts":%q,"level":"info","trace_id":"%016x%016x","span_id":"%016x",`+
			`"msg":"order done","order":%q,"n":%d}`+"\n", logTime(i), r.Uint64(), r.Uint64(),
			r.Uint64(), id, i)
	}},
	{"binary", 1, func(w *bufio.Writer, id string, _ int, r *rand.Rand) {
		for range 25 {
			var b [8]byte
			for i := range b { // without the byte 0, which ends the search
				b[i] = byte(1 + r.IntN(255))
			}
			w.Write(b[:])
		}
		fmt.Fprintf(w, " %s\n", id)
	}},
}

func logTime(i int) string {
	return time.UnixMilli(1_795_000_000_000 + int64(i)*7).UTC().Format("2006-01-02T15:04:05.000Z")
}

// logPairs compares with ripgrep, decompressors and sort.
func logPairs(dir string, lines int) (pairs []pair, err error) {
	rg := func(file string) run {
		return run{program: "rg", args: []string{"--no-config", "--text", "--no-line-number", "-o",
			`(?-u)\b[0-9a-z]{25}\b`, file}}
	}
	scan := func(file string, args ...string) run { return run{args: append(args, file)} }
	ids := filepath.Join(dir, "pairs")
	for _, kind := range logKinds {
		file := filepath.Join(dir, strings.ToLower(strings.Fields(kind.name)[0]))
		r := rand.New(rand.NewPCG(1, 2))
		if err := rewrite(file, ids, func(w *bufio.Writer, id string, i int) bool {
			kind.line(w, id, i, r)
			return i+1 < lines
		}); err != nil {
			return nil, err
		}
		pairs = append(pairs, pair{title: "scan --only-matching, " + kind.name + ", rg -o",
			ours: scan(file, "scan", "--only-matching"), peers: []run{rg(file)}, goal: kind.goal})
	}
	nginx := filepath.Join(dir, "nginx")
	pairs = append(pairs,
		pair{title: "scan -o json, nginx, rg -o", ours: scan(nginx, "scan", "-o", "json"),
			peers: []run{rg(nginx)}, goal: 2, other: true},
		pair{title: "scan, nginx, rg -o", ours: scan(nginx, "scan"), peers: []run{rg(nginx)},
			goal: 1.4, other: true})
	for _, program := range []string{"gzip", "zstd"} {
		file := nginx + "." + program
		if err := exec.Command("sh", "-c", program+" -c "+nginx+" >"+file).Run(); err != nil {
			fmt.Fprintf(os.Stderr, "skipped: scan of %s: %v\n", program, err)
			continue
		}
		pairs = append(pairs, pair{title: "scan --only-matching, " + program +
			", the slower of decompressor and rg", ours: scan(file, "scan", "--only-matching"),
			peers: []run{{program: program, args: []string{"-dc", file}}, rg(nginx)}, goal: 1.3,
			other: true})
	}
	ordered, shuffled := filepath.Join(dir, "ordered"), filepath.Join(dir, "shuffled")
	if err := rewrite(ordered, ids, func(w *bufio.Writer, id string, i int) bool {
		fmt.Fprintf(w, "%s INFO order processed customer=%d total=%d.00 EUR\n", id, i*7%9999, i)
		return true
	}); err != nil {
		return nil, err
	}
	err = exec.Command("shuf", "-o", shuffled, ordered).Run()
	return append(pairs, pair{title: "sort, LC_ALL=C sort -k1", ours: run{args: []string{"sort",
		shuffled}}, peers: []run{{program: "sort", env: []string{"LC_ALL=C"}, args: []string{"-k1",
		shuffled}}}, goal: 1.05, other: true}), err
}

// rewrite writes a file from the lines of another file. The function write returns false at the
// end. No list of lines is in memory, because a program's peak on Linux includes the memory of its
// parent at the start.
func rewrite(name, from string, write func(w *bufio.Writer, line string, i int) bool) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	lines := bufio.NewScanner(in)
	for i := 0; lines.Scan() && write(w, lines.Text(), i); i++ {
	}
	return errors.Join(lines.Err(), w.Flush(), f.Close())
}
