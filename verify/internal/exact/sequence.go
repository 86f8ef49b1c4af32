package exact

import (
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/verify/internal/findings"
)

// A sequence checks a counter of another project's format, in the order of the IDs. IDs may be
// missing between two IDs.
type sequence struct {
	f         spec.Field
	place     integer.Place
	timestamp func(*integer.Words) uint64
	repeat    *findings.Check // nil if two IDs of a tick may have the same counter
	restart   *findings.Check // nil if the counter may start again in a new tick

	known       bool // value and tick are of the previous ID
	value, tick uint64
}

// addSequences adds a check for each counter that must continue in a new tick. A counter before
// random bits must differ in a tick, and a counter of whole bytes has their order, which are other
// checks.
func (r *Rules) addSequences() {
	var last spec.Field // the counter before the random bits
	for _, f := range r.usage.Layout {
		s := sequence{f: f, place: integer.PlaceOf(f.Low, f.Bits), timestamp: r.Format.Timestamp}
		switch {
		case f.Kind == spec.KindRandom && last.Bits > 0:
			s.f, s.place = last, integer.PlaceOf(last.Low, last.Bits)
			s.repeat = r.check("repeat", "no two IDs of a tick have the same "+last.Name,
				"IDs of a tick have the same "+last.Name)
		case f.Kind == spec.KindCounter && f.Start == spec.StartNever && !f.Resets:
			s.restart = r.check(f.Name, "the "+f.Name+" continues in a new tick",
				"the "+f.Name+" starts again in a new tick")
		}
		if f.Kind == spec.KindCounter {
			last = f
			if f.Bits > 8 && f.Bits%8 == 0 && f.Low%8 == 0 {
				r.byteOrders = append(r.byteOrders, newByteOrder(r, f))
			}
		}
		if s.repeat != nil || s.restart != nil {
			r.sequences = append(r.sequences, s)
		}
	}
}

func (s *sequence) run(list []integer.Words, line uint64) {
	for i := range list {
		value, tick := s.place.Of(&list[i]), s.timestamp(&list[i])
		switch at := line + uint64(i); {
		case !s.known:
		case tick == s.tick && value == s.value && s.repeat != nil:
			s.repeat.FoundID(at, &list[i], "%s is %d, as in the previous line", s.f.Name, value)
		case tick != s.tick && s.restart != nil && s.back(value):
			s.restart.FoundID(at, &list[i], "%s is %d after %d, in a new tick", s.f.Name, value,
				s.value)
		}
		s.value, s.tick, s.known = value, tick, true
	}
}

// back reports whether the counter went back, and did not only go from its largest value to 0.
func (s *sequence) back(value uint64) bool {
	values := s.place.Max()
	if s.f.Most > 0 {
		values = s.f.Most
	}
	step := value - s.value
	if value < s.value {
		step += values + 1
	}
	return step == 0 || step > values/2
}
