package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/sortid/sortid/internal/words"
)

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     string     `xml:"time,attr"`
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

// JUnit writes reports as XML: a suite for each source, a case for each check. Unless duplicates is
// nil, a last suite has its outcome.
func JUnit(w io.Writer, rs []*Report, duplicates *Unique) error {
	all := suites{Name: "sortid verify"}
	for _, r := range rs {
		s := suite{Name: r.Format + " " + source(r), Time: fmt.Sprintf("%.3f", r.Elapsed.Seconds())}
		for _, c := range r.Checks {
			t := testcase{Class: "verify." + r.Format + "." + c.Group(), Name: c.Name + ": " +
				c.Title}
			switch c.Status {
			case Fail:
				t.Failure = &failure{c.Name, orElse(found(c), c.Title), lines(c)}
				s.Failures++
			case Skip:
				t.Skipped = &skipped{c.Detail}
				s.Skipped++
			case Warn:
				t.Output = "warning: " + found(c) + "\n" + lines(c)
			}
			s.Tests++
			s.Cases = append(s.Cases, t)
		}
		all.add(s)
	}
	if duplicates != nil {
		all.add(uniqueSuite(duplicates))
	}
	return all.write(w)
}

func uniqueSuite(r *Unique) suite {
	class := "verify." + r.Format + ".unique"
	s := suite{Name: r.Format + " unique", Time: fmt.Sprintf("%.3f", r.Elapsed.Seconds())}
	for _, src := range r.Sources {
		t := testcase{Class: class, Name: src.Name}
		var faults []string
		if src.Error != "" {
			faults = append(faults, "cannot be read to its end: "+src.Error)
		}
		if src.Bad > 0 {
			faults = append(faults, words.Plural(src.Bad, "line")+" that hold no ID")
		}
		if len(faults) > 0 {
			t.Failure = &failure{"unique.source", strings.Join(faults, "; "),
				lines(Outcome{Examples: src.Examples})}
			s.Failures++
		}
		s.Cases = append(s.Cases, t)
	}
	t := testcase{Class: class, Name: "each ID is on one line"}
	switch {
	case r.Interrupted && r.Duplicates == 0:
		t.Skipped = &skipped{uniqueVerdict(r)}
		s.Skipped++
	case r.Duplicates > 0 || r.IDs == 0:
		text := ""
		for _, d := range r.First {
			text += d.Text + ": " + places(d) + "\n"
		}
		for _, c := range r.Clashes {
			text += "node ID " + c.Node + ": " + c.Sources[0] + ", " + c.Sources[1] + "\n"
		}
		t.Failure = &failure{"unique.duplicates", uniqueVerdict(r), text}
		s.Failures++
	}
	s.Cases = append(s.Cases, t)
	s.Tests = len(s.Cases)
	return s
}

func (all *suites) add(s suite) {
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Skipped += s.Skipped
	all.Suites = append(all.Suites, s)
}

func (all *suites) write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func lines(c Outcome) string {
	var b strings.Builder
	for _, e := range c.Examples {
		b.WriteString(example(e) + "\n")
	}
	return b.String()
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
