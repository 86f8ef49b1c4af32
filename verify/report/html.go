package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/words"
)

//go:embed page.html
var page string

var tmpl = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"source": source, "verdict": verdict, "volume": volume, "found": found, "example": example,
		"bias": bias, "smallest": smallest, "count": words.Count, "timeline": timelineChart,
		"bits": bitsChart, "tested": tested, "lead": leadChart,
		"groups": func() any { return Groups() }, "in": checksIn,
		"uniqueVerdict": uniqueVerdict, "uniqueVolume": uniqueVolume, "places": places,
		"left": left, "clash": clash, "sourceNotes": sourceNotes,
		"faults": func(s Source) []string { return s.faults("ID") },
	}).Parse(page))
})

// HTML writes reports as one page without scripts or other files. The parameter duplicates may be
// nil. Then the page has nothing about duplicates.
func HTML(w io.Writer, rs []*Report, duplicates *Unique) error {
	return tmpl().Execute(w, struct {
		Title   string
		Reports []*Report
		Unique  *Unique
	}{pageTitle(rs, duplicates), rs, duplicates})
}

// pageTitle says the outcome.
func pageTitle(rs []*Report, duplicates *Unique) string {
	if len(rs) == 0 && duplicates != nil {
		return marks[duplicates.Status].word + ": " + uniqueVerdict(duplicates)
	}
	if len(rs) == 1 && duplicates == nil {
		return marks[rs[0].Status].word + ": " + source(rs[0]) + ", " + verdict(rs[0])
	}
	status, failed := Pass, 0
	for _, r := range rs {
		if r.Status == Fail {
			status, failed = Fail, failed+1
		} else if r.Status == Warn && status == Pass {
			status = Warn
		}
	}
	title := fmt.Sprintf("%d of %s failed", failed, words.Plural(uint64(len(rs)), "source"))
	if duplicates != nil {
		if title += ", " + uniqueVerdict(duplicates); duplicates.Status != Pass && status != Fail {
			status = duplicates.Status
		}
	}
	return marks[status].word + ": " + title
}

const chartWidth, chartHeight = 720.0, 140.0

type chart struct {
	Label     string
	Bars      []bar
	Lines     []line
	Curve     string // points
	Right     float64
	High, Low string // labels at the left
	From, To  string // labels below
}

type bar struct {
	X, Y, Width, Height float64
	Class, Title        string
}

// A line is horizontal, from the left edge to the chart's Right.
type line struct {
	Y           float64
	Class, Text string
}

func timelineChart(t Timeline) *chart {
	most := uint64(0)
	for _, n := range t.Count {
		most = max(most, n)
	}
	if most == 0 {
		return nil
	}
	c := &chart{Label: "IDs over time", Right: chartWidth, High: words.Count(most), Low: "0",
		From: words.Time(t.Start), To: "each bar " + t.Step.String(),
		Lines: []line{{chartHeight, "axis", ""}}}
	width := chartWidth / float64(len(t.Count))
	for i, n := range t.Count {
		if n == 0 {
			continue
		}
		h := chartHeight * float64(n) / float64(most)
		at := time.UnixMilli(t.Start.UnixMilli() + int64(i)*t.Step.Milliseconds())
		c.Bars = append(c.Bars, bar{float64(i) * width, chartHeight - h, max(width*0.9, 0.5), h,
			"bar", words.Time(at) + ": " + words.Plural(n, "ID")})
	}
	return c
}

func bitsChart(f Field) *chart {
	if len(f.Ones) == 0 {
		return nil
	}
	const limit = 6.5 // in standard deviations; more is a fault
	width := min(chartWidth/float64(len(f.Ones)), 40)
	y := func(d float64) float64 { return chartHeight/2 - d/(limit*1.2)*chartHeight/2 }
	c := &chart{Label: "balance of the bits of " + f.Name, Right: width * float64(len(f.Ones)),
		From: fmt.Sprintf("bit %d", len(f.Ones)-1), To: "bit 0",
		Lines: []line{{y(0), "axis", ""}, {y(-limit), "limit", fmt.Sprintf("−%.1f σ", limit)},
			{y(limit), "limit", fmt.Sprintf("+%.1f σ", limit)}}}
	for i, share := range f.Ones {
		d := (share - 0.5) * 2 * math.Sqrt(float64(f.Values))
		class := "bar"
		if math.Abs(d) > limit {
			class = "bad"
		}
		shown := max(-limit*1.2, min(limit*1.2, d))
		c.Bars = append(c.Bars, bar{float64(i) * width, min(y(shown), y(0)), width * 0.9,
			math.Abs(y(shown)-y(0)) + 0.5, class,
			fmt.Sprintf("bit %d is 1 in %.4f%% of the values, %.1f standard deviations from one half",
				len(f.Ones)-1-i, 100*share, d)})
	}
	return c
}

func leadChart(points []Lead) *chart {
	if len(points) < 2 {
		return nil
	}
	low, high := 0.0, 0.0
	for _, p := range points {
		low, high = min(low, p.Ahead.Seconds()), max(high, p.Ahead.Seconds())
	}
	if high-low < 0.001 {
		high = low + 0.001
	}
	first, last := points[0].At, points[len(points)-1].At
	length := max(last.Sub(first).Seconds(), 0.001)
	y := func(v float64) float64 { return chartHeight * (high - v) / (high - low) }
	var curve strings.Builder
	for _, p := range points {
		fmt.Fprintf(&curve, "%.1f,%.1f ", chartWidth*p.At.Sub(first).Seconds()/length,
			y(p.Ahead.Seconds()))
	}
	return &chart{Label: "how far the newest ID was ahead of the clock",
		Curve: curve.String(), Right: chartWidth,
		Lines: []line{{y(0), "axis", ""}},
		High:  fmt.Sprintf("%+.3f s", high), Low: fmt.Sprintf("%+.3f s", low),
		From: words.Time(first), To: words.Time(last)}
}
