package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// pack writes the published modules into dir, in the form of a module proxy. It packs the files
// that git does not ignore.
func (r *repo) pack(dir, version string, commitTime time.Time) error {
	files, err := r.files()
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": commitTime.UTC()})
	if err != nil {
		return err
	}
	for _, m := range r.published() {
		if err := r.packModule(dir, m, version, info, files); err != nil {
			return fmt.Errorf("packing %s: %w", m.path(), err)
		}
	}
	return nil
}

func (r *repo) packModule(dir string, m *goModule, version string, info []byte,
	files []string) error {
	escaped, err := module.EscapePath(m.path())
	if err != nil {
		return err
	}
	at := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	goMod, err := os.ReadFile(m.file.Syntax.Name)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": goMod,
	} {
		if err := os.WriteFile(filepath.Join(at, name), data, 0o644); err != nil {
			return err
		}
	}
	zip, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		return err
	}
	defer zip.Close()
	if err := modzip.Create(zip, module.Version{Path: m.path(), Version: version},
		r.moduleFiles(m, files)); err != nil {
		return err
	}
	return zip.Close()
}

func (r *repo) files() ([]string, error) {
	out, err := r.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(name string) bool {
		_, err := os.Lstat(r.name(name))
		return name == "" || err != nil // deleted, but not committed yet
	}), nil
}

func (r *repo) name(file string) string { return filepath.Join(r.root, filepath.FromSlash(file)) }

type moduleFile struct{ inModule, name string }

func (f moduleFile) Path() string                { return f.inModule }
func (f moduleFile) Lstat() (fs.FileInfo, error) { return os.Lstat(f.name) }

func (f moduleFile) Open() (io.ReadCloser, error) { return os.Open(f.name) }

// moduleFiles returns the files of a module. If the module has no licence, it gets the licence of
// the repository, as with the go command. Package zip omits modules in subfolders.
func (r *repo) moduleFiles(m *goModule, files []string) (list []modzip.File) {
	licensed := false
	for _, name := range files {
		if inModule, ok := strings.CutPrefix("./"+name, m.folder()+"/"); ok {
			licensed = licensed || inModule == "LICENSE"
			list = append(list, moduleFile{inModule, r.name(name)})
		}
	}
	if !licensed {
		list = append(list, moduleFile{"LICENSE", r.name("LICENSE")})
	}
	return list
}

func (r *repo) publicPackages() ([]string, error) {
	args := []string{"list", "-f", `{{if and .GoFiles (ne .Name "main")}}{{.ImportPath}}{{end}}`}
	for _, m := range r.published() {
		args = append(args, m.folder()+"/...")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), "GOWORK=") // use the go.work of the clone
	out, err := output(cmd)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(out), func(name string) bool {
		return slices.Contains(strings.Split(name, "/"), "internal")
	}), nil
}
