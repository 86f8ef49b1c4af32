package finder

// A Ratio tells hashes from IDs in hexadecimal digits, which look the same one by one: of
// hashes, one in hundreds has a plausible time by chance, and of IDs all have. The zero
// Ratio has counted nothing.
type Ratio struct{ seen, plausible int }

// Accept counts a number and reports whether it may be an ID: if its time is plausible, and
// so were nine in ten of those counted of late, itself included.
func (r *Ratio) Accept(plausible bool) bool {
	if r.seen == 64 { // what was long ago counts for less
		r.seen, r.plausible = r.seen/2, r.plausible/2
	}
	r.seen++
	if plausible {
		r.plausible++
	}
	return plausible && r.plausible*10 >= r.seen*9
}
