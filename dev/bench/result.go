// Package bench compares this project with its peers in one run. Its tests measure; [Write] and
// [Read] pass the figures to command measure.
//
// A benchmark has the name of an operation, and its sub-benchmarks have the names of libraries.
package bench

import (
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// Write writes a line of Go's benchmarks for one row. Each value is followed by its unit. If a row
// has several lines, [Set.Get] summarizes them.
func Write(w io.Writer, benchmark, row string, values ...any) {
	name := "Benchmark" + benchmark + "/" + url.PathEscape(row)
	fmt.Fprintln(w, append([]any{name, 1}, values...)...)
}

// A Set has the results of benchmarks.
type Set struct {
	Config map[string]string // from "key: value" lines
	rows   map[string][]string
	values map[figure][]float64
}

type figure struct{ benchmark, row, unit string }

// Read reads lines, and skips lines without results.
func Read(r io.Reader) (*Set, error) {
	s := &Set{Config: map[string]string{}, rows: map[string][]string{}, values: map[figure][]float64{}}
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
	if !slices.Contains(s.rows[benchmark], row) {
		s.rows[benchmark] = append(s.rows[benchmark], row)
	}
	for _, v := range line.Values {
		if v.OrigUnit != "" { // benchfmt has converted the unit that was printed
			v.Value, v.Unit = v.OrigValue, v.OrigUnit
		}
		f := figure{benchmark, row, v.Unit}
		s.values[f] = append(s.values[f], v.Value)
	}
	return nil
}

// Rows returns the names of a benchmark's rows, in the order of their first lines.
func (s *Set) Rows(benchmark string) []string { return s.rows[benchmark] }

// Get returns the median of a row's values in a unit, if there are any. The spread is empty for one
// value. Otherwise it is such as "4%": the true median is in this range around the median with a
// probability of 95 %. With fewer than six values, it is "∞".
func (s *Set) Get(benchmark, row, unit string) (median float64, spread string, ok bool) {
	values := s.values[figure{benchmark, row, unit}]
	switch len(values) {
	case 0:
		return 0, "", false
	case 1:
		return values[0], "", true
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	summary := benchmath.AssumeNothing.Summary(sample, 0.95)
	return summary.Center, summary.PctRangeString(), true
}

// Value is like Get, but returns only the median, or 0 if there is no value.
func (s *Set) Value(benchmark, row, unit string) float64 {
	median, _, _ := s.Get(benchmark, row, unit)
	return median
}
