package inspect

import (
	"fmt"
	"strings"
	"testing"
)

var (
	goodLines = []string{
		"xinaS8QBh", "0u2pf62ji4b9", "0372ijojuxuhjsfkeryi2mrtm",
		"01909b7e0e3f7c3a8d2b5f6e7a8b9c0d", "0190163d-8694-739b-aea5-966c26f8ad91",
	}
	// If a text is nearly an ID, its error says where it is wrong.
	badLines = []string{
		"x", "-", "\"\"", "nonsense", strings.Repeat("g", 100), strings.Repeat("9", 100),
		strings.Repeat("\x01", 100),
		strings.Repeat("<", 100), strings.Repeat("\xff", 1024), strings.Repeat("\u202e", 300),
		strings.Repeat(`["{`, 300),
		strings.Repeat("(", 500) + strings.Repeat(")", 500), strings.Repeat("urn:uuid:", 100),
		"0u2pf62ji4b!", "0372ijojuxuhjsfkeryi2mrt!", "zzzzzzzzzzzzzzzzzzzzzzzzz",
	}
)

// The cost of a line has a limit. An answer for a bad line is no longer than for an ID.
func TestBadLinesCost(t *testing.T) {
	var out []byte
	cost := func(line string) (allocations float64, answer int, err error) {
		allocations = testing.AllocsPerRun(100, func() {
			if out, err = AppendJSON(out[:0], nil, line); err != nil {
				out = fmt.Append(out[:0], err)
			}
		})
		return allocations, len(out), err
	}
	const most = 30 // allocations
	longest := 0
	for _, line := range goodLines {
		allocations, answer, err := cost(line)
		if err != nil || allocations > most {
			t.Errorf("%s: %v allocations, want at most %v; %v", line, allocations, most, err)
		}
		longest = max(longest, answer)
	}
	for _, line := range badLines {
		allocations, answer, err := cost(line)
		if err == nil {
			t.Errorf("%.50q is an ID", line)
		}
		if allocations > most || answer > longest {
			t.Errorf("%.50q: %v allocations and %d bytes, want at most %v and %d", line,
				allocations, answer, most, longest)
		}
	}
}

func BenchmarkInspectLine(b *testing.B) {
	for name, lines := range map[string][]string{"good": goodLines, "bad": badLines} {
		for _, line := range lines {
			b.Run(fmt.Sprintf("%s/%.9q-%d", name, line, len(line)), func(b *testing.B) {
				b.ReportAllocs()
				var out []byte
				for b.Loop() {
					out, _ = AppendJSON(out[:0], nil, line)
				}
			})
		}
	}
}
