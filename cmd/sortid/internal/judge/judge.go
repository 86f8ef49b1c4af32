// Package judge distinguishes IDs from hashes and from UUIDs that look like IDs, by the texts before.
package judge

// A Kind is a kind of texts that are judged together.
type Kind uint8

const (
	None     Kind = iota // texts that are not judged
	Standard             // UUIDs with a variant and a version of RFC 9562
	Other                // other UUIDs
	uuid                 // all UUIDs
	firstHash
	firstMixed = 128
)

// Hash returns the kind of hexadecimal numbers with n digits.
func Hash(n int) Kind { return firstHash + Kind(n) }

// Mixed returns the kind of texts with n small and capital letters and digits.
func Mixed(n int) Kind { return firstMixed + Kind(n) }

// A Judge says which texts may be IDs. It counts the texts, so the texts must come in order. The zero
// Judge is ready to use. Several workers can read parts of an input at the same time, each with a
// Judge of its own: see [Judge.Follow].
type Judge struct {
	LeftOut int // How many texts with a plausible time were no IDs. UUIDs do not count.

	ratios  [256]ratio
	follows bool
	answers []answer // since Follow
}

type answer struct {
	kind            Kind
	plausible, isID bool
}

// Accept counts a text, and reports whether it may be an ID. Its time must be plausible. By chance,
// only one in eight of our IDs is a standard UUID. So Accept takes a standard UUID for an ID only
// after other UUIDs with plausible times.
func (j *Judge) Accept(kind Kind, plausible bool) bool {
	var isID bool
	switch kind {
	case Standard:
		isID = j.ratios[uuid].accept(plausible) && j.ratios[Other].likely()
	case Other:
		j.ratios[uuid].accept(plausible)
		isID = j.ratios[Other].accept(plausible)
	default:
		isID = j.ratios[kind].accept(plausible)
		if plausible && !isID {
			j.LeftOut++
		}
	}
	if j.follows {
		j.answers = append(j.answers, answer{kind, plausible, isID})
	}
	return isID
}

// Follow lets j start from what the other Judge knows, and remember its answers.
func (j *Judge) Follow(other *Judge) {
	j.ratios, j.follows, j.answers = other.ratios, true, j.answers[:0]
}

// Confirm counts the texts that a follower has judged. If j gives another answer about one of them,
// because it knows all texts before, Confirm returns false and counts none of them. Then the follower
// must follow j again, and judge the texts again.
func (j *Judge) Confirm(follower *Judge) bool {
	before := *j
	for _, a := range follower.answers {
		if j.Accept(a.kind, a.plausible) != a.isID {
			*j = before
			return false
		}
	}
	return true
}

// A ratio distinguishes IDs from hashes. Every ID has a plausible time, but only one hash in hundreds
// does.
type ratio struct{ seen, plausible uint8 }

// accept counts a number, and reports whether it may be an ID. Its time must be plausible. All times
// must be plausible, or at least two and half of all. Old times count less.
func (r *ratio) accept(plausible bool) bool {
	if r.seen == 64 { // old numbers count less
		r.seen, r.plausible = r.seen/2, r.plausible/2
	}
	r.seen++
	if !plausible {
		return false
	}
	r.plausible++
	return r.likely()
}

func (r *ratio) likely() bool {
	return r.plausible > 0 && r.plausible == r.seen || r.plausible >= 2 && r.plausible*2 >= r.seen
}
