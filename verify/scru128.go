package verify

import (
	"encoding/binary"
	"time"

	"github.com/sortid/sortid/internal/base36"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/verify/internal/words"
)

var formatSCRU128 = format{
	name:      "scru128",
	lengths:   []int{scru128.TextLen},
	shift:     16,
	unit:      time.Millisecond,
	epoch:     time.UnixMilli(0).UTC(),
	last:      scru128.MaxTimestamp,
	reserved:  true,
	read:      readSCRU128,
	readLines: readLinesSCRU128,
	text:      func(v id, _ int) string { return scru128.FromUint128(v.hi, v.lo).String() },
	reasons: []reason{
		{scru128.ErrLength, "length"}, {scru128.ErrSymbol, "symbol"}, {scru128.ErrRange, "range"},
	},
	sorts:  true,
	fields: []string{"entropy", "counter_lo", "counter_hi"},
}

func init() { formatSCRU128.newRules = newSCRU128Rules }

func readSCRU128(text []byte) (v id, canonical bool, err error) {
	var s scru128.ID
	if err := s.UnmarshalText(text); err != nil {
		return id{}, false, err
	}
	capitals, _ := cases(text)
	return id{hi: binary.BigEndian.Uint64(s[:8]), lo: binary.BigEndian.Uint64(s[8:])}, !capitals, nil
}

func readLinesSCRU128(ids []id, text []byte) []id {
	const length = scru128.TextLen
	var s base36.Sequence128
	for len(text) > length && text[length] == '\n' {
		hi, lo, ok := s.Decode((*[length]byte)(text))
		if !ok {
			break
		}
		ids = append(ids, id{hi: hi, lo: lo})
		text = text[length+1:]
	}
	return ids
}

// scru128Rules check the three layers: entropy new in each ID, counter_lo random in each
// millisecond and then plus one, counter_hi random once a second of movement.
type scru128Rules struct {
	c                  *checker
	entropy, loField   *field // counter_lo where it starts
	hiField            *field // counter_hi where it is renewed
	step, repeat       *tally
	lost, early        *tally
	kept, notRenewed   *chance
	known              bool   // whether there is an ID before
	hi, lo32           uint64 // of that, without its entropy
	renewed            uint64 // when counter_hi was, at the latest
	sure               bool   // just then
	carries, overflows uint64
}

const (
	counterBits    = 24
	counterMask    = 1<<counterBits - 1
	fullCounter    = 1<<48 - 1
	scru128Renewal = 1000 // timestamps
	entropyBits    = 32
	never          = 1<<64 - 1
)

func newSCRU128Rules(c *checker) rules {
	r := &scru128Rules{c: c, entropy: c.field("entropy", entropyBits), renewed: never}
	if c.o.Unordered && !c.o.Stateless {
		return r
	}
	r.loField, r.hiField = c.field("counter_lo", counterBits), c.field("counter_hi", counterBits)
	if c.o.Stateless {
		return r
	}
	r.step = c.tally("rules.step", "the counters go up by one within a millisecond", Fail)
	r.repeat = c.tally("rules.repeat", "no two IDs have the same timestamp and counters", Fail)
	r.lost = c.tally("rules.carry", "counter_hi goes up when counter_lo is full", Fail)
	r.kept = c.chance("rules.counter_lo", "counter_lo is renewed when the timestamp moves on", 2.0/(1<<counterBits))
	r.notRenewed = c.chance("rules.counter_hi", "counter_hi is renewed once the timestamp has moved on by a second", 1.0/(1<<counterBits))
	r.early = c.tally("rules.counter_hi.early", "counter_hi is not renewed more often than that", Fail)
	return r
}

func (r *scru128Rules) each(ids []id, line uint64) {
	for rest := ids; len(rest) > 0; {
		values := r.entropy.room(len(rest))
		for i := range values {
			values[i] = rest[i].lo & (1<<entropyBits - 1)
		}
		rest = rest[len(values):]
	}
	if r.c.o.Stateless {
		for i := range ids {
			counter := scru128Counter(ids[i].hi, ids[i].lo>>32)
			r.loField.add(counter & counterMask)
			r.hiField.add(counter >> counterBits)
		}
	}
}

// scru128Counter returns both counters as one number.
func scru128Counter(hi, lo32 uint64) uint64 { return hi&0xffff<<32 | lo32 }

func (r *scru128Rules) run(ids []id, line uint64) {
	hi, lo32 := r.hi, r.lo32
	for i := range ids {
		v := &ids[i]
		// One more than before, but for a carry of any kind.
		if v.hi == hi && v.lo>>32 == lo32+1 && v.lo>>32&counterMask != 0 && r.known {
			lo32++
			continue
		}
		r.hi, r.lo32 = hi, lo32
		r.turn(*v, line+uint64(i))
		hi, lo32 = v.hi, v.lo>>32
	}
	r.hi, r.lo32 = hi, lo32
}

// turn judges any step.
func (r *scru128Rules) turn(v id, line uint64) {
	before, now := r.hi>>16, v.hi>>16
	last, counter := scru128Counter(r.hi, r.lo32), scru128Counter(v.hi, v.lo>>32)
	hiKept := counter>>counterBits == last>>counterBits
	switch {
	case !r.known:
		r.known = true
		if !hiKept || now < r.renewed {
			r.renewed, r.sure = now, false
		}
		return
	case now == before && counter == last:
		if r.repeat.hit() {
			r.repeat.example(line, r.c.show(v), "the same as in the line before, but for the entropy")
		}
		return
	case now == before && counter == last+1:
		r.carries++ // of counter_lo: nothing else leads here
		return
	case now == before:
		if r.step.hit() {
			r.step.example(line, r.c.show(v), "the counters go up by %s", words.Count(counter-last))
		}
		return
	}
	lo := counter & counterMask
	if last == fullCounter && now == before+1 && counter>>counterBits == 0 {
		r.overflows++
		r.loField.add(lo)
		return
	}
	r.kept.tries++
	if step := lo - last&counterMask; step <= 1 && r.kept.hit() {
		r.kept.example(line, r.c.show(v), "counter_lo goes on from the line before, %d", lo)
	}
	r.loField.add(lo)

	due := now-r.renewed >= scru128Renewal
	if due {
		r.notRenewed.tries++
	}
	switch {
	case !hiKept:
		if !due && r.sure && r.early.hit() {
			r.early.example(line, r.c.show(v), "counter_hi is new, %d ms after it was last renewed", now-r.renewed)
		}
		r.hiField.add(counter >> counterBits)
		r.renewed, r.sure = now, true
	case due:
		if r.notRenewed.hit() {
			r.notRenewed.example(line, r.c.show(v), "counter_hi is the same as %d ms before", now-r.renewed)
		}
		r.renewed = now
	}
}

func (r *scru128Rules) back(before, v id, line uint64) backwards {
	if r.c.o.Stateless || before.hi>>16 != v.hi>>16 {
		return unknown
	}
	last, counter := scru128Counter(before.hi, before.lo>>32), scru128Counter(v.hi, v.lo>>32)
	switch {
	case counter == last:
		if r.repeat.hit() {
			r.repeat.example(line, r.c.show(v), "the same as in the line before, but for the entropy")
		}
		return alone
	case last&counterMask == counterMask && counter == last&^counterMask:
		if r.lost.hit() {
			r.lost.example(line, r.c.show(v), "counter_lo starts again at 0, counter_hi stays at %d", counter>>counterBits)
		}
		return onwards
	}
	return unknown
}

func (r *scru128Rules) resume()  { r.known = false }
func (r *scru128Rules) restart() { r.known, r.sure, r.renewed = false, false, never }

func (r *scru128Rules) finish() {
	if r.carries > 0 {
		r.c.fact("carries", "%s from counter_lo to counter_hi", words.Count(r.carries))
	}
	if r.overflows > 0 {
		r.c.fact("overflows", "%s of both counters", words.Count(r.overflows))
	}
}
