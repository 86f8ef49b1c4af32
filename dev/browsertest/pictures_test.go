package browsertest

import (
	"bytes"
	"cmp"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
)

var pictures = flag.String("pictures", "", "the `FOLDER` to write pictures of the page into")

// This writes the pictures for docs/command.md:
//
//	go test . -run Pictures -pictures "$PWD/pictures"
func TestPictures(t *testing.T) {
	tb := tabOf(t)
	take := func(name string, width, height int64, dark bool, prepare func()) {
		tb.screen(width, height, dark)
		prepare()
		b, err := chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())
		check.OK(t, err)
		if len(b) < 10_000 {
			t.Errorf("%s has %d bytes, so hardly anything is on it", name, len(b))
		}
		if *pictures != "" {
			if b, err = shrink(b); err != nil {
				t.Fatal(err)
			}
			check.OK(t, os.WriteFile(filepath.Join(*pictures, "page-"+name+".png"), b,
				0o644))
		}
	}
	take("look", 1100, 1010, false, func() {
		tb.open("#" + example)
		tb.script(
			`document.querySelector(".map button:nth-of-type(2), .map .bits:nth-child(3) button").dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));`)
	})
	take("dark", 1100, 1010, true, func() { tb.open("#01ARZ3NDEKTSV4RRFFQ69G5FAV") })
	take("narrow", 400, 1180, false, func() { tb.open("#018bcfe5-68b1-7a5c-92d1-0123456789ab") })
	take("many", 1100, 860, true, func() {
		tb.open("")
		var ids strings.Builder
		begin := time.Date(2026, 11, 17, 6, 0, 0, 0, time.UTC)
		for i := range 96 { // a morning that gets busier, and a quiet hour
			if n := 20 + i/3 + i*37%11 - i*i%7; i < 40 || i > 54 {
				g, err := generate.New(gencore.Must(format.Lookup("scru128")),
					generate.Options{At: begin.Add(time.Duration(i) * 4 * time.Minute)})
				check.OK(t, err)
				for range n {
					id := check.Must(g.Next(t.Context()))(t)
					ids.WriteString(id.String() + "\n")
				}
			}
		}
		tb.paste(ids.String())
	})
	take("choose", 1100, 1080, false, func() { tb.open("#choose") })
	take("formats", 1100, 1010, false, func() { tb.open("") })
}

// shrink keeps the 256 most frequent colours.
func shrink(b []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	count := map[color.Color]int{}
	for y := range full.Bounds().Dy() {
		for x := range full.Bounds().Dx() {
			count[full.At(x, y)]++
		}
	}
	palette := slices.SortedFunc(maps.Keys(count),
		func(a, b color.Color) int { return cmp.Compare(count[b], count[a]) })
	small := image.NewPaletted(full.Bounds(), color.Palette(palette[:min(len(palette), 256)]))
	draw.Draw(small, small.Bounds(), full, image.Point{}, draw.Src)
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}
