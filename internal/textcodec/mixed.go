package textcodec

// Mixed reports whether digits, small letters and capitals alternate as in random texts. The kind
// of character must change at least three times. If the text has only letters, the kind must change
// at about every second character.
func Mixed(text string) bool {
	changes, letters := 0, true
	var last Kinds
	for i := range len(text) {
		kind := kindOfCase(text[i])
		if i > 0 && kind != last {
			changes++
		}
		last = kind
		letters = letters && kind != Digit && kind != Dash
	}
	return changes >= 3 && (!letters || changes*2 >= len(text)-3)
}

// kindOfCase returns the kind of a byte. All small letters have one kind, and so have all capitals.
func kindOfCase(c byte) Kinds {
	switch kind := KindOf[c]; {
	case kind.In(Lower):
		return Lower
	case kind.In(Upper):
		return Upper
	default:
		return kind
	}
}
