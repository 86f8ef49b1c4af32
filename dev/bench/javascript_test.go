package bench

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// The npm package sortid beside its peers in one run. The column "of peer" is the time of sortid as
// a part of the peer's time:
//
//	go test ./bench -run JavaScript -v
func TestJavaScript(t *testing.T) {
	testserver.Long(t, "installs packages from npm")
	dir := t.TempDir()
	npm := func(args ...string) error {
		cmd := exec.Command(testserver.Program(t, "npm"), args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("npm %q: %w\n%s", args, err, out)
		}
		return err
	}
	install := []string{"install", "--silent", "--no-audit", "--no-fund", "--prefix", dir}
	if err := npm(append(install, "scru128@3.0.6", "uuid@14.0.3")...); err != nil {
		testserver.Missing(t, err.Error(), "connect to npm's registry")
	}
	if err := npm(append(install, "scru64@2")...); err != nil {
		t.Log("without npm's scru64: ", err)
	}
	web := check.Must(filepath.Abs("../../cmd/sortid/web"))(t)
	check.OK(t, os.Symlink(web, filepath.Join(dir, "node_modules", "sortid")))
	script := check.Must(os.ReadFile("javascript.mjs"))(t)
	check.OK(t, os.WriteFile(filepath.Join(dir, "bench.mjs"), script, 0o600))
	out, err := exec.Command(testserver.Program(t, "node"), filepath.Join(dir, "bench.mjs")).Output()
	check.OK(t, err)
	var results map[string]map[string]float64
	check.OK(t, json.Unmarshal(out, &results))
	if len(results) != 7 {
		t.Fatalf("the script measures %d operations, want 7: %s", len(results), out)
	}
	for _, operation := range slices.Sorted(maps.Keys(results)) {
		libraries := results[operation]
		for _, library := range slices.Sorted(maps.Keys(libraries)) {
			if libraries[library] <= 0 {
				t.Errorf("%s of %s takes %v ns", operation, library, libraries[library])
			}
			values := []any{fmt.Sprintf("%.0f", libraries[library]), "ns/op"}
			if library[:min(6, len(library))] != "sortid" {
				ratio := libraries["sortid"] / libraries[library]
				values = append(values, fmt.Sprintf("%.2f", ratio), "sortid-of-peer")
			}
			Write(os.Stdout, "JavaScript"+operation, library, values...)
		}
	}
}
