package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/duplicates"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

func stream(n int, sound bool) string {
	lines := controls.SCRU128(controls.New(1, "", n, 0.5))
	for i := n - 1; i >= 0 && !sound; i-- {
		if i%1000 == 7 {
			lines[i] = "<b>&\x01\x1b[31m"
		}
		if i%100 == 50 {
			lines = slices.Insert(lines, i, strings.ToUpper(lines[i]))
		}
	}
	return strings.TrimPrefix(controls.Text(lines), "\n")
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in:\n%s", w, text)
		}
	}
}

func check(t *testing.T, n int, sound bool) *report.Report {
	r, err := verify.Check(t.Context(), "scru128", strings.NewReader(stream(n, sound)),
		verify.Options{Source: "<ids & more>", Now: func() time.Time { return controls.Now }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		n     int
		sound bool
		first string
		want  []string
	}{
		{20_000, true, "ok    <ids & more>: ",
			[]string{"checks passed\n", "scru128, 20,000 IDs in 20,000 lines", "Random fields",
				"entropy", "these tests find a bit that is 1 in", "What the IDs show", "rate"}},
		{20_000, false, "FAIL  <ids & more>: 2 of ",
			[]string{"failed\n", "\nFailed\n", "order.duplicate", "200 times", `line 52: "0`,
				"the same as in line 51", "and 195 more", "\nWarnings\n", "form.case",
				`"<b>&\x01\x1b[31m"`}},
		{1, true, "ok    ", []string{"Not checked", "too few values: 1"}},
		{0, true, "FAIL  ", []string{"input.ids", "the input is empty"}},
	} {
		var b bytes.Buffer
		if err := report.Text(&b, check(t, c.n, c.sound), report.Style{}); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if !strings.HasPrefix(got, c.first) {
			t.Errorf("begins with %.60q, want %q", got, c.first)
		}
		contains(t, got, c.want...)
		if strings.ContainsAny(got, "\x1b\x01") {
			t.Errorf("a control character in:\n%q", got)
		}
	}
}

func TestStyle(t *testing.T) {
	var b bytes.Buffer
	paint := func(tone report.Tone, s string) string { return fmt.Sprintf("<%d>%s</>", tone, s) }
	if err := report.Text(&b, check(t, 20_000, false),
		report.Style{Paint: paint, Bars: true}); err != nil {
		t.Fatal(err)
	}
	contains(t, b.String(), fmt.Sprintf("<%d>FAIL</>", report.Bad),
		fmt.Sprintf("<%d>form.case</>", report.Caution), "▁", "IDs over time")
}

func TestWidth(t *testing.T) {
	paint := func(t report.Tone, s string) string { return fmt.Sprintf("\x1b[3%dm%s\x1b[0m", t, s) }
	for _, n := range []int{0, 20_000} {
		r := check(t, n, false)
		if n > 0 { // a check with long words
			c := &r.Checks[0]
			c.Status, c.Count, c.Detail = report.Fail, 1, strings.Repeat("x", 150)
		}
		for _, bars := range []bool{false, true} {
			var whole bytes.Buffer
			if err := report.Text(&whole, r, report.Style{Paint: paint}); err != nil {
				t.Fatal(err)
			}
			for _, width := range []int{60, 80, 100} {
				var b bytes.Buffer
				if err := report.Text(&b, r, report.Style{Paint: paint, Bars: bars,
					Width: width}); err != nil {
					t.Fatal(err)
				}
				plain := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(b.String(), "")
				for line := range strings.Lines(plain) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("width %d: %d characters: %s", width, n, line)
					}
				}
				letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
				if !bars && letters(b.String()) != letters(whole.String()) {
					t.Errorf("width %d: something is lost:\n%s", width, b.String())
				}
			}
		}
	}
}

func TestWriteErrors(t *testing.T) {
	r := check(t, 100, false)
	for name, f := range map[string]func(io.Writer) error{
		"text":  func(w io.Writer) error { return report.Text(w, r, report.Style{}) },
		"json":  func(w io.Writer) error { return report.JSON(w, r) },
		"junit": func(w io.Writer) error { return report.JUnit(w, []*report.Report{r}, nil) },
		"html":  func(w io.Writer) error { return report.HTML(w, []*report.Report{r}, nil) },
	} {
		r, full := io.Pipe()
		r.CloseWithError(errFull)
		if err := f(full); err != errFull {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errFull = errors.New("the disk is full")

// numbers requires that only counts and measures are numbers.
func numbers(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, v := range v {
			numbers(t, k, v)
		}
	case []any:
		for _, v := range v {
			numbers(t, path, v)
		}
	default:
		_, number := v.(float64)
		if want := slices.Contains([]string{
			"seconds", "p", "p_adjusted", "detectable_bias", "ones", "bytes", "lines", "ids",
			"count", "line", "width", "values", "tests",
			"compared", "duplicates", "extra_lines", "bad_lines",
		}, path); number != want {
			t.Errorf("%s is %v; is it a number: %v, want %v", path, v, number, want)
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	for _, n := range []int{0, 1, 5000} {
		if err := report.JSON(&b, check(t, n, n == 1)); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3", len(lines))
	}
	for i, line := range lines {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		numbers(t, "", v)
		if want := []string{"fail", "pass", "fail"}[i]; v["status"] != want ||
			v["source"] != "<ids & more>" || v["format"] != "scru128" {
			t.Errorf("line %d: %v %v", i, v["status"], v["source"])
		}
		if len(v["checks"].([]any)) < 20 {
			t.Errorf("line %d: fewer than 20 checks: %v", i, v["checks"])
		}
	}
}

type junitSuites struct {
	Failures int `xml:"failures,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Cases    []struct {
			Failure *struct {
				Type    string `xml:"type,attr"`
				Message string `xml:"message,attr"`
			} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := report.JUnit(&b, []*report.Report{check(t, 5000, false), check(t, 5000, true),
		check(t, 1, true)}, nil); err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in:\n%s", err, b.String())
	}
	if len(got.Suites) != 3 || got.Failures != 2 || got.Suites[0].Failures != 2 ||
		got.Suites[2].Skipped == 0 {
		t.Errorf("%+v", got)
	}
	for _, s := range got.Suites {
		failures, skips := 0, 0
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
				if c.Failure.Message == "" || c.Failure.Type == "" {
					t.Errorf("%+v", c)
				}
			}
			if c.Skipped != nil {
				skips++
			}
		}
		if failures != s.Failures || skips != s.Skipped || len(s.Cases) != s.Tests {
			t.Errorf("%s: %d failures, %d skipped, %d cases, but the suite says %+v", s.Name,
				failures, skips, len(s.Cases), s)
		}
	}
}

func TestHTML(t *testing.T) {
	r := check(t, 5000, false)
	for i := range 50 {
		r.Lead = append(r.Lead, report.Lead{At: time.Now().Add(time.Duration(i) * time.Second),
			Ahead: -time.Duration(i) * time.Millisecond})
	}
	var b bytes.Buffer
	if err := report.HTML(&b, []*report.Report{r, check(t, 0, true),
		check(t, 5000, true)}, nil); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	// The page is XML, except for two elements without an end tag.
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	svgs, rects := 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "svg":
				svgs++
			case "rect":
				rects++
			case "script", "link", "img", "b>":
				t.Errorf("the page has an element %s", e.Name.Local)
			}
		}
	}
	if svgs != 1+2*(1+3) || rects < 200 {
		t.Errorf("%d pictures with %d bars", svgs, rects)
	}
	contains(t, page, "<title>FAIL: 2 of 3 sources failed</title>", "@media (max-width: 40rem) {\n  table, tbody, tr, td { display: block; }",
		"&lt;ids &amp; more&gt;", "order.duplicate", "IDs over time", "clock", "counter_lo",
		"&lt;b&gt;&amp;")
	if strings.Contains(page, "<ids") || strings.Contains(page, "http") {
		t.Error("something is not escaped, or the page loads something")
	}
}

func TestUnique(t *testing.T) {
	ids := []string{}
	for i := range scru64.ID(60) {
		ids = append(ids, (1_700_000_000_000/256<<24 | 42<<16 | i).String())
	}
	source := func(name, text string) duplicates.Source {
		return duplicates.Source{Name: name,
			Open: func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(text)), nil
			}}
	}
	all := strings.Join(ids, "\n") + "\n"
	var each bytes.Buffer
	r, err := duplicates.Find(t.Context(), "scru64", []duplicates.Source{source("a", all),
		source("b", strings.Join(ids[10:40], "\n")+"\nwhat\n")},
		duplicates.Options{NodeBits: 8, Each: func(d report.Duplicate) {
			if err := report.DuplicateJSON(&each, d); err != nil {
				t.Error(err)
			}
			if err := report.DuplicateText(&each, d); err != nil {
				t.Error(err)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(each.String(), `{"duplicate":"`+ids[10]+
		`","count":2,"places":[{"source":"a","line":11},{"source":"b","line":1}]}`+"\n"+ids[10]+
		"\ta:11\tb:1\n") {
		t.Errorf("the first duplicate: %.200s", each.String())
	}
	var b bytes.Buffer
	if err := report.UniqueText(&b, r, report.Style{}); err != nil {
		t.Fatal(err)
	}
	contains(t, b.String(), "FAIL  30 IDs on more than one line\n", ids[10]+"  a:11, b:1\n",
		"and 10 more", "Node IDs that clash", "42/8  a and b: 30 duplicates",
		"1 line without any scru64 ID", `line 31: "what"`)
	b.Reset()
	if err := report.UniqueJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil || v["duplicates"] != 30.0 ||
		v["status"] != "fail" {
		t.Errorf("%v in %s", err, b.String())
	}
	numbers(t, "", v)
	b.Reset()
	if err := report.JUnit(&b, nil, r); err != nil {
		t.Fatal(err)
	}
	var s junitSuites
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil || s.Failures != 2 ||
		s.Suites[0].Tests != 3 {
		t.Errorf("%v, %+v", err, s)
	}
	b.Reset()
	if err := report.HTML(&b, nil, r); err != nil {
		t.Fatal(err)
	}
	contains(t, b.String(), "<title>FAIL: 30 IDs on more than one line</title>", ids[10],
		"a:11, b:1", "and 10 more", "a and b: 30 duplicates", "1 line without any ID", "what")
}
