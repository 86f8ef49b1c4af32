package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/testserver"
)

func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs npm: not with -short")
	}
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			testserver.Missing(t, "%s is not installed", program)
		}
	}
	s, ts := start(t, Config{Store: lease.NewMemory()})
	waitReady(t, s)
	dir := t.TempDir()
	source, err := os.ReadFile(filepath.Join("testdata", "client.ts"))
	must(t, err)
	for name, text := range map[string]string{
		"client.ts":    string(source),
		"openapi.json": send(t, "GET", ts.URL+"/openapi.json", "").body,
		"package.json": `{"type":"module","private":true}`,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run := func(name string, args ...string) ([]byte, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	if out, err := run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefer-offline",
		"openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3",
		"@types/node@24.0.0"); err != nil {
		testserver.Missing(t,
			"npm cannot install the generator of clients, so the test did not run: %v\n%s", err,
			out)
	}
	bin := func(name string) string { return filepath.Join("node_modules", ".bin", name) }
	for _, command := range [][]string{
		{filepath.Join(dir, bin("openapi-typescript")), "openapi.json", "-o", "api.d.ts"},
		{filepath.Join(dir, bin("tsc")), "--strict", "--skipLibCheck", "--target", "es2022",
			"--module", "nodenext", "--noUncheckedIndexedAccess", "client.ts"},
		{"node", "client.js", ts.URL},
	} {
		if out, err := run(command[0], command[1:]...); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
}
