package report

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
)

// In JSON, counts, sizes and seconds are numbers; IDs are strings.

type jsonReport struct {
	Format  string      `json:"format"`
	Source  string      `json:"source"`
	Status  string      `json:"status"`
	Verdict string      `json:"verdict"`
	Bytes   uint64      `json:"bytes"`
	Lines   uint64      `json:"lines"`
	IDs     uint64      `json:"ids"`
	First   string      `json:"first,omitempty"`
	Last    string      `json:"last,omitempty"`
	Seconds float64     `json:"seconds"`
	Facts   []jsonFact  `json:"facts"`
	Checks  []jsonCheck `json:"checks"`
	Fields  []jsonField `json:"fields"`
	Lead    []jsonLead  `json:"lead,omitempty"`
}

type jsonFact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type jsonCheck struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Status   string        `json:"status"`
	Count    uint64        `json:"count"`
	Detail   string        `json:"detail,omitempty"`
	Examples []jsonExample `json:"examples,omitempty"`
}

type jsonExample struct {
	Line uint64 `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
	Note string `json:"note,omitempty"`
}

type jsonField struct {
	Name     string    `json:"name"`
	Width    int       `json:"width"`
	Values   uint64    `json:"values"`
	Tests    int       `json:"tests"`
	P        float64   `json:"p"`
	Adjusted float64   `json:"p_adjusted"`
	Worst    string    `json:"worst,omitempty"`
	Bias     float64   `json:"detectable_bias"`
	Ones     []float64 `json:"ones"`
}

type jsonLead struct {
	At      string  `json:"at"`
	Seconds float64 `json:"seconds"`
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return format.FormatTime(t)
}

// JSON writes a report as one object on a line.
func JSON(w io.Writer, r *Report) error {
	out := jsonReport{
		Format: r.Format, Source: source(r), Status: string(r.Status), Verdict: verdict(r),
		Bytes: r.Bytes, Lines: r.Lines, IDs: r.IDs, First: stamp(r.First), Last: stamp(r.Last),
		Seconds: r.Elapsed.Seconds(),
		Facts:   []jsonFact{}, Fields: []jsonField{},
	}
	for _, f := range r.Facts {
		out.Facts = append(out.Facts, jsonFact(f))
	}
	for _, c := range r.Checks {
		j := jsonCheck{Name: c.Name, Title: c.Title, Status: string(c.Status), Count: c.Count,
			Detail: c.Detail}
		j.Examples = jsonExamples(c.Examples)
		out.Checks = append(out.Checks, j)
	}
	for _, f := range r.Fields {
		out.Fields = append(out.Fields, jsonField{
			Name: f.Name, Width: f.Width, Values: f.Values, Tests: f.Tests,
			P: f.P, Adjusted: f.Adjusted, Worst: f.Worst, Bias: f.Bias,
			Ones: append([]float64{}, f.Ones...),
		})
	}
	for _, l := range r.Lead {
		out.Lead = append(out.Lead, jsonLead{stamp(l.At), l.Ahead.Seconds()})
	}
	return json.NewEncoder(w).Encode(out)
}

func jsonExamples(es []Example) (out []jsonExample) {
	for _, e := range es {
		out = append(out, jsonExample(e))
	}
	return out
}

type jsonUnique struct {
	Format      string       `json:"format"`
	Status      string       `json:"status"`
	Verdict     string       `json:"verdict"`
	IDs         uint64       `json:"ids"`
	Compared    uint64       `json:"compared"`
	Interrupted bool         `json:"interrupted,omitempty"`
	Duplicates  uint64       `json:"duplicates"`
	Extra       uint64       `json:"extra_lines"`
	Seconds     float64      `json:"seconds"`
	Sources     []jsonSource `json:"sources"`
	Clashes     []jsonClash  `json:"clashes,omitempty"`
}

type jsonSource struct {
	Name     string        `json:"name"`
	Lines    uint64        `json:"lines"`
	IDs      uint64        `json:"ids"`
	Bad      uint64        `json:"bad_lines"`
	Copied   bool          `json:"sorted_on_disk"`
	Node     string        `json:"node,omitempty"`
	Error    string        `json:"error,omitempty"`
	Examples []jsonExample `json:"examples,omitempty"`
}

type jsonClash struct {
	Sources    [2]string `json:"sources"`
	Node       string    `json:"node"`
	Duplicates uint64    `json:"duplicates"`
}

// UniqueJSON writes a search's outcome as one object on a line. [DuplicateJSON] writes the
// duplicates.
func UniqueJSON(w io.Writer, r *Unique) error {
	out := jsonUnique{
		Format: r.Format, Status: string(r.Status), Verdict: uniqueVerdict(r),
		IDs: r.IDs, Compared: r.Compared, Interrupted: r.Interrupted, Duplicates: r.Duplicates,
		Extra: r.Extra, Seconds: r.Elapsed.Seconds(),
		Sources: []jsonSource{},
	}
	for _, s := range r.Sources {
		out.Sources = append(out.Sources, jsonSource{
			Name: s.Name, Lines: s.Lines, IDs: s.IDs, Bad: s.Bad, Copied: s.Copied,
			Node: s.Node, Error: s.Error, Examples: jsonExamples(s.Examples),
		})
	}
	for _, c := range r.Clashes {
		out.Clashes = append(out.Clashes, jsonClash(c))
	}
	return json.NewEncoder(w).Encode(out)
}

type jsonDuplicate struct {
	Duplicate string      `json:"duplicate"`
	Count     uint64      `json:"count"`
	Places    []jsonPlace `json:"places"`
}

type jsonPlace struct {
	Source string `json:"source"`
	Line   uint64 `json:"line"`
}

// DuplicateJSON writes a duplicate as an object on a line.
func DuplicateJSON(w io.Writer, d Duplicate) error {
	out := jsonDuplicate{Duplicate: d.Text, Count: d.Count}
	for _, p := range d.Places {
		out.Places = append(out.Places, jsonPlace(p))
	}
	return json.NewEncoder(w).Encode(out)
}

// DuplicateText writes a duplicate as a line: the ID and its places.
func DuplicateText(w io.Writer, d Duplicate) error {
	b := []byte(d.Text)
	for _, p := range d.Places {
		b = append(b, '\t')
		b = append(b, p.Source...)
		b = append(b, ':')
		b = strconv.AppendUint(b, p.Line, 10)
	}
	if left := d.Count - uint64(len(d.Places)); left > 0 {
		b = append(b, "\tand "+words.Count(left)+" more"...)
	}
	_, err := w.Write(append(b, '\n'))
	return err
}
