// Package report holds what the reports of both benchmark commands share.
package report

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"strings"
)

// A Bar is one row of a chart.
type Bar struct {
	Name   string
	Value  float64
	Strong bool // drawn in the strong colour
}

// Chart draws horizontal bars as an SVG file that reads on light and dark pages. A bar
// over four times the median is cut off, with its figure beside it all the same.
func Chart(title string, bars []Bar) []byte {
	const row, left, width, right = 22, 180, 420, 80
	top := 0.0
	for _, b := range bars {
		top = max(top, b.Value)
	}
	if median := bars[len(bars)/2].Value; top > 4*median {
		top = 4 * median
	}
	height := 40 + row*len(bars)
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13">
<rect width="100%%" height="100%%" fill="#ffffff"/>
<text x="10" y="22" font-weight="bold" fill="#222222">%s</text>
`, left+width+right, height, html.EscapeString(title))
	for i, b := range bars {
		y := 36 + row*i
		w := min(b.Value/top, 1) * width
		colour, mark := "#b8c0cc", ""
		if b.Strong {
			colour = "#2563eb"
		}
		if b.Value > top {
			mark = " (cut)"
		}
		fmt.Fprintf(&svg, `<text x="%d" y="%d" text-anchor="end" fill="#222222">%s</text>
<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>
<text x="%.1f" y="%d" fill="#222222">%.1f%s</text>
`, left-8, y+14, html.EscapeString(b.Name), left, y+2, w, row-6, colour, float64(left)+w+6, y+14, b.Value, mark)
	}
	svg.WriteString("</svg>\n")
	return svg.Bytes()
}

// Processor returns the processor's name, as far as the system tells it.
func Processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for _, line := range strings.Split(string(info), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}
