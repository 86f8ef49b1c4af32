package scan

import (
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

// inWord says which bytes IDs can contain. In the main loop, tables of booleans are faster than
// masks.
var isAlnum, inWord = func() (alnums, words [256]bool) {
	for c, kind := range textcodec.KindOf {
		alnums[c], words[c] = kind.In(textcodec.Base36), kind.In(textcodec.Base64)
	}
	return alnums, words
}()

// A run is a part of a text: all bytes of a set between two other bytes.
type run struct {
	text       string
	start, end int
}

func (r *run) len() int { return r.end - r.start }

func (r *run) String() string { return r.text[r.start:r.end] }

func (r *run) kinds() textcodec.Kinds { return textcodec.KindsOf(r.String()) }

// nextRun returns the next whole run of bytes in a set. It ignores runs with fewer bytes than the
// parameter shortest. It first reads the byte at which the shortest run from i would end. If this
// byte is not in the set, nextRun skips all bytes before it.
func nextRun(text string, i, shortest int, set *[256]bool) (r run, ok bool) {
	for i+shortest <= len(text) {
		last := i + shortest - 1
		if !set[text[last]] {
			i = last + 1
			continue
		}
		start, end := last, last+1
		for start > i && set[text[start-1]] {
			start--
		}
		for end < len(text) && set[text[end]] {
			end++
		}
		if n := end - start; n >= shortest && (start == 0 || !set[text[start-1]]) {
			return run{text, start, end}, true
		}
		i = end
	}
	return run{}, false
}

// wordStarts returns where the word around the start of the run begins, and where its rest begins if
// it begins within an escape.
func (r *run) wordStarts() (first, afterEscape int) {
	const longest = 8 // of the letters and digits of escapes
	first = r.start
	for first > max(0, r.start-longest) && isAlnum[r.text[first-1]] {
		first--
	}
	return first, spec.AfterEscape(r.text, first)
}

// isFraction reports whether the run is behind a decimal point or a minus sign, or before a point
// and more digits.
func (r *run) isFraction() bool {
	digit := func(i int) bool { return i >= 0 && i < len(r.text) && textcodec.KindOf[r.text[i]] == textcodec.Digit }
	if i := r.start - 1; i >= 0 && (r.text[i] == '.' && digit(i-1) ||
		r.text[i] == '-' && (i == 0 || !inWord[r.text[i-1]])) {
		return true
	}
	return r.end < len(r.text) && r.text[r.end] == '.' && digit(r.end+1)
}

// isNumber reports whether the run is a number such as 0x1f.
func (r *run) isNumber() bool {
	base := r.text[r.start+1] | 0x20
	return r.text[r.start] == '0' && (base == 'x' || base == 'b' || base == 'o') &&
		textcodec.KindsOf(r.text[r.start+2:r.end]).In(textcodec.HexDigits)
}

// hexStart returns where the digits of the run begin, if it begins with 0x, or with the x of \x,
// which PostgreSQL prints before bytes. Otherwise, it returns the start of the run.
func (r *run) hexStart() int {
	switch first := r.text[r.start]; {
	case first == 'x' && r.start > 0 && r.text[r.start-1] == '\\':
		return r.start + 1
	case first == '0' && r.len() > 1 && r.text[r.start+1]|0x20 == 'x':
		return r.start + 2
	}
	return r.start
}

// isBesideBase64 reports whether + / - or _ joins the run to a run that looks like Base64. Such a
// run has digits and letters of both cases in its nearest 24 characters.
func (r *run) isBesideBase64() bool {
	const reach = 24
	if i := r.start - 1; i >= 0 && isJoint(r.text[i]) {
		first := i
		for first > max(0, i-reach) && isAlnum[r.text[first-1]] {
			first--
		}
		if isMixed(textcodec.KindsOf(r.text[first:i])) {
			return true
		}
	}
	if i := r.end; i < len(r.text) && isJoint(r.text[i]) {
		last := i + 1
		for last < min(len(r.text), i+1+reach) && isAlnum[r.text[last]] {
			last++
		}
		return isMixed(textcodec.KindsOf(r.text[i+1 : last]))
	}
	return false
}

func isJoint(c byte) bool { return c == '+' || c == '/' || c == '-' || c == '_' }

func isMixed(kinds textcodec.Kinds) bool { return kinds.Has(textcodec.Digit) && kinds.HasCases() }

// isLabelled reports whether the last word before the run ends with "id" in small or capital
// letters, as in "_id":"..." and ObjectId("...").
func (r *run) isLabelled() bool {
	const reach = 8
	i := r.start
	for i > max(2, r.start-reach) && !isAlnum[r.text[i-1]] {
		i--
	}
	return i > 1 && r.text[i-1]|0x20 == 'd' && r.text[i-2]|0x20 == 'i'
}
