package finder

// A Ratio distinguishes IDs from hashes in hexadecimal digits. Every ID has a plausible time. One
// hash in hundreds has a plausible time by chance. The zero Ratio is ready to use.
type Ratio struct{ seen, plausible int }

// UUIDs distinguishes UUIDs of RFC 9562 from our IDs written as UUIDs. Its zero value is ready to
// use.
type UUIDs struct{ all, others Ratio }

// Accept counts a UUID, and reports whether it may be our ID. Its time must be plausible. Nine in
// ten of the recent UUIDs that are not standard must have plausible times. A standard UUID has RFC
// 9562's variant and a version, and one in eight of our IDs has both by chance. For a standard
// UUID, nine in ten of all recent UUIDs must also have plausible times.
func (u *UUIDs) Accept(standard, plausible bool) bool {
	likely := u.all.Accept(plausible)
	if !standard {
		return u.others.Accept(plausible)
	}
	return likely && u.others.likely()
}

// Accept counts a number, and reports whether it may be an ID. Its time must be plausible, and nine
// in ten of the recent numbers must have plausible times.
func (r *Ratio) Accept(plausible bool) bool {
	if r.seen == 64 { // old numbers count less
		r.seen, r.plausible = r.seen/2, r.plausible/2
	}
	r.seen++
	if plausible {
		r.plausible++
	}
	return plausible && r.likely()
}

func (r *Ratio) likely() bool { return r.seen > 0 && r.plausible*10 >= r.seen*9 }
