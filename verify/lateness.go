package verify

import (
	"math/bits"
	"sort"

	"github.com/sortid/sortid/verify/internal/words"
)

// A lateness measures how far IDs are out of order: how much older than the newest ID
// before it each one is, and how many lines too late it comes.
type lateness struct {
	f       *format
	top     id
	ids     uint64
	late    uint64 // IDs smaller than one before them
	most    uint64 // timestamps behind the newest
	at      item   // the ID that is
	by      spread // of those behind
	lines   spread
	dropped bool // whether some number of lines is larger than could be seen

	// records are the last IDs that were larger than all before them, in a ring.
	records []item
	head    int
}

const maxRecords = 1 << 14

func newLateness(f *format) *lateness {
	return &lateness{f: f, records: make([]item, 0, maxRecords)}
}

func (l *lateness) run(ids []id, line uint64) {
	l.ids += uint64(len(ids))
	for i, v := range ids {
		at := line + uint64(i)
		if len(l.records) == 0 || less(l.top, v) {
			l.top = v
			if len(l.records) < maxRecords {
				l.records = append(l.records, item{v, at})
			} else {
				l.records[l.head] = item{v, at}
				l.head = (l.head + 1) % maxRecords
			}
			continue
		}
		l.late++
		by := l.f.timestamp(l.top) - l.f.timestamp(v)
		if by > l.most || l.at.line == 0 {
			l.most, l.at = by, item{v, at}
		}
		l.by.add(by)
		// The first record larger than v came when v should have been there already.
		n := len(l.records)
		k := sort.Search(n, func(k int) bool { return !less(l.records[(l.head+k)%n].id, v) })
		if k == 0 && n == maxRecords {
			l.dropped = true
		}
		l.lines.add(at - l.records[(l.head+k)%n].line)
	}
}

// report notes what was found as facts.
func (l *lateness) report(c *checker) {
	if l.late == 0 {
		if l.ids > 0 {
			c.fact("order", "no ID is smaller than one before it")
		}
		return
	}
	c.fact("out of order", "%s (%s) come after a larger ID", words.Plural(l.late, "ID"), words.Percent(l.late, l.ids))
	c.fact("behind the newest", "typically %s, 99%% at most %s, at most %s (line %s)",
		c.f.span(l.by.quantile(0.5)), c.f.span(l.by.quantile(0.99)), c.f.span(l.most), words.Count(l.at.line))
	more := ""
	if l.dropped {
		more = " or more"
	}
	c.fact("lines too late", "typically %s, 99%% at most %s, at most %s%s",
		words.Count(l.lines.quantile(0.5)), words.Count(l.lines.quantile(0.99)), words.Count(l.lines.most), more)
}

// A spread keeps how numbers are spread, to within an eighth.
type spread struct {
	n, most uint64
	counts  [8 * 65]uint64
}

// bucket returns the place of a number's leading four bits.
func bucket(v uint64) int {
	if v < 8 {
		return int(v)
	}
	shift := bits.Len64(v) - 4
	return 8*shift + int(v>>shift)
}

func (s *spread) add(v uint64) {
	s.n++
	s.most = max(s.most, v)
	s.counts[bucket(v)]++
}

// quantile returns a number that is at least a share q of the numbers.
func (s *spread) quantile(q float64) uint64 {
	want := uint64(q * float64(s.n))
	for i, n := range s.counts {
		if want < n {
			if i < 8 {
				return uint64(i)
			}
			shift := (i - 8) / 8
			largest := (uint64(i%8)+8)<<shift + (1<<shift - 1)
			return min(s.most, largest)
		}
		want -= n
	}
	return s.most
}
