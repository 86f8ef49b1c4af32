package exact

import (
	"math/bits"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
)

// A Disorder measures late IDs: IDs that come after a larger ID. It measures how much older a late
// ID is than the newest ID before it, and how many lines too late it comes.
type Disorder struct {
	f         *sample.Format
	n         uint64
	late      uint64    // number of late IDs
	maxLag    uint64    // largest lag behind the newest ID, in ticks
	latest    item      // the ID with the lag maxLag
	lags      histogram // in ticks
	linesLate histogram
	truncated bool // linesLate can be too small
	largest   records
}

const maxRecords = 1 << 14

func NewDisorder(f *sample.Format) *Disorder {
	return &Disorder{f: f, largest: records{limit: maxRecords}}
}

func (l *Disorder) Feed(list []integer.Words, line uint64) {
	l.n += uint64(len(list))
	for i, v := range list {
		at := line + uint64(i)
		if l.largest.add(v, at) {
			continue
		}
		l.late++
		by := l.f.Timestamp(&l.largest.last) - l.f.Timestamp(&v)
		if by > l.maxLag || l.latest.line == 0 {
			l.maxLag, l.latest = by, item{v, at}
		}
		l.lags.add(by)
		// v belongs on the line of the first record that is not smaller.
		record, oldest := l.largest.from(&v)
		l.truncated = l.truncated || oldest
		l.linesLate.add(at - record.line)
	}
}

func (l *Disorder) Report(found *findings.List) {
	if l.late == 0 {
		if l.n > 0 {
			found.Fact("order", "no ID is smaller than an ID before it")
		}
		return
	}
	found.Fact("out of order", "%s (%s) after a larger ID", words.Plural(l.late, "ID"),
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
