package exact

import (
	"math/bits"
	"sort"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Disorder measures late IDs: IDs that come after a larger ID. It measures how much older a late
// ID is than the newest ID before it, and how many lines too late it comes.
type Disorder struct {
	f         *sample.Format
	newest    integer.Words // the largest ID so far
	n         uint64
	late      uint64    // number of late IDs
	maxLag    uint64    // largest lag behind the newest ID, in ticks
	latest    item      // the ID with the lag maxLag
	lags      histogram // in ticks
	linesLate histogram
	truncated bool // linesLate can be too small

	// The latest IDs that were larger than all earlier IDs, in a ring buffer.
	records []item
	head    int // index of the oldest record
}

const maxRecords = 1 << 14

func NewDisorder(f *sample.Format) *Disorder {
	return &Disorder{f: f, records: make([]item, 0, maxRecords)}
}

func (l *Disorder) Feed(list []integer.Words, line uint64) {
	l.n += uint64(len(list))
	for i, v := range list {
		at := line + uint64(i)
		if len(l.records) == 0 || l.newest.Less(&v) {
			l.newest = v
			if len(l.records) < maxRecords {
				l.records = append(l.records, item{v, at})
			} else {
				l.records[l.head] = item{v, at}
				l.head = (l.head + 1) % maxRecords
			}
			continue
		}
		l.late++
		by := l.f.Timestamp(&l.newest) - l.f.Timestamp(&v)
		if by > l.maxLag || l.latest.line == 0 {
			l.maxLag, l.latest = by, item{v, at}
		}
		l.lags.add(by)
		// v belongs on the line of the first record that is not smaller.
		n := len(l.records)
		k := sort.Search(n, func(k int) bool { return !l.records[(l.head+k)%n].id.Less(&v) })
		if k == 0 && n == maxRecords {
			l.truncated = true
		}
		l.linesLate.add(at - l.records[(l.head+k)%n].line)
	}
}

func (l *Disorder) Report(found *findings.List) {
	if l.late == 0 {
		if l.n > 0 {
			found.Fact("order", "no ID is smaller than an ID before it")
		}
		return
	}
	found.Fact("out of order", "%s (%s) come after a larger ID", words.Plural(l.late, "ID"),
		words.Percent(l.late, l.n))
	found.Fact("behind the newest",
		"half of them by at most %s, 99%% by at most %s, all by at most %s (line %s)",
		words.Span(l.f.Tick, l.lags.quantile(0.5)), words.Span(l.f.Tick, l.lags.quantile(0.99)),
		words.Span(l.f.Tick, l.maxLag), words.Count(l.latest.line))
	more := ""
	if l.truncated {
		more = " or more"
	}
	found.Fact("lines too late", "half of them at most %s, 99%% at most %s, all at most %s%s",
		words.Count(l.linesLate.quantile(0.5)), words.Count(l.linesLate.quantile(0.99)),
		words.Count(l.linesLate.most), more)
}

// A histogram counts numbers in buckets. The numbers in a bucket differ by less than an eighth.
type histogram struct {
	n, most uint64
	counts  [8 * 65]uint64
}

// The length of v in bits and its four leading bits determine its bucket.
func bucket(v uint64) int {
	if v < 8 {
		return int(v)
	}
	shift := bits.Len64(v) - 4
	return 8*shift + int(v>>shift)
}

func (h *histogram) add(v uint64) {
	h.n++
	h.most = max(h.most, v)
	h.counts[bucket(v)]++
}

// quantile returns a limit. If q is 0.99, 99% of the numbers are at most this limit.
func (h *histogram) quantile(q float64) uint64 {
	want := uint64(q * float64(h.n))
	for i, n := range h.counts {
		if want < n {
			if i < 8 {
				return uint64(i)
			}
			shift := (i - 8) / 8
			largest := (uint64(i%8)+8)<<shift + (1<<shift - 1)
			return min(h.most, largest)
		}
		want -= n
	}
	return h.most
}
