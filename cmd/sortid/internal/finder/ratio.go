package finder

// A Ratio tells hashes from IDs in hexadecimal digits. One hash in hundreds has a plausible time by
// chance, but every ID has one. The zero Ratio is ready to use.
type Ratio struct{ seen, plausible int }

// UUIDs tells UUIDs of RFC 9562 from our IDs written as UUIDs. Its zero value is ready to use.
type UUIDs struct{ all, others Ratio }

// Accept counts a UUID and reports whether it may be ours. Its time must be plausible, and nine in
// ten of the times counted last. One in eight of our IDs has RFC 9562's variant and a version by
// chance. Such a UUID is accepted only after UUIDs that do not have them.
func (u *UUIDs) Accept(standard, plausible bool) bool {
	likely := u.all.Accept(plausible)
	if !standard {
		return u.others.Accept(plausible)
	}
	return likely && u.others.likely()
}

// Accept counts a number and reports whether it may be an ID: its time is plausible, and nine in
// ten of the times counted last.
func (r *Ratio) Accept(plausible bool) bool {
	if r.seen == 64 { // old numbers count for less
		r.seen, r.plausible = r.seen/2, r.plausible/2
	}
	r.seen++
	if plausible {
		r.plausible++
	}
	return plausible && r.likely()
}

func (r *Ratio) likely() bool { return r.seen > 0 && r.plausible*10 >= r.seen*9 }
