package spec

import (
	"strings"

	"github.com/sortid/sortid/internal/textcodec"
)

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

	Wrappers [][3]string `json:"wrappers"` // what stands before and after an ID, and its name

	// Escapes stand for characters that are no letters or digits. The keys are how escapes begin.
	// The values are letters and digits in which they end; "?" is any hexadecimal digit.
	Escapes map[string][]string `json:"escapes"`
}

// Judgement has the rules for all formats.
var Judgement = Rules{
	Unusual: 8, Rare: 8, Ahead: 30, Doubt: 1.0 / 1000,
	Hashes: map[int]string{32: "MD5", 40: "SHA-1", 56: "SHA-224", 64: "SHA-256", 96: "SHA-384",
		128: "SHA-512"},
	Orders: orders,
	Wrappers: [][3]string{{`"`, `"`, "quotes"}, {"'", "'", "quotes"}, {"`", "`", "quotes"},
		{"“", "”", "quotes"}, {"„", "“", "quotes"}, {"‘", "’", "quotes"}, {"«", "»", "quotes"},
		{"(", ")", "brackets"}, {"[", "]", "brackets"}, {"<", ">", "brackets"}, {"{", "}", "braces"}},
	Escapes: map[string][]string{
		"%":    percent,                                                         // URLs
		"=":    {"3D"},                                                          // quoted-printable
		"=80=": {"9?", "A?"},                                                    // quotation marks and dashes
		`\`:    {"u????", "x??", "0??", "a", "b", "e", "f", "n", "r", "t", "v"}, // strings
		"#":    {"0??"},                                                         // syslog
		"^":    {"A", "I", "J", "M"},                                            // cat -v
		"[":    {"?m", "??m", "???m", "K", "?K", "G", "?G", "H", "?J"},          // ESC[32m
		";":    {"?m", "??m", "???m"},                                           // ESC[1;32m
		"(":    {"B"},                                                           // ESC(B
		// Without ESC, [m can be the start of a word.
		"\x1b[": {"m"}, "1b[": {"m"}, "1B[": {"m"}, "33[": {"m"}, "^[[": {"m"}, `\e[`: {"m"},
	},
}

// percent has the digits of control characters and punctuation. It also has letters, which programs do
// not escape, and the ends of other characters.
var percent = strings.Fields("09 0A 0a 0D 0d 1B 1b 2? 3A 3B 3C 3D 3E 3F 3a 3b 3c 3d 3e 3f " +
	"4? 5? 6? 7? 8? 9? A? B?")

type escape struct {
	begin string
	ends  []string
}

// escapes are by the last byte of their beginning.
var escapes = func() (by [256][]escape) {
	for begin, ends := range Judgement.Escapes {
		last := begin[len(begin)-1]
		by[last] = append(by[last], escape{begin, ends})
	}
	return by
}()

// AfterEscape returns where the escape ends whose letters and digits are at text[start:], or start.
func AfterEscape(text string, start int) (end int) {
	if start == 0 {
		return 0
	}
	end = start
	for text[start-1] == '%' && strings.HasPrefix(text[end:], "25") {
		end += 2 // a percent sign, which begins the next escape
	}
	for _, e := range escapes[text[start-1]] {
		if !strings.HasSuffix(text[:start], e.begin) {
			continue
		}
		for _, letters := range e.ends {
			if matches(text[end:], letters) {
				return end + len(letters)
			}
		}
	}
	return end
}

// matches reports whether a text begins with the letters of an escape.
func matches(text, end string) bool {
	if len(text) < len(end) {
		return false
	}
	for i := range len(end) {
		hex := textcodec.KindOf[text[i]].In(textcodec.HexDigits)
		if end[i] == '?' && !hex || end[i] != '?' && end[i] != text[i] {
			return false
		}
	}
	return true
}
