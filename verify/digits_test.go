package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/verify/internal/controls"
	"github.com/sortid/sortid/verify/report"
)

// A random part of a base that is no power of two, and its digits.
var digitParts = []struct {
	format, name string
	from, to     int
	rate         float64
}{
	{"cuid2", "random", 0, 24, 1},
	{"cuid2", "hash of 512 bits without 2 digits", 0, 24, 1},
	{"cuid2", "hash of 255 bits without 1 digits", 0, 24, 1},
	{"cuid", "continuing", 17, 25, 100},
	{"cuid", "half of the digits", 17, 25, 100},
	{"stripe", "cus_random", 11, 18, 1}, // of cus_ and 14 digits
	{"stripe", "pi_3random", 20, 27, 1},
	{"nuid", "a process for each ID", 0, 12, 1},
}

// A digitFault changes one digit of all IDs.
type digitFault struct {
	name string
	want string // the last part of the check that must fail
	edit func(lines [][]byte, place, from, to int)
}

var digitFaults = []digitFault{
	{"a constant", "same", func(lines [][]byte, place, _, _ int) {
		for _, l := range lines {
			l[place] = 'a'
		}
	}},
	{"without one symbol", "balance", func(lines [][]byte, place, _, _ int) {
		for i, l := range lines {
			if l[place] == 'e' {
				l[place] = "abcdfghijk"[i%10]
			}
		}
	}},
	{"often one symbol", "balance", func(lines [][]byte, place, _, _ int) {
		for i, l := range lines {
			if i%40 == 0 {
				l[place] = 'b'
			}
		}
	}},
	{"repeated from the line before", "runs", func(lines [][]byte, place, _, _ int) {
		for i, l := range lines {
			if i%30 == 1 {
				l[place] = lines[i-1][place]
			}
		}
	}},
	{"never repeated", "runs", func(lines [][]byte, place, _, _ int) {
		for i, l := range lines {
			if i > 0 && l[place] == lines[i-1][place] {
				l[place] = lines[(i+7)%len(lines)][place]
			}
		}
	}},
	{"a copy of its neighbour", "neighbours", func(lines [][]byte, place, from, to int) {
		other := place - 1
		if place == from {
			other = place + 1
		}
		for i, l := range lines {
			if i%30 == 0 && l[other] >= 'a' { // CUID2 begins with a letter
				l[place] = l[other]
			}
		}
	}},
}

func TestDigitFaults(t *testing.T) {
	testserver.Long(t, "makes many reports")
	for _, p := range digitParts {
		at := slices.IndexFunc(controls.Ideals, func(d controls.Ideal) bool {
			return d.Format == p.format && d.Name == p.name
		})
		d := controls.Ideals[at]
		o := Options{Now: func() time.Time { return d.Start().AddDate(0, 1, 0) }}
		lines := d.Make(3, p.rate, 12_000)
		for _, fault := range digitFaults {
			for place := p.from; place < p.to; place++ {
				t.Run(fmt.Sprintf("%s/%s/%s/%d", p.format, p.name, fault.name, place), func(t *testing.T) {
					var edited [][]byte
					for _, l := range lines {
						edited = append(edited, []byte(l))
					}
					fault.edit(edited, place, p.from, p.to)
					var texts []string
					for _, l := range edited {
						texts = append(texts, string(l))
					}
					r := check(t, p.format, texts, o)
					if !slices.ContainsFunc(r.Failed(), func(c report.Outcome) bool {
						return strings.HasSuffix(c.Name, "."+fault.want)
					}) {
						t.Errorf("random.*.%s does not fail, only %+v", fault.want, r.Failed())
					}
				})
			}
		}
	}
}

// Of many CUID2s, the first digits of their hashes must not count in the test of repeats.
func TestManyHashes(t *testing.T) {
	testserver.Long(t, "makes many IDs")
	at := slices.IndexFunc(controls.Ideals, func(d controls.Ideal) bool {
		return d.Name == "hash of 512 bits without 0 digits"
	})
	r := check(t, "cuid2", controls.Ideals[at].Make(4, 1, 1_500_000), Options{})
	if r.Status != report.Pass {
		t.Errorf("%+v", r.Failed())
	}
}

// The corrected p-values of random digits are below 1 in 100 in at most 1 of 100 reports, for any
// number of IDs and each probability of symbols.
func TestSoundDigits(t *testing.T) {
	testserver.Long(t, "makes many reports")
	const rounds = 100
	for _, p := range digitParts {
		at := slices.IndexFunc(controls.Ideals, func(d controls.Ideal) bool {
			return d.Format == p.format && d.Name == p.name
		})
		for _, n := range []int{70, 300, 2000} {
			small, smallest := 0, 1.0
			for seed := range uint64(rounds) {
				r := check(t, p.format, controls.Ideals[at].Make(1000+seed, p.rate, n), Options{})
				least := 1.0
				for _, f := range r.Fields {
					least = min(least, f.Adjusted)
				}
				if smallest = min(smallest, least); least < 0.01 {
					small++
				}
			}
			if small > rounds/100+5 || smallest < 1e-5 {
				t.Errorf("%s, %s, %d IDs: %d of %d reports have p < 0.01, the smallest is %g",
					p.format, p.name, n, small, rounds, smallest)
			}
		}
	}
}
