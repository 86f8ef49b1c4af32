package spec

// Rules are numbers and names with which readers of IDs judge a text, in Go and in JavaScript.
type Rules struct {
	// Any number can be an ID of several formats. The time nearest to now is the most probable,
	// with these handicaps in years.
	Unusual int `json:"unusual"` // a field is larger than usual
	Rare    int `json:"rare"`    // for each step of Rarity
	Ahead   int `json:"ahead"`   // the time is later than tomorrow

	// Doubt is the [Format.Chance] from which a reading is in doubt.
	Doubt float64 `json:"doubt"`

	Hashes map[int]string `json:"hashes"` // names by the number of hexadecimal digits
	Orders []Order        `json:"orders"` // of the bytes of UUIDs
}

// Judgement has the rules for all formats.
var Judgement = Rules{
	Unusual: 8, Rare: 8, Ahead: 30, Doubt: 1.0 / 1000,
	Hashes: map[int]string{32: "MD5", 40: "SHA-1", 56: "SHA-224", 64: "SHA-256", 96: "SHA-384",
		128: "SHA-512"},
	Orders: orders,
}
