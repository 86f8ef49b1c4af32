package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/testserver"
)

// folder has the sources of the page and of the npm package.
const folder = "../../cmd/sortid/web"

func npm(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(testserver.Program(t, "npm"), "install", "--silent", "--no-audit", "--no-fund",
		"--prefix", dir, name)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		testserver.Missing(t, fmt.Sprintf("npm cannot install %s: %v\n%s", name, err, out),
			"connect to npm's registry")
	}
	return dir
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
	output(t, folder, "", "npm", "pack", "--silent", "--pack-destination", dir)
	packed, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("npm packed %v, %v", packed, err)
	}
	output(t, "", "", "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund",
		"--prefix", dir, packed[0])
	script, err := os.ReadFile(folder + "/tests/scru128.peer.js")
	check(t, err)
	name := filepath.Join(dir, "peer.mjs")
	check(t, os.WriteFile(name, script, 0o644))
	output(t, "", "", node, "--test", name)
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
