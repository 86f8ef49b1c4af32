//go:build release

package release

import (
	"archive/zip"
	"bufio"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

func TestDist(t *testing.T) {
	testserver.Long(t, "builds the command")
	if runtime.GOOS != "linux" {
		t.Skip("make dist needs Linux; to run this test: use Linux")
	}
	testserver.Program(t, "zip")
	version, dir, sums := nextVersion(t), filepath.Join(t.TempDir(), "dist"), [2]string{}
	for i, mask := range []string{"022", "077"} { // the files must not depend on it
		sums[i] = run(t, root, nil, "sh", "-c", `umask "$0" && exec make -s dist "$@"`, mask,
			"VERSION="+version, "DIST="+dir, "TARGETS=linux/"+runtime.GOARCH+",windows/amd64")
	}
	if sums[0] != sums[1] {
		t.Errorf("two runs make different files:\n%s\n%s", sums[0], sums[1])
	}
	prefix := filepath.Join(dir, "sortid_"+strings.TrimPrefix(version, "v"))
	base, windows := prefix+"_linux_"+runtime.GOARCH, prefix+"_windows_amd64"
	for _, name := range []string{base + ".tar.gz", base + ".deb", base + ".rpm",
		base + ".cdx.json", windows + ".zip", windows + ".cdx.json"} {
		if !strings.Contains(sums[0]+"\n", filepath.Base(name)+"\n") {
			t.Errorf("there is no checksum of %s", filepath.Base(name))
		}
	}
	t.Run("archives", func(t *testing.T) { testArchives(t, base, windows) })
	t.Run("bill of materials", func(t *testing.T) { testBillOfMaterials(t, base, version) })
	deb := t.TempDir()
	run(t, "", nil, testserver.Program(t, "dpkg-deb"), "-x", base+".deb", deb)
	t.Run("deb", func(t *testing.T) { testDeb(t, deb, version) })
	t.Run("rpm", func(t *testing.T) {
		rpm := t.TempDir()
		testserver.Program(t, "cpio")
		run(t, rpm, nil, "sh", "-c", testserver.Program(t, "rpm2cpio")+
			` "$0" | cpio --quiet --no-absolute-filenames -idm`, base+".rpm")
		if have, want := tree(t, rpm), tree(t, deb); len(want) < 10 || !maps.Equal(have, want) {
			t.Errorf("the .deb has %d files and the .rpm %d, or they differ", len(want), len(have))
		}
	})
	t.Run("systemd", func(t *testing.T) { testSystemd(t, deb) })
	t.Run("kubernetes", func(t *testing.T) {
		testKubernetes(t, filepath.Join(deb, "usr", "bin", "sortid"))
	})
}

func testArchives(t *testing.T, base, windows string) {
	dir := t.TempDir()
	run(t, "", nil, "tar", "-xzf", base+".tar.gz", "-C", dir)
	files := tree(t, dir)
	zipped := check.Must(zip.OpenReader(windows + ".zip"))(t)
	defer zipped.Close()
	for _, name := range []string{"sortid", "LICENSE", "THIRD-PARTY-NOTICES.txt", "README.md",
		"man/sortid.1", "man/sortid-new.1", "completions/sortid.bash", "completions/sortid.zsh",
		"completions/sortid.fish", "completions/sortid.ps1"} {
		mode := "-rw-r--r--"
		if name == "sortid" {
			mode = "-rwxr-xr-x"
		}
		if text := files["/"+filepath.Base(base)+"/"+name]; !strings.HasPrefix(text, mode+" ") {
			t.Errorf("%s is %.10q, want mode %s", name, text, mode)
		}
		if name == "sortid" {
			name = "sortid.exe"
		}
		if f, err := zipped.Open(filepath.Base(windows) + "/" + name); err != nil {
			t.Error(err)
		} else {
			f.Close()
		}
	}
	notices := files["/"+filepath.Base(base)+"/THIRD-PARTY-NOTICES.txt"]
	for _, title := range []string{"The Go standard library (LICENSE)", "github.com/jackc/pgx/v5@v",
		"github.com/spf13/cobra@v"} {
		if !strings.Contains(notices, title) {
			t.Errorf("THIRD-PARTY-NOTICES.txt has nothing about %s", title)
		}
	}
}

func testBillOfMaterials(t *testing.T, base, version string) {
	data := check.Must(os.ReadFile(base + ".cdx.json"))(t)
	var bom struct {
		BOMFormat string
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, PURL string }
	}
	check.OK(t, json.Unmarshal(data, &bom))
	if c := bom.Metadata.Component; bom.BOMFormat != "CycloneDX" ||
		c.Name != rootPath+"/cmd/sortid" || c.Version != version {
		t.Errorf("the bill is of %v in the form %q", c, bom.BOMFormat)
	}
	var names []string
	for _, c := range bom.Components {
		names = append(names, c.Name)
	}
	for _, want := range []string{"std", rootPath, rootPath + "/store", "github.com/jackc/pgx/v5",
		"go.etcd.io/bbolt"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not on the bill", want)
		}
	}
}

func testDeb(t *testing.T, dir, version string) {
	sortid := []string{filepath.Join(dir, "usr/bin/sortid")}
	if os.Getuid() == 0 {
		sortid = []string{testserver.Program(t, "chroot"), dir, "/usr/bin/sortid"}
	}
	call := func(args ...string) string {
		t.Helper()
		return run(t, "", nil, sortid[0], slices.Concat(sortid[1:], args)...)
	}
	if got := call("--version"); !strings.HasPrefix(got, "sortid "+version+",") {
		t.Errorf("the packaged sortid says %q", got)
	}
	ids := strings.Fields(call("new", "scru128", "-n", "3"))
	if len(ids) != 3 {
		t.Fatalf("got the IDs %q, want 3", ids)
	}
	call(append([]string{"inspect"}, ids...)...)
	page := run(t, dir, nil, "gzip", "-dc", "usr/share/man/man1/sortid-new.1.gz")
	if !strings.Contains(page, ".SH OPTIONS") {
		t.Errorf("the manual page is %d bytes without OPTIONS", len(page))
	}
	run(t, dir, nil, testserver.Program(t, "bash"), "-n",
		"usr/share/bash-completion/completions/sortid")
}

// tree returns the mode and the content of each file.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	check.OK(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		files[strings.TrimPrefix(name, dir)] = info.Mode().String() + " " + string(data)
		return err
	}))
	return files
}

func testSystemd(t *testing.T, root string) {
	data, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/sortid-new@.service"))
	check.OK(t, err)
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		unit := filepath.Join(t.TempDir(), "sortid-new@orders.service")
		check.OK(t, os.WriteFile(unit, data, 0o644))
		run(t, "", nil, analyze, "verify", "--man=no", unit)
	}
	dir := t.TempDir()
	check.OK(t, os.Mkdir(filepath.Join(dir, "sortid-orders"), 0o755))
	commands := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if key, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(key, "ExecStart") {
			commands[key] = strings.NewReplacer("%i", "orders", "%t", dir, "/usr/bin/sortid",
				filepath.Join(root, "usr/bin/sortid")).Replace(value)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	run(t, "", nil, "sh", "-c", commands["ExecStartPre"])
	store := "bolt:" + filepath.Join(dir, "leases.db")
	createRealms(t, string(data), filepath.Join(root, "usr/bin/sortid"), store)
	serve := exec.CommandContext(ctx, "sh", "-c", commands["ExecStart"])
	serve.Env = append(os.Environ(), "SORTID_STORE="+store)
	var stderr strings.Builder
	serve.Stderr = &stderr
	check.OK(t, serve.Start())
	// O_RDWR, because os.O_RDONLY would block for ever if the service does not start.
	pipe, err := os.OpenFile(filepath.Join(dir, "sortid-orders", "ids"), os.O_RDWR, 0)
	check.OK(t, err)
	check.OK(t, pipe.SetReadDeadline(time.Now().Add(time.Minute)))
	seen := map[string]bool{}
	for ids := bufio.NewScanner(pipe); len(seen) < 100 && ids.Scan(); {
		seen[ids.Text()] = true
	}
	pipe.Close()
	err = serve.Wait()
	if len(seen) != 100 || err != nil {
		t.Errorf("read %d different IDs, want 100; then the service ended with %v and said %q",
			len(seen), err, stderr.String())
	}
}

func testKubernetes(t *testing.T, sortid string) {
	text := file(t, "packaging/kubernetes/new-lease.yaml")
	job := parse[workload](t, text)
	if len(job.Spec.Template.Spec.Containers) != 1 {
		t.Fatal("the job does not have one container")
	}
	c := job.Spec.Template.Spec.Containers[0]
	store := "bolt:" + filepath.Join(t.TempDir(), "leases.db")
	createRealms(t, text, sortid, store)
	out := run(t, "", []string{c.Env[0].Name + "=" + store}, sortid, c.Args...)
	if n := len(strings.Fields(out)); n != 1000 {
		t.Errorf("got %d IDs, want 1000", n)
	}
}
