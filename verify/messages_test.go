package verify

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

// Mistakes in sentences that are made from parts.
var mistakes = map[string]*regexp.Regexp{
	"a plural of one": regexp.MustCompile(
		`(^|[ (])1 (IDs|lines|bits|ticks|values|cases|checks|times|tests|comparisons|warnings)\b`),
	"a verb in the plural with one": regexp.MustCompile(
		`(^|[ (])1 [a-z]+( \([\d.]+%\))? (are|have|were|come|change|go|do|differ)\b`),
	"a verb in the singular with several": regexp.MustCompile(
		`\w+ and (\w+_)\w+ (is|has|does|goes|continues|occurs)\b`),
	"a negative length":         regexp.MustCompile(`[ (][-−]\d[\d.,]* ?(ms|s|min|h|days|years|µs)\b`),
	"two conjunctions in a row": regexp.MustCompile(`\w+ and \w+ and \w+`),
	"a missing value":           regexp.MustCompile(`%!|<nil>|NaN`),
}

// All messages of many reports are right sentences.
func TestMessages(t *testing.T) {
	testserver.Long(t, "makes many reports")
	seen := map[string]bool{}
	text := ""
	for _, r := range manyReports(t) {
		var b bytes.Buffer
		if err := report.Text(&b, r, report.Style{}); err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Checks {
			b.WriteString(c.Title + "\n" + c.Detail + "\n") // the text has no details of passed checks
		}
		text += b.String()
		for line := range strings.Lines(b.String()) {
			line = strings.TrimSpace(line)
			for what, mistake := range mistakes {
				if found := mistake.FindString(line); found != "" && !seen[what+found] {
					seen[what+found] = true
					t.Errorf("%s in %q", what, line)
				}
			}
		}
	}
	for _, word := range []string{"timestamps lose", "timestamps gain", "behind this machine's clock",
		"expected by chance", "do not add one to counter_hi and counter_lo", "can be chance"} {
		if !strings.Contains(text, word) {
			t.Errorf("no report says %q", word)
		}
	}
}

// manyReports returns reports of broken and of sound streams, of all lengths and options.
func manyReports(t *testing.T) (all []*report.Report) {
	add := func(name string, lines []string, o Options) {
		if r, err := Check(t.Context(), name, strings.NewReader(controls.Text(lines)), o); err == nil {
			all = append(all, r)
		}
	}
	late := func() time.Time { return controls.Now.AddDate(0, 1, 0) }
	for _, c := range broken(t) {
		if c.n > 40_000 {
			continue
		}
		o := options(c.Subject)
		o.Now = late
		if c.edit != nil {
			add(c.Format, c.edit(c.Make(controls.New(7, "", c.n, c.pace))), o)
			continue
		}
		for _, n := range []int{c.n / 20, 40, 3} {
			add(c.Format, c.Make(controls.New(7, c.fault, n, c.pace)), o)
		}
	}
	for i, d := range controls.Ideals {
		lines := d.Make(1, 50, 100)
		for _, o := range []Options{{}, {Unordered: true}, {Live: true}, {NodeBits: 8}} {
			o.Now = func() time.Time { return d.Start().AddDate(0, i%3-1, 0) }
			for _, n := range []int{1, 2, 3, 100} {
				add(d.Format, append(append([]string{}, lines[:n]...), lines[0], "?"), o)
			}
		}
	}
	for _, f := range format.Ours() {
		add(f.Name(), controls.Sample(f.Name(), 1000), Options{Stateless: true, Now: late})
		for _, step := range []time.Duration{10 * time.Millisecond, time.Second} {
			all = append(all, live(t, f.Name(), step))
		}
	}
	return all
}

// live returns a report about IDs that come one by one. Each reading of the clock advances it.
func live(t *testing.T, name string, step time.Duration) *report.Report {
	var mu sync.Mutex
	clock := controls.Now
	o := Options{Live: true, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		clock = clock.Add(step)
		return clock
	}}
	lines := controls.Find(name, "").Make(controls.New(7, "", 40, 3000))
	slow := iotest.OneByteReader(strings.NewReader(controls.Text(lines)))
	r, err := Check(t.Context(), name, slow, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
