package verify

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/sortid/sortid/verify/internal/words"
)

// An id is the integer of an ID of any format: its first 64 bits, the next 64 and the
// last 32. The parts that a format has no bits for are zero.
type id struct {
	hi, lo uint64
	tail   uint32
}

// less reports whether a is smaller than b.
func less(a, b id) bool {
	if a.hi == b.hi && a.lo == b.lo {
		return a.tail < b.tail
	}
	_, borrow := bits.Sub64(a.lo, b.lo, 0)
	_, borrow = bits.Sub64(a.hi, b.hi, borrow)
	return borrow != 0
}

func compare(a, b id) int {
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo), cmp.Compare(a.tail, b.tail))
}

// A format is what the tester has to know of one of the formats.
type format struct {
	name    string
	lengths []int // that a text may have
	shift   uint  // the timestamp is hi >> shift

	// The timestamp counts units since epoch; 0 and last are reserved, if reserved says
	// so. A single source may run ahead of its clock by lead, where the format lets it.
	unit     time.Duration
	epoch    time.Time
	last     uint64
	reserved bool
	lead     time.Duration

	// read returns the ID of a text, and whether the ID's own text is just that.
	read func(text []byte) (v id, canonical bool, err error)
	text func(v id, length int) string // the text of that length, where there are two
	// readLines does what reading line by line does, but faster; nil: there is no such
	// way. It appends the IDs of the lines at the start of the text, up to the first one
	// that is not just an ID's own text and LF.
	readLines func(ids []id, text []byte) []id
	// reasons names the check that each of read's errors fails.
	reasons []reason
	sorts   bool // whether texts sort as IDs do

	fields   []string // that have random bits
	newRules func(c *checker) rules
}

type reason struct {
	err   error
	check string
}

// rules check what a format promises beyond order.
type rules interface {
	// each is given all IDs, in the order of their lines, the first being the one on the
	// given line.
	each(ids []id, line uint64)
	// run is given IDs that strictly increase, the first being the one on the given
	// line and each the successor of the one before. It comes after each.
	run(ids []id, line uint64)
	// back is asked about an ID that is smaller than the one before it, and may count
	// it as a fault that it knows by name.
	back(before, v id, line uint64) backwards
	// resume says that something is missing before the next ID, so that the step to it
	// cannot be judged; restart that the source has begun afresh.
	resume()
	restart()
	// finish is called at the end, to draw conclusions.
	finish()
}

// backwards says what to make of an ID that is smaller than the one before.
type backwards uint8

const (
	unknown backwards = iota
	alone             // a fault of that ID: leave it out
	onwards           // a fault, and the source goes on from there
)

var formats = []*format{&formatSCRU64, &formatSCRU128, &formatSCRU160, &formatEUID, &formatUID60}

// Schemes returns the names of the formats that can be checked.
func Schemes() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

func formatOf(name string) *format {
	for _, f := range formats {
		if f.name == name {
			return f
		}
	}
	return nil
}

func (f *format) timestamp(v id) uint64 { return v.hi >> f.shift }

// time returns the time of a timestamp. Durations would not reach the year 10889.
func (f *format) time(timestamp uint64) time.Time {
	return time.UnixMilli(f.epoch.UnixMilli() + int64(timestamp)*f.unit.Milliseconds()).UTC()
}

// span words a number of timestamps.
func (f *format) span(timestamps uint64) string {
	return words.Duration(float64(timestamps) * f.unit.Seconds())
}
