package browsertest

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// folder has the sources of the page and of the npm package.
const folder = "../../cmd/sortid/web"

func npm(t testing.TB, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(testserver.Program(t, "npm"), append([]string{"install", "--silent",
		"--no-audit", "--no-fund", "--prefix", dir}, names...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		testserver.Missing(t, fmt.Sprintf("npm cannot install %s: %v\n%s", names, err, out),
			"connect to npm's registry")
	}
	return dir
}

// pack packs the npm package, and installs it in the folder. It returns the names of its files.
func pack(t testing.TB, dir string) (files []string) {
	t.Helper()
	listed := decode[[]struct {
		Filename string
		Files    []struct{ Path string }
	}](t, output(t, folder, "", "npm", "pack", "--silent", "--json", "--pack-destination", dir))
	output(t, "", "", "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund",
		"--prefix", dir, filepath.Join(dir, listed[0].Filename))
	for _, f := range listed[0].Files {
		files = append(files, f.Path)
	}
	return files
}

// Node runs the tests of the npm package.
func TestNode(t *testing.T) {
	testserver.Long(t, "runs Node")
	output(t, folder, "", testserver.Program(t, "node", "nodejs"), "--test")
}

// The packed package and the one by scru128's author read each other's IDs.
func TestNpm(t *testing.T) {
	testserver.Long(t, "installs a package from npm")
	node, dir := testserver.Program(t, "node", "nodejs"), npm(t, "scru128@3.0.6")
	got := pack(t, dir)
	want := []string{"LICENSE", "README.md", "package.json", "sortid.d.ts", "lease.d.ts"}
	for _, pattern := range []string{"*.js", "ours/*"} {
		names := check.Must(fs.Glob(os.DirFS(folder), pattern))(t)
		want = append(want, slices.DeleteFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "page")
		})...)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("npm packs %q, want %q", got, want)
	}
	script := check.Must(os.ReadFile(folder + "/tests/scru128.peer.js"))(t)
	name := filepath.Join(dir, "peer.mjs")
	check.OK(t, os.WriteFile(name, script, 0o644))
	output(t, "", "", node, "--test", name)

	for _, id := range []string{example, "018bcfe5-68b1-7a5c-92d1-0123456789ab", "user_" + example,
		"{C8EE934SR007G5Q94QKKXFRFV8B}", "1541815603606036480", "cus_NffrFeUfNV2Hib"} {
		if got, want := output(t, dir, "", "npx", "sortid", id), run(t, "", "inspect", id); got != want {
			t.Errorf("npx sortid %s prints\n%s\nwant\n%s", id, got, want)
		}
	}
}

// A program in TypeScript, which must compile with the declarations of the packed package.
const typed = `
import { scru128, euid, detect, lookup, describe, facts, ID, ParseError } from "sortid";
import { scru64, type BasicID } from "sortid/scru64";
import { acquire } from "sortid/lease";

const id: ID = scru128.generate();
const milli: number | undefined = id.milli;
const reason: string | undefined = detect("x").reason;
const basic: BasicID = scru64.generator({ node: "5/8" }).generate();
const text: string | undefined = describe(id).text;
const node: number = (await acquire("https://localhost", "realm")).nodeId;
const same: boolean = scru128.fromClone(structuredClone(id)).equals(id) || id < lookup("ulid").fromInt(1);
console.log(milli, reason, basic.value, text, node, same, facts.scru64?.needs_node, ParseError);
// @ts-expect-error: basic formats have no ranges
scru64.bounds(1, 2);

const made = scru128.generate();
const certain: [string, string, Date, number] = [made.text, made.uuid, made.time, made.milli];
// @ts-expect-error: a ULID has no uuid
const uuid: string = lookup("ulid").fromInt(1).uuid;
type UserID = ID<"scru128", "user">;
const getUser = (id: UserID) => id.text;
getUser(scru128.parseTyped("user_0372ijojuxuhjsfkeryi2mrtm", "user"));
getUser(scru128.generate().withPrefix("user"));
// @ts-expect-error: another prefix
getUser(scru128.generate().withPrefix("order"));
// @ts-expect-error: no prefix
getUser(scru128.generate());
// @ts-expect-error: another format
getUser(euid.generate().withPrefix("user"));
const any: ID[] = [scru128.generate(), euid.generate().withPrefix("user")];
console.log(certain, uuid, any);
`

func TestTypes(t *testing.T) {
	testserver.Long(t, "installs a package from npm")
	dir := npm(t, "typescript@7.0.2")
	pack(t, dir)
	check.OK(t, os.WriteFile(filepath.Join(dir, "typed.mts"), []byte(typed), 0o644))
	for _, module := range []string{"nodenext", "esnext"} {
		resolution := map[string]string{"nodenext": "nodenext", "esnext": "bundler"}[module]
		output(t, dir, "", "npx", "tsc", "--noEmit", "--strict", "--module", module,
			"--moduleResolution", resolution, "--target", "es2023", "--lib", "es2023,dom", "--types", "",
			"typed.mts")
	}
}

const bundled = `import { scru128 } from "sortid/scru128";
const id = scru128.generate();
console.log(scru128.parse(String(id)).equals(id));
`

// Other bundlers make a small bundle, too. Other programs than Node run the package.
func TestBundlersAndRuntimes(t *testing.T) {
	testserver.Long(t, "installs packages from npm")
	for _, c := range []struct {
		name     string
		packages []string
		command  []string
		bundle   string
	}{
		{"rollup", []string{"rollup@4.68.8", "@rollup/plugin-node-resolve@16"},
			[]string{"rollup", "-p", "node-resolve", "entry.mjs", "--file", "out.mjs"}, "out.mjs"},
		{"webpack", []string{"webpack@5.113.0", "webpack-cli@7.3.1"},
			[]string{"webpack", "--mode", "production", "--entry", "./entry.mjs", "--output-path", ".",
				"--output-filename", "out.mjs"}, "out.mjs"},
		{"deno", []string{"deno@2.9.6"}, []string{"deno", "run", "--allow-read", "entry.mjs"}, ""},
		{"bun", []string{"bun@1.4.5"}, []string{"bun", "entry.mjs"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := npm(t, c.packages...)
			pack(t, dir)
			check.OK(t, os.WriteFile(filepath.Join(dir, "entry.mjs"), []byte(bundled), 0o644))
			got := output(t, dir, "", "npx", c.command...)
			if c.bundle != "" {
				b := check.Must(os.ReadFile(filepath.Join(dir, c.bundle)))(t)
				t.Logf("%d bytes", len(b))
				if len(b) > 18<<10 { // rollup does not minify
					t.Errorf("%d bytes", len(b))
				}
				got = output(t, dir, "", "node", c.bundle)
			}
			if !strings.Contains(got, "true") {
				t.Errorf("it prints %s", got)
			}
		})
	}
}

// Jest runs modules with an option of Node, as README.md of the package says.
func TestJest(t *testing.T) {
	testserver.Long(t, "installs a package from npm")
	dir := npm(t, "jest@30.5.2")
	pack(t, dir)
	check.OK(t, os.WriteFile(filepath.Join(dir, "id.test.mjs"), []byte(bundled+`
test("a new ID", () => expect(scru128.isValid(id.text)).toBe(true));
`), 0o644))
	output(t, dir, "", "node", "--experimental-vm-modules", "node_modules/jest/bin/jest.js")
}

// The vectors pass in a browser, whose regular expressions and big integers differ from Node's.
func TestVectorsInBrowser(t *testing.T) {
	tb := tabOf(t)
	tb.mayLoad = "http://127.0.0.1:"
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(os.DirFS("../..")))
	mux.HandleFunc("/favicon.ico",
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(mux)
	defer server.Close()
	tb.do(chromedp.Navigate(server.URL + "/cmd/sortid/web/package.json"))
	results := eval[map[string]struct {
		Checked int
		Faults  []string
	}](tb, `(async () => {
		const { formats } = await import("/cmd/sortid/web/sortid.js");
		const { checkVectors } = await import("/cmd/sortid/web/tests/vectors.js");
		const results = {};
		for (const format of formats.filter(({ generates }) => generates)) {
			results[format.name] = checkVectors(format, await (await fetch("/" + format.name + "/testdata/vectors.json")).json());
		}
		return results;
	})()`)
	if want := len(format.Ours()); len(results) != want {
		t.Errorf("%d formats, want %d", len(results), want)
	}
	for name, r := range results {
		if r.Checked < 70 || len(r.Faults) > 0 {
			t.Errorf("%s: %d vectors, faults %q", name, r.Checked, r.Faults)
		}
	}
}
