package verify

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/verify/internal/words"
)

var formatEUID = format{
	name:    "euid",
	lengths: []int{euid.TextLen},
	shift:   22,
	unit:    time.Millisecond,
	epoch:   time.UnixMilli(0).UTC(),
	last:    euid.MaxTimestamp,
	read:    readEUID,
	text:    func(v id, _ int) string { return euid.FromUint128(v.hi, v.lo).String() },
	reasons: []reason{
		{euid.ErrLength, "length"}, {euid.ErrSymbol, "symbol"}, {euid.ErrCheck, "check"},
	},
	sorts:  true,
	fields: []string{"random_low", "random_high", "header"},
}

func init() { formatEUID.newRules = newEUIDRules }

func readEUID(text []byte) (v id, canonical bool, err error) {
	var e euid.ID
	if err := e.UnmarshalText(text); err != nil {
		return id{}, false, err
	}
	v = id{hi: binary.BigEndian.Uint64(e[:8]), lo: binary.BigEndian.Uint64(e[8:])}
	_, small := cases(text)
	return v, !small && !hasAlias(text), nil
}

// hasAlias reports whether there is a letter that is read as a digit, but never written.
func hasAlias(text []byte) bool {
	return bytes.IndexByte(text, 'O') >= 0 || bytes.IndexByte(text, 'I') >= 0 || bytes.IndexByte(text, 'L') >= 0
}

// euidRules check the two halves of random and the header: within a millisecond the high
// half goes up by one and the header stays, in a new one both are random; the low half
// is random in each ID.
type euidRules struct {
	c                         *checker
	low, high, header         *field
	headerBits                int // of header, as many as the first extension leaves
	version                   *tally
	step, repeat, headerStays *tally
	overflow                  *tally
	kept                      *chance
	known                     bool
	before                    id
	lengths                   [euid.MaxExtensionLength + 1]uint64
}

func newEUIDRules(c *checker) rules {
	r := &euidRules{
		c: c, low: c.field("random_low", 32), headerBits: -1,
		version: c.tally("rules.version", "the version bits are 0, for version 1", Fail),
	}
	if !c.o.Unordered || c.o.Stateless {
		r.high = c.field("random_high", 32)
	}
	if c.o.Unordered {
		return r
	}
	r.step = c.tally("rules.step", "the high half of random goes up by one within a millisecond", Fail)
	r.repeat = c.tally("rules.repeat", "no two IDs have the same timestamp and high half of random", Fail)
	r.headerStays = c.tally("rules.header", "the header stays the same within a millisecond", Fail)
	r.overflow = c.tally("rules.overflow", "when the high half is full there is no other ID in the millisecond", Fail)
	r.kept = c.chance("rules.counter", "the high half is renewed when the timestamp moves on", 2.0/(1<<32))
	return r
}

func (r *euidRules) each(ids []id, line uint64) {
	for i := range ids {
		v := &ids[i]
		r.low.add(v.lo & (1<<32 - 1))
		r.lengths[v.hi>>3&euid.MaxExtensionLength]++
		if v.hi&euid.MaxVersionBits != 0 && r.version.hit() {
			r.version.example(line+uint64(i), r.c.show(*v), "has the version bits %03b", v.hi&euid.MaxVersionBits)
		}
	}
	if r.c.o.Stateless {
		for i := range ids {
			r.high.add(ids[i].lo >> 32)
			r.addHeader(ids[i].hi)
		}
	}
}

// addHeader notes the header's random bits, those that are above the extension.
func (r *euidRules) addHeader(hi uint64) {
	bits := euid.MaxExtensionLength - int(hi>>3&euid.MaxExtensionLength)
	if r.headerBits < 0 {
		if r.headerBits = bits; bits > 0 {
			r.header = r.c.field("header", bits)
		}
	}
	if bits > 0 && bits == r.headerBits {
		r.header.add(hi >> 7 & euid.MaxRandomAndExtension >> (euid.MaxExtensionLength - bits))
	}
}

func (r *euidRules) run(ids []id, line uint64) {
	hi, high := r.before.hi, r.before.lo>>32
	for i := range ids {
		v := ids[i]
		if v.hi != hi || v.lo>>32 != high+1 || !r.known {
			r.turn(id{hi: hi, lo: high << 32}, v, line+uint64(i))
		}
		hi, high = v.hi, v.lo>>32
	}
	r.before = id{hi: hi, lo: high << 32}
}

// turn judges any step.
func (r *euidRules) turn(before, v id, line uint64) {
	known := r.known
	r.known = true
	high, last := v.lo>>32, before.lo>>32
	switch {
	case !known:
	case v.hi>>22 != before.hi>>22:
		r.kept.tries++
		if high-last <= 1 && r.kept.hit() {
			r.kept.example(line, r.c.show(v), "the high half goes on from the line before, %d", high)
		}
		r.high.add(high)
		r.addHeader(v.hi)
	case v.hi != before.hi:
		if r.headerStays.hit() {
			r.headerStays.example(line, r.c.show(v), "the header is %06x, before it was %06x", v.hi&(1<<22-1), before.hi&(1<<22-1))
		}
	case high == last:
		r.again(v, line)
	case r.step.hit():
		r.step.example(line, r.c.show(v), "the high half goes up by %s", words.Count(high-last))
	}
}

func (r *euidRules) again(v id, line uint64) {
	if r.repeat.hit() {
		r.repeat.example(line, r.c.show(v), "the same as in the line before, but for the low half")
	}
}

func (r *euidRules) back(before, v id, line uint64) backwards {
	switch {
	case r.c.o.Unordered || before.hi>>22 != v.hi>>22:
	case before.hi != v.hi:
		if r.headerStays.hit() {
			r.headerStays.example(line, r.c.show(v), "the header is %06x, before it was %06x", v.hi&(1<<22-1), before.hi&(1<<22-1))
		}
		return onwards
	case before.lo>>32 == v.lo>>32:
		r.again(v, line)
		return alone
	case before.lo>>32 == 1<<32-1 && v.lo>>32 == 0:
		if r.overflow.hit() {
			r.overflow.example(line, r.c.show(v), "the high half starts again at 0 in the same millisecond")
		}
		return onwards
	}
	return unknown
}

func (r *euidRules) resume()  { r.known = false }
func (r *euidRules) restart() { r.known = false }

func (r *euidRules) finish() {
	for length, n := range r.lengths {
		switch {
		case n == 0:
		case length == 0:
			r.c.fact("extension", "none in %s", words.Plural(n, "ID"))
		default:
			r.c.fact("extension", "of %s in %s", words.Plural(uint64(length), "bit"), words.Plural(n, "ID"))
		}
	}
}
