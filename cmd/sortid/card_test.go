package main

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
)

var (
	escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")
	row     = regexp.MustCompile(`^  [01]{8}( [01]{8})*$`)
)

// A card has the same content in any width, with and without colours.
func TestCard(t *testing.T) {
	now := time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)
	for _, s := range format.All() {
		var r inspect.Reading
		err := (&inspect.Reader{Format: s}).Read(&r, s.Example(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if r.ID.Format() != s || !r.Given {
			t.Errorf("%s: %s is read as %s", s.Name(), s.Example(), r.As())
		}
		for _, width := range []int{1, 40, 79, 80, 200} {
			plain := string(appendCard(&console.Console{Width: width}, nil, &r, now))
			c := &console.Console{Width: width, Colours: true}
			coloured := string(appendCard(c, nil, &r, now))
			if escapes.MatchString(plain) {
				t.Errorf("%s: escapes without colours: %q", s.Name(), plain)
			}
			for _, text := range []string{plain, escapes.ReplaceAllString(coloured, "")} {
				bits := ""
				for line := range strings.Lines(text) {
					if line = strings.TrimSuffix(line, "\n"); width == 80 &&
						len([]rune(line)) > width {
						t.Errorf("%s: wider than %d: %s", s.Name(), width, line)
					}
					if row.MatchString(line) {
						bits += strings.ReplaceAll(line, " ", "")
					}
				}
				drawn := len(s.Encodings()) > 1 || s.Encodings()[0] != format.Text
				integer := new(big.Int).SetBytes(r.ID.Bytes())
				if want := fmt.Sprintf("%0*b", 8*s.Size(), integer); drawn && bits != want ||
					!drawn && bits != "" {
					t.Errorf("%s: bits %s, want %s", s.Name(), bits, want)
				}
				for _, e := range s.Encodings()[1:] {
					if !strings.Contains(text, fmt.Sprintf("\n  %-6s  %s\n", e, r.ID.In(e))) &&
						width >= 80 {
						t.Errorf("%s: no %s in %s", s.Name(), e, text)
					}
				}
				for _, f := range r.ID.Fields() {
					if !regexp.MustCompile(f.Name + ` +` + fmt.Sprint(f.Bits) + ` bits +` +
						f.String() + `  `).MatchString(text) {
						t.Errorf("%s: no %s in %s", s.Name(), f.Name, text)
					}
				}
			}
			// Each field has one colour, and a letter for each bit.
			seen := map[string]bool{}
			for _, b := range bands(&r) {
				if b.value.Name == "" {
					continue
				}
				mark := (&console.Console{Colours: true}).Paint(b.style, "■")
				if seen[mark] || !strings.Contains(coloured, mark) {
					t.Errorf("%s: %s shares its colour with another field, or is not shown", s.Name(),
						b.value.Name)
				}
				seen[mark] = true
				letters := 0
				for line := range strings.Lines(plain) {
					if regexp.MustCompile(`^  ([a-z.]{8} ?)+$`).MatchString(
						strings.TrimSuffix(line, "\n")) {
						letters += strings.Count(line, string(b.letter))
					}
				}
				if drawn := len(s.Encodings()) > 1 || s.Encodings()[0] != format.Text; drawn &&
					letters != b.value.Bits {
					t.Errorf("%s: %d letters %c on the map, want %d", s.Name(), letters, b.letter,
						b.value.Bits)
				}
			}
		}
	}
}

func TestDistance(t *testing.T) {
	now := time.Date(2026, 11, 17, 10, 30, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                            "just now",
		-999 * time.Millisecond:      "just now",
		time.Second:                  "1 second ago",
		-90 * time.Second:            "in 1 minute 30 seconds",
		2 * time.Hour:                "2 hours ago",
		26 * time.Hour:               "1 day 2 hours ago",
		400 * 24 * time.Hour:         "1 year 1 month ago",
		-3 * 365 * 24 * time.Hour:    "in 2 years 11 months",
		7*24*time.Hour + time.Minute: "7 days ago",
	} {
		if got := distance(now.Add(-d), now); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := distance(time.UnixMilli(1<<48-1), now); !strings.HasPrefix(got, "in 886") {
		t.Errorf("the year 10889 is %q", got)
	}
}
