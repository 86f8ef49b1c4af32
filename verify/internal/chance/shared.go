package chance

import (
	"fmt"
	"math"
	"slices"

	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
)

// A Sketch has the values of a random field with the smallest hashes. Two sketches show whether two
// sources share values.
type Sketch struct {
	name   string
	width  int
	last   uint64   // the largest hash that the sketch would contain
	hashes []uint64 // sorted
}

const (
	maxSketch = 4096
	// A field narrower than minSketchWidth repeats many values by chance.
	minSketchWidth = 30
)

// Sketches returns the sketches of the random fields that are wide enough.
func (s *Set) Sketches() (all []Sketch) {
	for _, f := range s.fields {
		if f.SameOnly || f.repeats == nil || f.width < minSketchWidth || f.untestable() || f.guarded() {
			continue
		}
		k := Sketch{name: f.name, width: f.width, last: f.repeats.last}
		for _, slot := range f.repeats.slots {
			if slot.count > 0 {
				k.hashes = append(k.hashes, slot.hash)
			}
		}
		slices.Sort(k.hashes)
		if len(k.hashes) > maxSketch {
			k.last = k.hashes[maxSketch-1]
			k.hashes = slices.Clone(k.hashes[:maxSketch])
		}
		all = append(all, k)
	}
	return all
}

// Other has the sketches of another source.
type Other struct {
	Source   string
	Sketches []Sketch
}

// Compare adds a check for each field that other sources also have.
func Compare(found *findings.List, own []Sketch, others []Other) {
	for _, a := range own {
		var c *findings.Check
		for _, other := range others {
			i := slices.IndexFunc(other.Sketches, func(b Sketch) bool {
				return a.name == b.name && a.width == b.width
			})
			if i < 0 {
				continue
			}
			if c == nil {
				c = found.Check("random."+a.name+".shared",
					a.name+": values are not in other sources, too",
					a.name+": values are in other sources, too")
			}
			shared, watched, expected := a.compare(other.Sketches[i])
			if p := findings.AtLeast(shared, expected); p*float64(len(others)) < findings.Improbable &&
				shared > c.Count {
				c.Count = shared
				c.Detail = fmt.Sprintf("%s of %s also in %s; "+
					"chance explains %.3g. The generators may have the same seed, "+
					"or one may be a copy of the other after a fork",
					words.Count(shared), words.Plural(watched, "watched value"), other.Source, expected)
			}
		}
	}
}

// compare counts the values in both sketches. It also returns how many values of a were compared, and
// how many chance would share.
func (a Sketch) compare(b Sketch) (shared, watched uint64, expected float64) {
	last := min(a.last, b.last)
	count := func(s Sketch) int {
		n, _ := slices.BinarySearch(s.hashes, last)
		for n < len(s.hashes) && s.hashes[n] == last {
			n++
		}
		return n
	}
	n, m := count(a), count(b)
	for _, hash := range a.hashes[:n] {
		if _, ok := slices.BinarySearch(b.hashes[:m], hash); ok {
			shared++
		}
	}
	values := math.Ldexp(1, a.width) * math.Ldexp(float64(last), -64)
	return shared, uint64(n), float64(n) * float64(m) / values
}
