// Command generate writes what the npm package and the page take from elsewhere: the formats from
// Go packages, and the script and the style of the page from their sources.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/big"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

// esbuild is a command, so that no go.mod requires it.
const esbuild = "github.com/evanw/esbuild/cmd/esbuild@v0.28.2"

type file struct {
	name string
	text func() ([]byte, error)
}

// files returns the files in the order of writing, because later ones import earlier ones.
func files() []file {
	all := []file{{"formats.js", table}, {"ours.js", list}, {"sortid.d.ts", types}}
	for _, f := range spec.Ours() {
		all = append(all, file{"ours/" + f.Name + ".d.ts", entry(f.Name)})
	}
	return append(all, file{"bundle/page.js", bundle("page.js")},
		file{"bundle/page.css", bundle("page.css")})
}

func main() {
	for _, f := range files() {
		text, err := f.text()
		if err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(f.name, text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

const header = `// Generated from the Go package format by "go generate"; do not edit.` + "\n"

// A bundle for one format has these members of its row, and these members of fields and texts.
var (
	basic      = []string{"name", "layout", "text", "max"}
	basicField = []string{"name", "bits", "low"}
	basicText  = []string{"symbols", "folds_case", "aliases", "lengths"}
)

// facts are the members of a row that readers of IDs do not need.
var facts = []string{"unique", "per_tick", "choose", "options", "node", "node_bits", "needs_node",
	"node_counter", "plan", "sql"}

type object = map[string]any

// take moves members to a new object.
func take(from object, names []string) object {
	taken := object{}
	for _, name := range names {
		if value, ok := from[name]; ok {
			taken[name] = value
			delete(from, name)
		}
	}
	return taken
}

// table has a constant for each of our formats. So a bundle contains only the formats that a program
// uses. The constant more has their other members. The page does not need the sources.
func table() ([]byte, error) {
	var constants, more, others, known, sources bytes.Buffer
	for line := range bytes.Lines(catalog.Table()) {
		var row object
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			return nil, err
		}
		f, err := spec.Lookup(row["name"].(string))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&sources, "%q: %s,\n", f.Name, encode(take(row, []string{"source", "chance"})["source"]))
		if found := take(row, facts); len(found) > 0 {
			fmt.Fprintf(&known, "%q: %s,\n", f.Name, encode(found))
		}
		if times, ok := row["time"].(object); ok {
			shorten(times)
		}
		if !f.Generates {
			delete(row, "generates")
			if f.Bits == 8*f.Size {
				delete(row, "bits")
			}
			if row["max"] == largest(f) {
				delete(row, "max")
			}
			fmt.Fprintf(&others, "%s,\n", encode(row))
			continue
		}
		own := take(row, basic)
		if own["max"] == fmt.Sprint(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1),
			uint(8*f.Size)), big.NewInt(1))) {
			delete(own, "max")
		}
		row["text"] = own["text"]
		own["text"] = take(row["text"].(object), basicText)
		row["layout"] = own["layout"]
		var layout []object
		for _, field := range own["layout"].([]any) {
			layout = append(layout, take(field.(object), basicField))
		}
		own["layout"] = layout
		own["width"] = 8 * f.Size
		own["epoch"], own["tick"] = f.Epoch.UnixMilli(), float64(f.Tick)/1e6
		own["firstMilli"], own["last"] = f.First.UnixMilli(), f.Last.UnixMilli()
		if own["wants"], err = wants(f); err != nil {
			return nil, err
		}
		fmt.Fprintf(&constants, "export const %s = %s;\n", f.Name, encode(own))
		fmt.Fprintf(&more, "%q: %s,\n", f.Name, encode(row))
	}
	return fmt.Appendf(nil, "%s%sexport const more = {\n%s};\nexport const others = [\n%s];\n"+
		"export const facts = {\n%s};\nexport const sources = {\n%s};\nexport const rules = %s;\n",
		header, &constants, &more, &others, &known, &sources, encode(spec.Judgement)), nil
}

// shorten removes the times that most formats have; id.js knows them.
func shorten(times object) {
	if times["first"] == times["epoch"] {
		delete(times, "first")
	}
	for name, usual := range map[string]string{"epoch": "1970", "plausible_from": "2010"} {
		if times[name] == usual+"-01-01T00:00:00.000Z" {
			delete(times, name)
		}
	}
}

// largest returns the largest integer of a layout, which id.js computes.
func largest(f *spec.Format) string {
	mask, values := f.Constant()
	return string(integer.Ones(f.Bits).AndNot(mask).Or(values).AppendDecimal(nil))
}

// encode returns JSON that does not escape the characters < > and &.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a bug: the values are part of the program
	}
	return bytes.TrimSpace(b.Bytes())
}

// wants returns what errors of Go say that they want, so that errors of JavaScript say the same.
func wants(f *spec.Format) (object, error) {
	all := object{}
	for kind, text := range map[string]string{
		"length": "!", "symbol": f.Example[:len(f.Example)-1] + "!",
	} {
		_, err := f.Parse(text)
		parse, ok := errors.AsType[*sortid.ParseError](err)
		if !ok {
			return nil, fmt.Errorf("%s: %q gives %v", f.Name, text, err)
		}
		all[kind] = parse.Want
	}
	return all, nil
}

// list has our formats in their order, with all members.
func list() ([]byte, error) {
	b := bytes.NewBufferString(header + "import { complete } from \"./id.js\";\n")
	var names []string
	var constants strings.Builder
	for _, f := range spec.Ours() {
		names = append(names, f.Name)
		fmt.Fprintf(b, "import { %s as basic_%[1]s } from \"./ours/%[1]s.js\";\n", f.Name)
		fmt.Fprintf(&constants, "export const %s = complete(basic_%[1]s);\n", f.Name)
	}
	fmt.Fprintf(b, "\n%sexport const ours = [%s];\n", &constants, strings.Join(names, ", "))
	return b.Bytes(), nil
}

// entry returns a function that writes the types of "sortid/NAME".
func entry(name string) func() ([]byte, error) {
	return func() ([]byte, error) {
		return fmt.Appendf(nil, `%simport type { BasicFormat } from "../sortid.js";

export declare const %s: BasicFormat<"%[2]s">;
export { GeneratorError, ParseError } from "../sortid.js";
export type { BasicFormat, BasicID, GeneratorOptions, IDGenerator } from "../sortid.js";
`, header, name), nil
	}
}

var declarations = regexp.MustCompile(`(?m)(^export declare const \w+: Format<"\w+">;\n)+`)

// types replaces the declarations of our formats.
func types() ([]byte, error) {
	var b bytes.Buffer
	for _, f := range spec.Ours() {
		fmt.Fprintf(&b, "export declare const %[1]s: Format<%[1]q>;\n", f.Name)
	}
	text, err := os.ReadFile("sortid.d.ts")
	return declarations.ReplaceAllLiteral(text, b.Bytes()), err
}

// bundle returns a function that makes one short file from a file and its imports.
func bundle(name string) func() ([]byte, error) {
	return func() ([]byte, error) {
		return run(name, "--bundle", "--minify", "--format=esm", "--charset=utf8",
			"--log-level=warning")
	}
}

// run runs esbuild.
func run(args ...string) ([]byte, error) {
	cmd := exec.Command("go", append([]string{"run", esbuild}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", cmd, err, &stderr)
	}
	return text, err
}
