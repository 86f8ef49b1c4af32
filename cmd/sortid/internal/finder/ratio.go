package finder

// A Ratio tells hashes from IDs in hexadecimal digits. A single hash looks like an ID. But
// only one hash in hundreds has a plausible time by chance, and every ID has one. The zero
// Ratio has counted nothing.
type Ratio struct{ seen, plausible int }

// UUIDs tells the UUIDs of RFC 9562 from IDs of our formats that are written as UUIDs. The zero
// UUIDs has counted nothing.
type UUIDs struct{ all, others Ratio }

// Accept counts a UUID and reports whether it may be an ID of ours. Its time must be
// plausible, and so must nine in ten of the recent times. A UUID with a version and the
// variant of RFC 9562 is no ID of ours, unless there have been UUIDs without. One in eight IDs
// of ours has such bits by chance.
func (u *UUIDs) Accept(standard, plausible bool) bool {
	likely := u.all.Accept(plausible)
	if !standard {
		return u.others.Accept(plausible)
	}
	return likely && u.others.likely()
}

// Accept counts a number and reports whether it may be an ID. Its time must be plausible, and
// so must nine in ten of the recent times, its own included.
func (r *Ratio) Accept(plausible bool) bool {
	if r.seen == 64 { // what was long ago counts for less
		r.seen, r.plausible = r.seen/2, r.plausible/2
	}
	r.seen++
	if plausible {
		r.plausible++
	}
	return plausible && r.likely()
}

// likely reports whether nine in ten of the recent numbers had plausible times.
func (r *Ratio) likely() bool { return r.seen > 0 && r.plausible*10 >= r.seen*9 }
