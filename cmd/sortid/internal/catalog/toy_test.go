package catalog_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

const (
	clone = "../../../.."
	toy   = "testdata/toy"
)

// tested has the packages with a test TestEveryFormat.
var tested = []string{"./typed", "./pgxid", "./verify", "./cmd/sortid/web",
	"./cmd/sortid/internal/catalog"}

// A format of our own needs its package and the files that CONTRIBUTING.md lists, and no other
// code. The test adds a toy format from testdata/toy, with an overlay of the go command. Then it
// leaves out one file after another.
func TestToy(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles many packages; run it without -short")
	}
	overlay := newOverlay(t)
	listed := listedFiles(t)
	if len(listed) > 8 {
		t.Errorf("CONTRIBUTING.md lists %d files, want at most 8", len(listed))
	}
	for name := range overlay {
		if !strings.HasPrefix(name, "toy/") && !slices.Contains(listed, name) {
			t.Errorf("the toy needs %s, which CONTRIBUTING.md does not list", name)
		}
	}
	if out, err := goCommand(t, "test", overlay, append(everyFormat, tested...)...); err != nil {
		t.Fatalf("with all files of the toy: %v\n%s", err, out)
	}
	t.Run("command", func(t *testing.T) { roundTrip(t, overlay) })
	for _, name := range listed {
		t.Run("without "+name, func(t *testing.T) {
			if overlay[name] == "" {
				t.Fatalf("%s is in CONTRIBUTING.md, but not in %s", name, toy)
			}
			less := maps.Clone(overlay)
			delete(less, name)
			var out []byte
			var err error
			for _, dir := range nearest(name) { // stops at the first failure, because linking is slow
				if out, err = goCommand(t, "test", less, append(everyFormat, dir)...); err != nil {
					break
				}
			}
			if err == nil {
				t.Fatalf("no test fails without %s", name)
			}
			if !bytes.Contains(bytes.ToLower(out), []byte("toy")) {
				t.Errorf("the message does not name the toy:\n%s", out)
			}
		})
	}
}

var everyFormat = []string{"-vet=off", "-run=^TestEveryFormat$"}

// nearest returns the tested packages, beginning with those in the same folders as the file.
func nearest(file string) []string {
	same := func(dir string) (n int) {
		for dir = strings.TrimPrefix(dir, "./"); n < min(len(dir), len(file)); n++ {
			if dir[n] != file[n] {
				break
			}
		}
		return n
	}
	return slices.SortedStableFunc(slices.Values(tested), func(a, b string) int {
		return cmp.Compare(same(b), same(a))
	})
}

// roundTrip makes, parses and inspects IDs with the command.
func roundTrip(t *testing.T, overlay map[string]string) {
	command := filepath.Join(t.TempDir(), "sortid")
	if runtime.GOOS == "windows" {
		command += ".exe"
	}
	out, err := goCommand(t, "build", overlay, "-o", command, "./cmd/sortid")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.Command(command, args...)
		cmd.Stdin = strings.NewReader(input)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", cmd, err, out, &stderr)
		}
		return string(out)
	}
	made := run("", "new", "toy", "-n", "1000", "--node", "5/4")
	ids := strings.Fields(made)
	if len(ids) != 1000 || !slices.IsSorted(ids) || len(slices.Compact(ids)) != 1000 {
		t.Errorf("want 1000 increasing IDs:\n%.200s", made)
	}
	integers := run(made, "convert", "--format", "toy", "--to", "int", "-")
	if back := run(integers, "convert", "--format", "toy", "--to", "text", "-"); back != made {
		t.Errorf("%.100q as integers and back is %.100q", made, back)
	}
	var got struct {
		Format, Text string
		Fields       map[string]string
	}
	inspected := run("", "inspect", "--format", "toy", "-o", "json", "1ha42pg0b4nlh")
	if err := json.Unmarshal([]byte(inspected), &got); err != nil || got.Format != "toy" ||
		got.Text != "1ha42pg0b4nlh" || len(got.Fields) != 3 {
		t.Errorf("%s, %v", inspected, err)
	}
	report := run(made, "verify", "toy", "--node-bits", "4")
	if !strings.Contains(report, "1,000 IDs") {
		t.Errorf("verify prints\n%s", report)
	}
	for _, args := range [][]string{{"formats"}, {"plan", "--rate", "5"}, {"sql", "postgres"}} {
		if out := run("", args...); !strings.Contains(out, "toy") {
			t.Errorf("%q does not print toy:\n%s", args, out)
		}
	}
}

// listedFiles returns the files in the list of CONTRIBUTING.md, with the toy's name.
func listedFiles(t *testing.T) (files []string) {
	text := string(check.Must(os.ReadFile(clone + "/CONTRIBUTING.md"))(t))
	_, section, _ := strings.Cut(text, "\n### A sixth format\n")
	_, list, _ := strings.Cut(section, "\n\n- ")
	list, _, _ = strings.Cut("- "+list, "\n\n")
	for line := range strings.Lines(list) {
		if item, found := strings.CutPrefix(line, "- `"); found {
			file, _, _ := strings.Cut(item, "`")
			files = append(files, strings.ReplaceAll(file, "NAME", "toy"))
		}
	}
	if len(files) == 0 {
		t.Fatal(`CONTRIBUTING.md has no list below "A sixth format"`)
	}
	return files
}

// newOverlay returns the files to add or to replace: their names in the clone, and where their
// content is.
func newOverlay(t *testing.T) map[string]string {
	overlay := map[string]string{}
	root := check.Must(filepath.Abs(toy))(t)
	check.OK(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(root, path); err == nil && !d.IsDir() && name != "edits.txt" {
			overlay[filepath.ToSlash(name)] = path
		}
		return err
	}))
	folder := t.TempDir()
	for i, file := range strings.Split(string(check.Must(os.ReadFile(toy+"/edits.txt"))(t)),
		"@ ")[1:] {
		name, edits, _ := strings.Cut(file, "\n")
		edited := filepath.Join(folder, fmt.Sprint(i, filepath.Ext(name)))
		text := check.Must(os.ReadFile(filepath.Join(clone, name)))(t)
		check.OK(t, os.WriteFile(edited, []byte(edit(t, name, string(text), edits)), 0o600))
		overlay[name] = edited
	}
	return overlay
}

// edit replaces the lines after "- " by the lines after "+ ". The last line of the old text can be
// the start of a line.
func edit(t *testing.T, name, text, edits string) string {
	var old, replacement []string
	apply := func() {
		if len(replacement) == 0 {
			return
		}
		from, to := strings.Join(old, "\n"), strings.Join(replacement, "\n")
		if n := strings.Count(text, "\n"+from); n != 1 {
			t.Fatalf("%s has these lines %d times, but %s/edits.txt replaces them:\n%s", name, n,
				toy, from)
		}
		text = strings.Replace(text, "\n"+from, "\n"+to, 1)
		old, replacement = nil, nil
	}
	for line := range strings.Lines(edits) {
		switch content := strings.TrimSuffix(line[min(2, len(line)):], "\n"); line[0] {
		case '-':
			apply()
			old = append(old, content)
		case '+':
			replacement = append(replacement, content)
		}
	}
	apply()
	return text
}

func goCommand(t *testing.T, name string, overlay map[string]string,
	args ...string) ([]byte, error) {
	t.Helper()
	root := check.Must(filepath.Abs(clone))(t)
	replace := map[string]string{}
	for name, path := range overlay {
		replace[filepath.Join(root, name)] = path
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	text := check.Must(json.Marshal(map[string]any{"Replace": replace}))(t)
	check.OK(t, os.WriteFile(file, text, 0o600))
	cmd := exec.Command("go", append([]string{name, "-overlay", file}, args...)...)
	cmd.Dir = root
	return cmd.CombinedOutput()
}
