package report

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/sortid/sortid/internal/words"
)

// In JSON, counts, sizes and seconds are numbers, and IDs are strings.

type jsonReport struct {
	Format  string     `json:"format"`
	Source  string     `json:"source"`
	Status  Status     `json:"status"`
	Verdict string     `json:"verdict"`
	Bytes   uint64     `json:"bytes"`
	Lines   uint64     `json:"lines"`
	IDs     uint64     `json:"ids"`
	First   string     `json:"first,omitempty"`
	Last    string     `json:"last,omitempty"`
	Seconds float64    `json:"seconds"`
	Facts   []Fact     `json:"facts"`
	Checks  []Outcome  `json:"checks"`
	Fields  []Field    `json:"fields"`
	Lead    []jsonLead `json:"lead,omitempty"`
}

type jsonLead struct {
	At      string  `json:"at"`
	Seconds float64 `json:"seconds"`
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return words.Time(t)
}

// list returns a copy that is not nil, so that JSON has [] and never null.
func list[T any](l []T) []T { return append([]T{}, l...) }

// JSON writes a report as one object on one line.
func JSON(w io.Writer, r *Report) error {
	var lead []jsonLead
	for _, l := range r.Lead {
		lead = append(lead, jsonLead{stamp(l.At), l.Ahead.Seconds()})
	}
	return json.NewEncoder(w).Encode(jsonReport{r.Format, source(r), r.Status, verdict(r), r.Bytes,
		r.Lines, r.IDs, stamp(r.First), stamp(r.Last), r.Elapsed.Seconds(), list(r.Facts),
		r.Checks, list(r.Fields), lead})
}

type jsonUnique struct {
	Format      string   `json:"format"`
	Status      Status   `json:"status"`
	Verdict     string   `json:"verdict"`
	IDs         uint64   `json:"ids"`
	Compared    uint64   `json:"compared"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Duplicates  uint64   `json:"duplicates"`
	Extra       uint64   `json:"extra_lines"`
	Seconds     float64  `json:"seconds"`
	Sources     []Source `json:"sources"`
	Clashes     []Clash  `json:"clashes,omitempty"`
}

// UniqueJSON writes the outcome of a search, without its duplicates, as one object on one line.
func UniqueJSON(w io.Writer, r *Unique) error {
	return json.NewEncoder(w).Encode(jsonUnique{r.Format, r.Status, uniqueVerdict(r), r.IDs,
		r.Compared, r.Interrupted, r.Duplicates, r.Extra, r.Elapsed.Seconds(), list(r.Sources),
		r.Clashes})
}

// DuplicateJSON writes a duplicate as one object on one line.
func DuplicateJSON(w io.Writer, d Duplicate) error { return json.NewEncoder(w).Encode(d) }

// DuplicateText writes a duplicate as one line: the ID and its places.
func DuplicateText(w io.Writer, d Duplicate) error {
	b := []byte(d.Text)
	for _, p := range d.Places {
		b = append(append(b, '\t'), p.Source...)
		b = strconv.AppendUint(append(b, ':'), p.Line, 10)
	}
	if left := d.Count - uint64(len(d.Places)); left > 0 {
		b = append(b, "\tand "+words.Count(left)+" more"...)
	}
	_, err := w.Write(append(b, '\n'))
	return err
}
