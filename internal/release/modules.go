package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const rootPath = "github.com/sortid/sortid"

// A clone is a folder with go.work.
type clone struct {
	root string
	work struct {
		Use     []struct{ DiskPath string }
		Replace []struct{ Old, New requirement }
	}
	modules []module
}

// A module of go.work. Users do not get it if go.work has the comment "not published" behind its
// folder.
type module struct {
	dir       string // slash-separated path from the root; "." for the root module
	published bool
	requires  []requirement // modules of this project
}

type requirement struct{ Path, Version string }

func (m module) goMod() string             { return path.Join(m.dir, "go.mod") }
func (m module) tag(version string) string { return path.Join(m.dir, version) }

func open(root string) (*clone, error) {
	c := &clone{root: root}
	if err := c.read(&c.work, "work", "edit", "-json", "go.work"); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return nil, err
	}
	for _, use := range c.work.Use {
		m := module{dir: path.Clean(use.DiskPath),
			published: !strings.Contains(string(text), "\t"+use.DiskPath+" // not published\n")}
		var mod struct{ Require []requirement }
		if err := c.read(&mod, "mod", "edit", "-json", m.goMod()); err != nil {
			return nil, err
		}
		m.requires = slices.DeleteFunc(mod.Require, func(r requirement) bool {
			return !strings.HasPrefix(r.Path+"/", rootPath+"/")
		})
		c.modules = append(c.modules, m)
	}
	return c, nil
}

// read decodes what the go command prints.
func (c *clone) read(value any, args ...string) error {
	text, err := output(c.root, "go", args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), value)
}

func (c *clone) published() []module {
	return slices.DeleteFunc(slices.Clone(c.modules), func(m module) bool { return !m.published })
}

// version returns the version at which the modules require each other: the next release.
func (c *clone) version() (version string, err error) {
	for _, m := range c.modules {
		for _, r := range m.requires {
			version = cmp.Or(version, r.Version)
			if r.Version != version {
				return "", fmt.Errorf("%s requires %s %s, but other modules require %s: "+
					"make bump VERSION=... sets all", m.goMod(), r.Path, r.Version, version)
			}
		}
	}
	return version, checkVersion(version)
}

func (c *clone) checkNext(version string) error {
	next, err := c.version()
	if err == nil && version != next {
		err = fmt.Errorf(
			"version %q: the modules require each other at %s; make bump VERSION=%s changes this",
			version, next, version)
	}
	return err
}

func checkVersion(version string) error {
	const form = `^v[01](\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z.-]+)?$`
	if !regexp.MustCompile(form).MatchString(version) {
		return fmt.Errorf("%q is not a version: expected one such as v0.1.0", version)
	}
	return nil
}

// bump edits each go.mod, and go.work, which replaces the version that is not published.
func (c *clone) bump(version string) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	commands := [][]string{{"work", "edit", "-fmt"}}
	for _, r := range c.work.Replace {
		if r.Old.Version != version {
			commands[0] = append(commands[0], "-replace="+r.Old.Path+"@"+version+"="+r.New.Path,
				"-dropreplace="+r.Old.Path+"@"+r.Old.Version)
		}
	}
	commands[0] = append(commands[0], "go.work")
	for _, m := range c.modules {
		edit := []string{"mod", "edit", "-fmt"}
		for _, r := range m.requires {
			edit = append(edit, "-require="+r.Path+"@"+version)
		}
		commands = append(commands, append(edit, m.goMod()))
	}
	for _, args := range commands {
		if _, err := output(c.root, "go", args...); err != nil {
			return err
		}
	}
	return nil
}
