// Command generate writes formats.js, the names of our formats in sortid.d.ts, and the script and
// the style of the page.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"os/exec"
	"regexp"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/format"
)

// esbuild is a command, so that no go.mod requires it.
const esbuild = "github.com/evanw/esbuild/cmd/esbuild@v0.28.2"

// files are in the order of writing: page.js imports sortid.js, which imports formats.js.
var files = []struct {
	name string
	text func() ([]byte, error)
}{
	{"formats.js", table},
	{"sortid.d.ts", types},
	{"bundle/page.js", bundle("page.js")},
	{"bundle/page.css", bundle("page.css")},
}

func main() {
	for _, f := range files {
		text, err := f.text()
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(f.name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// table has a line for each format.
func table() ([]byte, error) {
	rows := bytes.ReplaceAll(bytes.TrimSpace(catalog.Table()), []byte("\n"), []byte(",\n"))
	const header = `// Generated from the Go package format by "go generate"; do not edit.`
	return fmt.Appendf(nil, "%s\nexport const table = [\n%s\n];\n", header, rows), nil
}

var declarations = regexp.MustCompile(`(?m)(^export declare const \w+: Format;\n)+`)

// types replaces the declarations of our formats.
func types() ([]byte, error) {
	var b bytes.Buffer
	for _, f := range format.Ours() {
		fmt.Fprintf(&b, "export declare const %s: Format;\n", f.Name)
	}
	text, err := os.ReadFile("sortid.d.ts")
	return declarations.ReplaceAllLiteral(text, b.Bytes()), err
}

// bundle returns a function that makes one short file from a file and its imports.
func bundle(name string) func() ([]byte, error) {
	return func() ([]byte, error) {
		cmd := exec.Command("go", "run", esbuild, name, "--bundle", "--minify", "--format=esm",
			"--charset=utf8", "--log-level=warning")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s", cmd, err, &stderr)
		}
		return text, err
	}
}
