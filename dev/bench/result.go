// Package bench compares this project with its peers in one run. Its tests measure; [Write] and
// [Read] pass the figures to command measure.
//
// A benchmark has the name of an operation, and its sub-benchmarks have the names of libraries.
package bench

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// Write writes a line of Go's benchmarks for one row. Each value is followed by its unit. If a row
// has several lines, [Read] uses the line with the best first value.
func Write(w io.Writer, benchmark, row string, values ...any) {
	name := "Benchmark" + benchmark + "/" + url.PathEscape(row)
	fmt.Fprintln(w, append([]any{name, 1}, values...)...)
}

// A Set has the results of benchmarks.
type Set struct {
	Config map[string]string // from "key: value" lines
	rows   map[string][]string
	values map[[2]string][]benchfmt.Value
}

// Read reads lines, and skips lines without results.
func Read(r io.Reader) (*Set, error) {
	s := &Set{
		Config: map[string]string{}, rows: map[string][]string{},
		values: map[[2]string][]benchfmt.Value{},
	}
	lines := benchfmt.NewReader(r, "results")
	for lines.Scan() {
		if line, ok := lines.Result().(*benchfmt.Result); ok {
			if err := s.add(line); err != nil {
				return nil, err
			}
		}
	}
	return s, lines.Err()
}

func (s *Set) add(line *benchfmt.Result) error {
	name, parts := line.Name.Parts()
	for _, c := range line.Config {
		s.Config[c.Key] = string(c.Value)
	}
	var of []string
	for _, part := range parts {
		if part[0] == '/' { // the part with "-" is the number of processors
			of = append(of, strings.TrimPrefix(string(part[1:]), "lib="))
		}
	}
	row, err := url.PathUnescape(strings.Join(of, "/"))
	if err != nil {
		return fmt.Errorf("benchmark %s: %w", name, err)
	}
	benchmark := string(name)
	values := make([]benchfmt.Value, len(line.Values))
	for i, v := range line.Values {
		if v.OrigUnit != "" { // benchfmt has converted the unit that was printed
			v.Value, v.Unit = v.OrigValue, v.OrigUnit
		}
		values[i] = v
	}
	old, ok := s.values[[2]string{benchmark, row}]
	if !ok {
		s.rows[benchmark] = append(s.rows[benchmark], row)
	}
	if !ok || better(values[0], old[0]) {
		s.values[[2]string{benchmark, row}] = values
	}
	return nil
}

// better reports whether a is better than b: greater for a rate, smaller for other units.
func better(a, b benchfmt.Value) bool {
	if strings.HasSuffix(a.Unit, "/s") {
		return a.Value > b.Value
	}
	return a.Value < b.Value
}

// Rows returns the names of a benchmark's rows, in the order of their first lines.
func (s *Set) Rows(benchmark string) []string { return s.rows[benchmark] }

// Get returns the value of a row in a unit, if there is one.
func (s *Set) Get(benchmark, row, unit string) (value float64, ok bool) {
	for _, v := range s.values[[2]string{benchmark, row}] {
		if v.Unit == unit {
			return v.Value, true
		}
	}
	return 0, false
}

// Value is like Get, but returns 0 if there is no value.
func (s *Set) Value(benchmark, row, unit string) float64 {
	value, _ := s.Get(benchmark, row, unit)
	return value
}
