package inspect

// A Ratio distinguishes IDs from hashes. Every ID has a plausible time, but only one hash in
// hundreds does. The zero Ratio is ready to use.
type Ratio struct {
	LeftOut int // How many numbers with a plausible time were not accepted.

	seen, plausible int
}

// UUIDs distinguishes UUIDs of RFC 9562 from our IDs. Its zero value is ready to use.
type UUIDs struct{ all, notStandard Ratio }

// Accept counts a UUID, and reports whether it may be our ID. Times must be plausible, as for
// [Ratio.Accept]. A standard UUID has a variant and a version of RFC 9562. By chance, only one in
// eight of our IDs has both. So among our IDs, most UUIDs are not standard. Accept takes a standard
// UUID for our ID only after such UUIDs with plausible times.
func (u *UUIDs) Accept(standard, plausible bool) bool {
	likely := u.all.Accept(plausible)
	if !standard {
		return u.notStandard.Accept(plausible)
	}
	return likely && u.notStandard.likely()
}

// Accept counts a number, and reports whether it may be an ID. Its time must be plausible. All times
// must be plausible, or at least two and half of all. Old times count less.
func (r *Ratio) Accept(plausible bool) bool {
	if r.seen == 64 { // old numbers count less
		r.seen, r.plausible = r.seen/2, r.plausible/2
	}
	r.seen++
	if !plausible {
		return false
	}
	r.plausible++
	if !r.likely() {
		r.LeftOut++
	}
	return r.likely()
}

func (r *Ratio) likely() bool {
	return r.plausible > 0 && r.plausible == r.seen || r.plausible >= 2 && r.plausible*2 >= r.seen
}
