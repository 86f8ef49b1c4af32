package textcodec

type kind uint8

const (
	digit kind = iota + 1
	small
	capital
	other // such as an underscore
)

var kinds = func() (t [256]kind) {
	for c := range 256 {
		switch {
		case '0' <= c && c <= '9':
			t[c] = digit
		case 'a' <= c && c <= 'z':
			t[c] = small
		case 'A' <= c && c <= 'Z':
			t[c] = capital
		case c == '-' || c == '_':
			t[c] = other
		}
	}
	return t
}()

// Mixed reports whether digits, small letters and capitals alternate as in random texts. The kind
// of character must change at least three times. If the text has only letters, the kind must change
// at about every second character.
func Mixed(text string) bool {
	changes, letters := 0, true
	var last kind
	for i := range len(text) {
		kind := kinds[text[i]]
		if i > 0 && kind != last {
			changes++
		}
		last = kind
		letters = letters && kind != digit && kind != other
	}
	return changes >= 3 && (!letters || changes*2 >= len(text)-3)
}
