package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
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

	batch "k8s.io/api/batch/v1"
)

// need returns a program's path. A missing one skips the test, or fails it in CI.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed; .ci/setup installs it", program)
		}
		t.Skipf("%s is not installed; to run this test: .ci/setup (on Debian and Ubuntu; "+
			"elsewhere, install it)", program)
	}
	return path
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDistribution(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command twice, and -short is set; to run this test: " +
			"go test without -short")
	}
	r, err := open(filepath.Join("..", ".."))
	check(t, err)
	if r.root, err = filepath.Abs(r.root); err != nil {
		t.Fatal(err)
	}
	version, err := r.version()
	check(t, err)
	dir := filepath.Join(t.TempDir(), "dist")
	arch := runtime.GOARCH
	if arch != "arm64" {
		arch = "amd64"
	}
	var sums [2]string
	for i := range sums {
		defer umask(umask([]int{0o022, 0o077}[i])) // the files must not depend on it
		var out strings.Builder
		check(t, r.distribute(&out, version, dir, []target{{"linux", arch}}))
		sums[i] = out.String()
	}
	if sums[0] != sums[1] {
		t.Errorf("two runs make different files:\n%s\n%s", sums[0], sums[1])
	}
	base := filepath.Join(dir, "sortid_"+strings.TrimPrefix(version, "v")+"_linux_"+arch)
	for _, ext := range []string{"tar.gz", "deb", "rpm", "cdx.json"} {
		if !strings.Contains(sums[0], filepath.Base(base)+"."+ext+"\n") {
			t.Errorf("there is no checksum of the %s", ext)
		}
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != arch {
		t.Skip("the packages are for Linux; to run this test: use Linux")
	}
	t.Run("archive", func(t *testing.T) { testArchive(t, base+".tar.gz") })
	t.Run("bill of materials",
		func(t *testing.T) { testBillOfMaterials(t, base+".cdx.json", version) })
	t.Run("deb", func(t *testing.T) { testDeb(t, base+".deb", version) })
	t.Run("rpm", func(t *testing.T) { testRPM(t, base) })
	sortid := filepath.Join(t.TempDir(), "usr", "bin", "sortid")
	t.Run("systemd", func(t *testing.T) {
		root := filepath.Dir(filepath.Dir(filepath.Dir(sortid)))
		mustRun(t, need(t, "dpkg-deb"), "-x", base+".deb", root)
		testSystemd(t, root)
	})
	t.Run("kubernetes", func(t *testing.T) {
		if _, err := os.Stat(sortid); err != nil {
			t.Skip("dpkg-deb has not unpacked the command; to run this test: .ci/setup")
		}
		testKubernetes(t, sortid)
	})
}

func mustRun(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := output(exec.Command(name, args...))
	check(t, err)
	return out
}

func testArchive(t *testing.T, name string) {
	f, err := os.Open(name)
	check(t, err)
	defer f.Close()
	uncompressed, err := gzip.NewReader(f)
	check(t, err)
	top := strings.TrimSuffix(filepath.Base(name), ".tar.gz") + "/"
	modes := map[string]int64{}
	for archive := tar.NewReader(uncompressed); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		check(t, err)
		inside, ok := strings.CutPrefix(header.Name, top)
		if !ok {
			t.Errorf("%s is not below %s", header.Name, top)
		}
		modes[inside] = header.Mode
	}
	for _, want := range []string{"LICENSE", "THIRD-PARTY-NOTICES.txt", "README.md", "man/sortid.1",
		"man/sortid-new.1",
		"completions/sortid.bash", "completions/sortid.zsh", "completions/sortid.fish",
		"completions/sortid.ps1"} {
		if modes[want] != 0o644 {
			t.Errorf("%s has mode %o, want 644", want, modes[want])
		}
	}
	if modes["sortid"] != 0o755 {
		t.Errorf("sortid has mode %o, want 755", modes["sortid"])
	}
}

func testBillOfMaterials(t *testing.T, name, version string) {
	data, err := os.ReadFile(name)
	check(t, err)
	var bom struct {
		BOMFormat  string
		Metadata   struct{ Component struct{ PURL string } }
		Components []struct{ Name, PURL string }
	}
	check(t, json.Unmarshal(data, &bom))
	if want := "pkg:golang/" + rootPath + "/cmd/sortid@" + version; bom.BOMFormat != "CycloneDX" ||
		bom.Metadata.Component.PURL != want {
		t.Errorf("the bill is of %q in the form %q", bom.Metadata.Component.PURL, bom.BOMFormat)
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

func testDeb(t *testing.T, name, version string) {
	root := t.TempDir()
	mustRun(t, need(t, "dpkg-deb"), "-x", name, root)
	sortid := []string{filepath.Join(root, "usr/bin/sortid")}
	if os.Getuid() == 0 {
		sortid = []string{need(t, "chroot"), root, "/usr/bin/sortid"}
	}
	call := func(args ...string) string {
		t.Helper()
		args = append(slices.Clone(sortid), args...)
		return mustRun(t, args[0], args[1:]...)
	}
	if got := call("--version"); !strings.HasPrefix(got, "sortid "+version+",") {
		t.Errorf("the packaged sortid says %q", got)
	}
	ids := strings.Fields(call("new", "scru128", "-n", "3"))
	if len(ids) != 3 {
		t.Fatalf("got the IDs %q, want 3", ids)
	}
	call(append([]string{"inspect"}, ids...)...)

	page, err := os.Open(filepath.Join(root, "usr/share/man/man1/sortid-new.1.gz"))
	check(t, err)
	defer page.Close()
	text, err := gzip.NewReader(page)
	check(t, err)
	if data, err := io.ReadAll(text); err != nil || !strings.Contains(string(data), ".SH OPTIONS") {
		t.Errorf("the manual page is %d bytes without OPTIONS, %v", len(data), err)
	}
	mustRun(t, need(t, "bash"), "-n",
		filepath.Join(root, "usr/share/bash-completion/completions/sortid"))
}

func testRPM(t *testing.T, base string) {
	fromDeb, fromRPM := t.TempDir(), t.TempDir()
	mustRun(t, need(t, "dpkg-deb"), "-x", base+".deb", fromDeb)
	need(t, "cpio")
	unpack := exec.Command("sh", "-c", need(t, "rpm2cpio")+
		` "$0" | cpio --quiet --no-absolute-filenames -idm`, base+".rpm")
	unpack.Dir = fromRPM
	if _, err := output(unpack); err != nil {
		t.Fatal(err)
	}
	deb, rpm := tree(t, fromDeb), tree(t, fromRPM)
	if len(deb) < 10 || !maps.Equal(deb, rpm) {
		t.Errorf("the .deb has %d files and the .rpm %d, or they differ", len(deb), len(rpm))
	}
}

func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		files[strings.TrimPrefix(name, root)] = info.Mode().String() + " " + string(data)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

func testSystemd(t *testing.T, root string) {
	data, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/system/sortid-new@.service"))
	check(t, err)
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		unit := filepath.Join(t.TempDir(), "sortid-new@orders.service")
		check(t, os.WriteFile(unit, data, 0o644))
		mustRun(t, analyze, "verify", "--man=no", unit)
	}
	dir := t.TempDir()
	check(t, os.Mkdir(filepath.Join(dir, "sortid-orders"), 0o755))
	commands := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if key, value, ok := strings.Cut(line, "="); ok && strings.HasPrefix(key, "ExecStart") {
			commands[key] = strings.NewReplacer("%i", "orders", "%t", dir, "/usr/bin/sortid",
				filepath.Join(root, "usr/bin/sortid")).Replace(value)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	mustRun(t, "sh", "-c", commands["ExecStartPre"])
	serve := exec.CommandContext(ctx, "sh", "-c", commands["ExecStart"])
	serve.Env = append(os.Environ(), "SORTID_STORE=bolt:"+filepath.Join(dir, "leases.db"))
	var stderr strings.Builder
	serve.Stderr = &stderr
	check(t, serve.Start())
	pipe, err := os.OpenFile(filepath.Join(dir, "sortid-orders", "ids"), os.O_RDONLY, 0)
	check(t, err)
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
	job := strictly[batch.Job](t, packaged(t, "packaging/kubernetes/new-lease.yaml"))
	if len(job.Spec.Template.Spec.Containers) != 1 {
		t.Fatal("the job does not have one container")
	}
	c := job.Spec.Template.Spec.Containers[0]
	cmd := exec.Command(sortid, c.Args...)
	cmd.Env = []string{c.Env[0].Name + "=bolt:" + filepath.Join(t.TempDir(), "leases.db")}
	out, err := output(cmd)
	check(t, err)
	if n := len(strings.Fields(out)); n != 1000 {
		t.Errorf("got %d IDs, want 1000", n)
	}
}

func TestDockerfile(t *testing.T) {
	_, last, ok := strings.Cut(packaged(t, "Dockerfile"), "\nFROM scratch\n")
	if !ok || strings.Contains(last, "\nFROM ") || strings.Contains(last, "\nRUN ") ||
		!strings.Contains(last, "\nUSER 65532") {
		t.Errorf("the last stage is:\n%s", last)
	}
}

func TestParseTargets(t *testing.T) {
	if all, err := parseTargets(""); err != nil || len(all) != 6 {
		t.Errorf("all targets are %v, %v", all, err)
	}
	if some, err := parseTargets("linux/arm64,windows/amd64"); err != nil || len(some) != 2 ||
		some[1] != (target{"windows", "amd64"}) {
		t.Errorf("some targets are %v, %v", some, err)
	}
	if _, err := parseTargets("plan9/386"); err == nil {
		t.Error("there is a target that is not built")
	}
}
