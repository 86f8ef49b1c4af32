package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

const rootPath = "github.com/sortid/sortid"

// workspaceDir is the folder of a module for go.work. The other modules require each other at a
// version that is not published yet. The go.mod in workspaceDir excludes this version, so the
// go command uses the folders of go.work.
const workspaceDir = "internal/workspace"

type goModule struct {
	dir       string // slash-separated path from the root; "." for the root module
	published bool
	file      *modfile.File
}

func (m *goModule) path() string { return m.file.Module.Mod.Path }

// folder returns the path from the root. It is "." or begins with "./".
func (m *goModule) folder() string { return strings.TrimSuffix("./"+m.dir, "/.") }

func (m *goModule) tag(version string) string { return path.Join(m.dir, version) }

// requires returns the requirements that are modules of this project.
func (m *goModule) requires() (ours []module.Version) {
	for _, r := range m.file.Require {
		if isOurs(r.Mod.Path) {
			ours = append(ours, r.Mod)
		}
	}
	return ours
}

func isOurs(modulePath string) bool {
	return modulePath == rootPath || strings.HasPrefix(modulePath, rootPath+"/")
}

type repo struct {
	root    string
	work    *modfile.WorkFile
	modules []*goModule // each module is after the modules that it requires
	time    time.Time   // what commitTime has returned
}

// open reads go.work and the go.mod of each of its modules. If go.work has the comment "not
// published" behind a folder, its module is not released.
func open(root string) (*repo, error) {
	name := filepath.Join(root, "go.work")
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := &repo{root: root}
	if r.work, err = modfile.ParseWork(name, data, nil); err != nil {
		return nil, err
	}
	for _, use := range r.work.Use {
		m := &goModule{dir: path.Clean(use.Path), published: true}
		for _, c := range use.Syntax.Suffix {
			if strings.Contains(c.Token, "not published") {
				m.published = false
			}
		}
		name := filepath.Join(root, filepath.FromSlash(m.dir), "go.mod")
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if m.file, err = modfile.Parse(name, data, nil); err != nil {
			return nil, err
		}
		r.modules = append(r.modules, m)
	}
	return r, r.sort()
}

func (r *repo) sort() error {
	var sorted []*goModule
	for rest := r.modules; len(rest) > 0; {
		waits := func(q module.Version) bool {
			return slices.ContainsFunc(rest, func(m *goModule) bool { return m.path() == q.Path })
		}
		i := slices.IndexFunc(rest, func(m *goModule) bool {
			return !slices.ContainsFunc(m.requires(), waits)
		})
		if i < 0 {
			return errors.New(
				"modules require each other in a circle, so no module can be tagged first")
		}
		sorted = append(sorted, rest[i])
		rest = slices.Delete(slices.Clone(rest), i, i+1)
	}
	r.modules = sorted
	return nil
}

func (r *repo) published() []*goModule {
	return slices.DeleteFunc(slices.Clone(r.modules), func(m *goModule) bool { return !m.published })
}

func (r *repo) find(modulePath string) *goModule {
	for _, m := range r.modules {
		if m.path() == modulePath {
			return m
		}
	}
	return nil
}

func (r *repo) git(args ...string) (string, error) {
	return output(exec.Command("git", append([]string{"-C", r.root}, args...)...))
}

// version returns the version at which the modules require each other: the next release.
func (r *repo) version() (string, error) {
	if m := r.find(rootPath + "/cmd/sortid"); m != nil {
		for _, q := range m.requires() {
			if q.Path == rootPath {
				return q.Version, nil
			}
		}
	}
	return "", fmt.Errorf("cmd/sortid/go.mod does not require %s", rootPath)
}

func (r *repo) checkNext(version string) error {
	next, err := r.version()
	if err == nil && version != next {
		err = fmt.Errorf(
			"version %q: the modules require each other at %s; make bump VERSION=%s changes this",
			version, next, version)
	}
	return err
}

func (r *repo) check() error {
	version, err := r.version()
	if err != nil {
		return err
	}
	if err := checkVersion(version); err != nil {
		return err
	}
	var errs []error
	report := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(r.work.Replace) > 0 {
		report("go.work has a replace directive: a clone would not build what users get")
	}
	required := map[module.Version]bool{}
	for _, m := range r.modules {
		name := path.Join(m.dir, "go.mod")
		if want := path.Join(rootPath, m.dir); m.path() != want {
			report("%s: the name of the module is %s, but its folder requires %s", name,
				m.path(), want)
		}
		if len(m.file.Replace) > 0 {
			report("%s has a replace directive: go install refuses such a module", name)
		}
		for _, q := range m.requires() {
			required[q] = true
			if q.Version != version {
				report("%s requires %s, but other modules require %s: "+
					"make bump VERSION=... sets all", name, q, version)
			}
			switch needed := r.find(q.Path); {
			case needed == nil:
				report("%s requires %s, which go.work does not list", name, q.Path)
			case m.published && !needed.published:
				report("%s requires %s, which go.work marks as not published", name, q.Path)
			}
		}
	}
	ws := r.find(path.Join(rootPath, workspaceDir))
	if ws == nil {
		report("go.work does not list %s", workspaceDir)
		return errors.Join(errs...)
	}
	excluded := map[module.Version]bool{}
	for _, e := range ws.file.Exclude {
		excluded[e.Mod] = true
		if !required[e.Mod] {
			report("%s/go.mod excludes %s, which no module requires", workspaceDir, e.Mod)
		}
	}
	for q := range required {
		if !excluded[q] {
			report("%s/go.mod has to exclude %s, because a module requires it", workspaceDir, q)
		}
	}
	return errors.Join(errs...)
}

func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("%q is not a version: expected one such as v0.1.0", version)
	}
	return module.CheckPathMajor(version, "")
}

func (r *repo) setVersion(version string) (changed []string, err error) {
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	for _, m := range r.modules {
		old := modfile.Format(m.file.Syntax)
		for _, q := range m.requires() {
			if err := m.file.AddRequire(q.Path, version); err != nil {
				return changed, err
			}
		}
		for _, e := range slices.Clone(m.file.Exclude) {
			if old := e.Mod; isOurs(old.Path) {
				err := cmp.Or(m.file.DropExclude(old.Path, old.Version),
					m.file.AddExclude(old.Path, version))
				if err != nil {
					return changed, err
				}
			}
		}
		m.file.Cleanup()
		data := modfile.Format(m.file.Syntax)
		if string(data) == string(old) {
			continue
		}
		if err := os.WriteFile(m.file.Syntax.Name, data, 0o644); err != nil {
			return changed, err
		}
		changed = append(changed, path.Join(m.dir, "go.mod"))
	}
	return changed, nil
}
