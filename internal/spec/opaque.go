package spec

// Opaque is a Format that nobody can change or look into. The type format.Format has the same
// underlying type.
type Opaque struct{ format *Format }

// Opaque returns the format's only Opaque.
func (f *Format) Opaque() *Opaque { return &f.opaque }

// Of returns the description of a *format.Format, or nil of nil.
func Of[F ~struct{ format *Format }](f *F) *Format {
	if f == nil {
		return nil
	}
	return Opaque(*f).format
}

// OfAll returns the descriptions of formats.
func OfAll[F ~struct{ format *Format }](formats []*F) []*Format {
	all := make([]*Format, len(formats))
	for i, f := range formats {
		all[i] = Of(f)
	}
	return all
}
