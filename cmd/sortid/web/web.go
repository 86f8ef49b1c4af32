// Package web makes the page of "sortid page" from files in this folder. sortid.js reads and makes
// IDs, and is also an npm package.
package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sortid/sortid/format"
)

//go:generate go run ./generate

//go:embed page.html page.css page.js sortid.js
var files embed.FS

// Table returns formats.js, the table for sortid.js: a line for each format.
func Table() []byte { return module(format.Table()) }

// Types returns the text of sortid.d.ts with a declaration for each of our formats.
func Types(text []byte) []byte {
	var b bytes.Buffer
	for _, f := range format.Ours() {
		fmt.Fprintf(&b, "export declare const %s: Format;\n", f.Name)
	}
	return declared.ReplaceAllLiteral(text, b.Bytes())
}

var declared = regexp.MustCompile(`(?m)(^export declare const \w+: Format;\n)+`)

func module(rows []byte) []byte {
	rows = bytes.ReplaceAll(bytes.TrimSpace(rows), []byte("\n"), []byte(",\n"))
	const header = `// Generated from the Go package format by "go generate"; do not edit.`
	return fmt.Appendf(nil, "%s\nexport const table = [\n%s\n];\n", header, rows)
}

// smallTable is [Table] without members that have the value false or that the page does not show.
// Members that sortid.js computes are missing, too.
func smallTable() ([]byte, error) {
	var b bytes.Buffer
	for line := range bytes.Lines(format.Table()) {
		var row map[string]any
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, err
		}
		for _, name := range []string{"source", "choose", "per_tick", "unique"} {
			delete(row, name)
		}
		text := row["text"].(map[string]any)
		if row["generates"] == false && text["groups"] == nil {
			delete(row, "max")
		}
		if times, ok := row["time"].(map[string]any); ok {
			if row["generates"] == false {
				delete(times, "first")
				delete(times, "last")
			}
			if times["plausible_from"] == "2010-01-01T00:00:00.000Z" { // the default of sortid.js
				delete(times, "plausible_from")
			}
		}
		if options, ok := row["options"].([]any); ok {
			row["options"] = slices.DeleteFunc(options, func(option any) bool {
				o := option.(map[string]any)
				delete(o, "env")
				return !slices.Contains([]any{"node", "worker", "ext"}, o["name"])
			})
		}
		for _, field := range row["layout"].([]any) {
			delete(field.(map[string]any), "low")
		}
		for _, members := range []map[string]any{row, text} {
			maps.DeleteFunc(members, func(_ string, value any) bool { return value == false })
		}
		line, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		b.Write(append(keys.ReplaceAll(line, []byte("$1$2:")), '\n'))
	}
	return share(module(b.Bytes())), nil
}

// share puts repeated long strings into constants.
func share(script []byte) []byte {
	count := map[string]int{}
	for _, s := range quoted.FindAll(script, -1) {
		count[string(s)]++
	}
	names := map[string]string{}
	var constants []byte
	script = quoted.ReplaceAllFunc(script, func(s []byte) []byte {
		text := string(s)
		if len(s) < 12 || count[text] == 1 {
			return s
		}
		if names[text] == "" {
			names[text] = fmt.Sprintf("$%d", len(names))
			constants = fmt.Appendf(constants, "const %s = %s;\n", names[text], s)
		}
		return []byte(names[text])
	})
	return append(constants, script...)
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// keys finds the names of members. It finds nothing in strings, because quotes there have a
// backslash.
var keys = regexp.MustCompile(`([{,])"([a-z_]+)":`)

// Page returns the page, and its content security policy for a header. The page contains this
// policy, too, but only a header can forbid frames.
func Page() (page []byte, policy string, err error) {
	piece := func(name string) []byte {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		return b
	}
	// The page has one script, because scripts inside a page cannot import each other.
	table, err := smallTable()
	if err != nil {
		return nil, "", err
	}
	script := bytes.Join([][]byte{table, piece("sortid.js"), piece("page.js")}, []byte("\n"))
	script = shorten(imported.ReplaceAll(exported.ReplaceAll(script, nil), nil))
	style := shorten(piece("page.css"))
	if bytes.Contains(bytes.ToLower(script), []byte("</script")) ||
		bytes.Contains(bytes.ToLower(style), []byte("</style")) {
		return nil, "", fmt.Errorf("a script or a style contains its own end tag")
	}
	policy = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; "+
		"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "+
		"trusted-types 'none'", hash(script), hash(style))
	page = []byte(strings.NewReplacer("{policy}", policy, "{style}", string(style), "{script}",
		string(script)).
		Replace(string(piece("page.html"))))
	return page, policy + "; frame-ancestors 'none'", nil
}

var (
	exported = regexp.MustCompile(`(?m)^export (?:default )?`)
	imported = regexp.MustCompile(`(?ms)^import .*? from "\./[a-z]+\.js";\n`)
)

// shorten removes comments and indents. It takes "// " for a comment if no quote follows in the
// line. So in a script, a string must end in the line in which it begins.
func shorten(code []byte) []byte { return indents.ReplaceAll(comments.ReplaceAll(code, nil), nil) }

var (
	comments = regexp.MustCompile("(?ms)^[ \\t]*(//[^\n]*|/\\*.*?\\*/)$\n|[ \\t]+// [^\n\"'`]*$")
	indents  = regexp.MustCompile(`(?m)^\s+`)
)

// hash returns the expression that permits the text in a content security policy.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
