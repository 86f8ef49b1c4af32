package format

import (
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/typed"
)

// cutTyped splits a text into a typed ID's prefix, with underscore, and the ID's text.
func (f *Format) cutTyped(text string) (prefix, rest string) {
	i := strings.LastIndexByte(text, '_')
	if i < 0 {
		return "", text
	}
	if strings.Contains(f.Text.Symbols, "_") { // the last _ may be part of the ID
		if f.hasTextLength(len(text)) {
			return "", text
		}
		from := max(len(text)-slices.Max(f.Text.Lengths)-1, 0)
		i = from + strings.IndexByte(text[from:], '_')
	}
	if i < 1 || typed.CheckPrefix(text[:i]) != nil || !f.hasTextLength(len(text)-i-1) {
		return "", text
	}
	return text[:i+1], text[i+1:]
}

func detectTyped(found []Candidate, text string, now time.Time) []Candidate {
	start := len(found)
	for _, f := range ours() {
		prefix, rest := f.cutTyped(text)
		if prefix == "" || classify(rest)&f.alphabet == 0 {
			continue
		}
		id, err := f.ParseAs(Text, rest)
		if err == nil && id.Plausible(now) && id.generated() {
			found = append(found, Candidate{id, Text, prefix, f.Search.WordLike})
		}
	}
	slices.SortStableFunc(found[start:], func(a, b Candidate) int {
		return a.rank(classify(text[len(a.Prefix):])) - b.rank(classify(text[len(b.Prefix):]))
	})
	return found
}

func (c Candidate) typedRank() int {
	switch {
	case c.Prefix == "" || !c.ID.format.Generates:
		return 1
	case c.WordLike:
		return 2
	}
	return 0
}
