package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr,omitempty"`
	Suites   []suite    `xml:"testsuite"`
	Cases    []testcase `xml:"testcase"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *failure `xml:"failure"`
	Skipped *skipped `xml:"skipped"`
	Output  string   `xml:"system-out,omitempty"`
}

type failure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type skipped struct {
	Message string `xml:"message,attr"`
}

// JUnit writes reports as XML: a suite for each source, with a case for each check. If duplicates
// is not nil, the last suite is about duplicates.
func JUnit(w io.Writer, rs []*Report, duplicates *Unique) error {
	all := suite{Name: "sortid verify"}
	for _, r := range rs {
		var cases []testcase
		for _, c := range r.Checks {
			t := testcase{Class: "verify." + r.Format + "." + c.Group(), Name: c.Name + ": " +
				c.Title}
			switch c.Status {
			case Fail:
				t.Failure = &failure{c.Name, strings.TrimSuffix(c.Headline()+": "+found(c), ": "), lines(c.Examples)}
			case Skip:
				t.Skipped = &skipped{c.Detail}
			case Warn:
				t.Output = "warning: " + c.Headline() + ": " + found(c) + "\n" + lines(c.Examples)
			}
			cases = append(cases, t)
		}
		all.add(r.Format+" "+source(r), r.Elapsed, cases)
	}
	if r := duplicates; r != nil {
		all.add(r.Format+" unique", r.Elapsed, uniqueCases(r))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	root := xml.StartElement{Name: xml.Name{Local: "testsuites"}}
	if err := e.EncodeElement(all, root); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func uniqueCases(r *Unique) (cases []testcase) {
	class := "verify." + r.Format + ".unique"
	for _, src := range r.Sources {
		t := testcase{Class: class, Name: src.Name}
		if faults := src.faults("ID"); len(faults) > 0 {
			t.Failure = &failure{"unique.source", strings.Join(faults, "; "), lines(src.Examples)}
		}
		cases = append(cases, t)
	}
	t := testcase{Class: class, Name: "each ID is on one line"}
	switch {
	case r.Interrupted && r.Duplicates == 0:
		t.Skipped = &skipped{uniqueVerdict(r)}
	case r.Duplicates > 0 || r.IDs == 0:
		text := ""
		for _, d := range r.First {
			text += d.Text + ": " + places(d) + "\n"
		}
		for _, c := range r.Clashes {
			text += "node ID of " + c.Sources[0] + ", " + c.Sources[1] + ": " + c.Node + "\n"
		}
		t.Failure = &failure{"unique.duplicates", uniqueVerdict(r), text}
	}
	return append(cases, t)
}

func (all *suite) add(name string, elapsed time.Duration, cases []testcase) {
	s := suite{Name: name, Tests: len(cases), Time: fmt.Sprintf("%.3f", elapsed.Seconds()),
		Cases: cases}
	for _, c := range cases {
		if c.Failure != nil {
			s.Failures++
		}
		if c.Skipped != nil {
			s.Skipped++
		}
	}
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Skipped += s.Skipped
	all.Suites = append(all.Suites, s)
}

func lines(examples []Example) string {
	var b strings.Builder
	for _, e := range examples {
		b.WriteString(example(e) + "\n")
	}
	return b.String()
}
