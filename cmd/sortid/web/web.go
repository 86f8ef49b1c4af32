// Package web makes the page of "sortid page" from the pieces in its folder: page.html,
// page.css, page.js, and the codecs in sortid.js, which are an npm package, too.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/sortid/sortid/format"
)

//go:generate go run ./generate

//go:embed page.html page.css page.js sortid.js
var files embed.FS

// A description is what sortid.js knows of a format. Times are Unix milliseconds.
type description struct {
	Name          string  `json:"name"`
	Title         string  `json:"title"`
	Summary       string  `json:"summary"`
	Bits          int     `json:"bits"`
	Alphabet      string  `json:"alphabet"`
	Symbols       string  `json:"symbols"`
	FoldsCase     bool    `json:"foldsCase"`
	TextLengths   []int   `json:"textLengths"`
	HexText       bool    `json:"hexText"`
	TextSorts     bool    `json:"textSorts"`
	Example       string  `json:"example"`
	Max           string  `json:"max"`
	Epoch         int64   `json:"epoch"`
	Tick          int64   `json:"tick"` // milliseconds
	Reserved      bool    `json:"reserved"`
	Last          int64   `json:"last"`
	PlausibleFrom int64   `json:"plausibleFrom"`
	Fields        []field `json:"fields"`
}

type field struct {
	Name    string `json:"name"`
	Bits    int    `json:"bits"`
	Kind    string `json:"kind"`
	Meaning string `json:"meaning"`
}

// Descriptions returns what sortid.js is to know of the formats: a line of JSON for each.
func Descriptions() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(true) // the text stands inside a script
	b.WriteString("[\n")
	for i, s := range format.Ours() {
		plausibleFrom, _ := s.PlausibleRange(s.Epoch)
		d := description{
			Name: s.Name, Title: s.Title, Summary: s.Summary, Bits: s.Bits,
			Alphabet: s.Alphabet, Symbols: s.Symbols, FoldsCase: s.FoldsCase, TextLengths: s.TextLengths, HexText: s.HexText,
			TextSorts: s.TextSorts, Example: s.Example, Max: s.Max().In(format.Int), Epoch: s.Epoch.UnixMilli(),
			Tick: s.Tick.Milliseconds(), Reserved: s.Reserved, Last: s.Last.UnixMilli(), PlausibleFrom: plausibleFrom.UnixMilli(),
		}
		for _, f := range s.Layout {
			d.Fields = append(d.Fields, field{f.Name, f.Bits, string(f.Kind), f.Meaning})
		}
		if err := e.Encode(d); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
		if i < len(format.Ours())-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// Describe returns sortid.js with the descriptions of the formats in it.
func Describe(module []byte) ([]byte, error) {
	const begin, end = "\nconst descriptions = ", ";\n"
	descriptions, err := Descriptions()
	if err != nil {
		return nil, err
	}
	before, rest, found := bytes.Cut(module, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte("]"+end))
	if !found || !closed {
		return nil, fmt.Errorf("sortid.js has no line %q", strings.TrimSpace(begin))
	}
	return bytes.Join([][]byte{before, []byte(begin), descriptions, []byte(end), after}, nil), nil
}

// Page returns the page and its content security policy for a header. The page has a policy
// within itself, too, which cannot forbid frames. All of the page is readable, and only the
// scripts and styles run whose hashes the policy has.
func Page() (page []byte, policy string, err error) {
	piece := func(name string) []byte {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		return b
	}
	module, err := Describe(piece("sortid.js"))
	if err != nil {
		return nil, "", err
	}
	// Both in one script, for a script in a page can import only from a URL.
	script := exported.ReplaceAll(module, nil)
	script = append(script, '\n')
	script = append(script, imported.ReplaceAll(piece("page.js"), nil)...)
	style := piece("page.css")
	if bytes.Contains(bytes.ToLower(script), []byte("</script")) || bytes.Contains(bytes.ToLower(style), []byte("</style")) {
		return nil, "", fmt.Errorf("a script or a style ends within itself")
	}
	policy = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; "+
		"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'", hash(script), hash(style))
	page = []byte(strings.NewReplacer("{policy}", policy, "{style}", string(style), "{script}", string(script)).
		Replace(string(piece("page.html"))))
	return page, policy + "; frame-ancestors 'none'", nil
}

var (
	exported = regexp.MustCompile(`(?m)^export (?:default )?`)
	imported = regexp.MustCompile(`(?ms)^import .*? from "\./sortid\.js";\n`)
)

// hash returns the source expression of a content security policy that allows the text.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
