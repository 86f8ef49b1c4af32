package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
)

//go:embed page.html
var page string

var tmpl = template.Must(template.New("page").Funcs(template.FuncMap{
	"source": source, "verdict": verdict, "volume": volume, "found": found, "example": example,
	"bias": bias, "smallest": smallest, "count": words.Count, "timeline": timelineSVG,
	"bits": bitsSVG, "lead": leadSVG,
	"groups": func() any { return Groups }, "in": in,
}).Parse(page))

// HTML writes reports as one page without scripts or other files.
func HTML(w io.Writer, rs []*Report) error { return tmpl.Execute(w, rs) }

const chartWidth, chartHeight = 720.0, 140.0

type chart struct{ strings.Builder }

func newChart(label string) *chart {
	c := &chart{}
	fmt.Fprintf(c, `<svg viewBox="-60 -10 %.0f %.0f" role="img" aria-label="%s">`, chartWidth+80,
		chartHeight+40, template.HTMLEscapeString(label))
	return c
}

func (c *chart) text(x, y float64, anchor, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, x, y, anchor,
		template.HTMLEscapeString(text))
}

func (c *chart) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2,
		class)
}

func (c *chart) rect(x, y, width, height float64, class, title string) {
	fmt.Fprintf(
		c, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" class="%s"><title>%s</title></rect>`,
		x, y, width, height, class, template.HTMLEscapeString(title))
}

func (c *chart) end(right float64, high, low, first, last string) template.HTML {
	c.text(-6, 8, "end", high)
	c.text(-6, chartHeight, "end", low)
	c.text(0, chartHeight+18, "start", first)
	c.text(right, chartHeight+18, "end", last)
	c.WriteString("</svg>")
	return template.HTML(c.String())
}

func timelineSVG(t Timeline) template.HTML {
	most := uint64(0)
	for _, n := range t.Count {
		most = max(most, n)
	}
	if most == 0 {
		return ""
	}
	c := newChart("IDs over time")
	width := chartWidth / float64(len(t.Count))
	for i, n := range t.Count {
		if n == 0 {
			continue
		}
		h := chartHeight * float64(n) / float64(most)
		at := time.UnixMilli(t.Start.UnixMilli() + int64(i)*t.Step.Milliseconds())
		c.rect(float64(i)*width, chartHeight-h, max(width*0.9, 0.5), h, "bar",
			format.FormatTime(at)+": "+words.Plural(n, "ID"))
	}
	c.line(0, chartHeight, chartWidth, chartHeight, "axis")
	return c.end(chartWidth, words.Count(most), "0", format.FormatTime(t.Start),
		"each bar "+t.Step.String())
}

func bitsSVG(f Field) template.HTML {
	if f.Values == 0 {
		return ""
	}
	const limit = 6.5 // in standard deviations; more is a fault
	c := newChart("balance of the bits of " + f.Name)
	width := min(chartWidth/float64(len(f.Ones)), 40)
	y := func(d float64) float64 { return chartHeight/2 - d/(limit*1.2)*chartHeight/2 }
	for i, share := range f.Ones {
		d := (share - 0.5) * 2 * math.Sqrt(float64(f.Values))
		class := "bar"
		if math.Abs(d) > limit {
			class = "bad"
		}
		shown := max(-limit*1.2, min(limit*1.2, d))
		c.rect(float64(i)*width, min(y(shown), y(0)), width*0.9, math.Abs(y(shown)-y(0))+0.5, class,
			fmt.Sprintf("bit %d is 1 in %.4f%% of the values, %.1f standard deviations off",
				len(f.Ones)-1-i, 100*share, d))
	}
	right := width * float64(len(f.Ones))
	c.line(0, y(0), right, y(0), "axis")
	for _, d := range []float64{-limit, limit} {
		c.line(0, y(d), right, y(d), "limit")
	}
	c.text(-6, y(limit)+4, "end", fmt.Sprintf("+%.1f σ", limit))
	c.text(-6, y(-limit)+4, "end", fmt.Sprintf("−%.1f σ", limit))
	return c.end(right, "", "", fmt.Sprintf("bit %d", len(f.Ones)-1), "bit 0")
}

func leadSVG(points []Lead) template.HTML {
	if len(points) < 2 {
		return ""
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
	x := func(p Lead) float64 { return chartWidth * p.At.Sub(first).Seconds() / length }
	y := func(v float64) float64 { return chartHeight * (high - v) / (high - low) }
	c := newChart("the clock's lead")
	c.WriteString(`<polyline class="curve" points="`)
	for _, p := range points {
		fmt.Fprintf(c, "%.1f,%.1f ", x(p), y(p.Ahead.Seconds()))
	}
	c.WriteString(`"/>`)
	c.line(0, y(0), chartWidth, y(0), "axis")
	return c.end(chartWidth, fmt.Sprintf("%+.3f s", high), fmt.Sprintf("%+.3f s", low),
		format.FormatTime(first), format.FormatTime(last))
}
