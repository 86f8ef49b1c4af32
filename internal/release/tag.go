package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

type tagging struct {
	repo    *repo
	version string
	remote  string
	checks  [][]string // commands that must succeed first
	dryRun  bool       // only print the commands that change something
	out     io.Writer
}

// run runs the checks, and tags the modules in the order of their requirements. It pushes all tags,
// or none.
func (t *tagging) run() error {
	if err := t.refusal(); err != nil {
		return err
	}
	for _, check := range t.checks {
		if err := t.command(check...); err != nil {
			return fmt.Errorf("nothing is tagged: %w", err)
		}
	}
	// The checks may have changed a file, such as go.work.sum.
	if err := t.dirty(); err != nil && !t.dryRun {
		return err
	}
	var tags []string
	err := func() error {
		for _, m := range t.repo.published() {
			tag := m.tag(t.version)
			if err := t.git("tag", "-a", "-m", m.path()+" "+t.version, tag); err != nil {
				return err
			}
			tags = append(tags, tag)
		}
		return t.git(append([]string{"push", "--atomic", t.remote}, tags...)...)
	}()
	if err != nil && len(tags) > 0 && !t.dryRun {
		// Without the tags, another run is possible.
		err = errors.Join(err, t.git(append([]string{"tag", "-d"}, tags...)...))
	}
	return err
}

func (t *tagging) refusal() error {
	changelog, err := os.ReadFile(t.repo.name("CHANGELOG.md"))
	heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(t.version) + `( |$)`)
	if err == nil && !heading.Match(changelog) {
		err = fmt.Errorf("CHANGELOG.md has no section \"## %s\"", t.version)
	}
	return errors.Join(t.repo.check(), t.dirty(), t.repo.checkNext(t.version), err, t.taken())
}

func (t *tagging) dirty() error {
	status, err := t.repo.git("status", "--porcelain")
	if err == nil && status != "" {
		err = fmt.Errorf("the working tree has changes that are not committed:\n%s", status)
	}
	return err
}

func (t *tagging) taken() error {
	here, err := t.repo.git("tag", "--list")
	if err != nil {
		return err
	}
	there, err := t.repo.git("ls-remote", "--tags", "--refs", t.remote)
	if err != nil {
		return err
	}
	existing := strings.Fields(here + "\n" + strings.ReplaceAll(there, "refs/tags/", ""))
	var errs []error
	for _, m := range t.repo.published() {
		if tag := m.tag(t.version); slices.Contains(existing, tag) {
			errs = append(errs, fmt.Errorf("tag %s exists already: "+
				"a published version never changes, so release the next one", tag))
		}
	}
	return errors.Join(errs...)
}

func (t *tagging) git(args ...string) error {
	return t.command(append([]string{"git"}, args...)...)
}

func (t *tagging) command(args ...string) error {
	quoted := slices.Clone(args)
	for i, arg := range args {
		if strings.Contains(arg, " ") {
			quoted[i] = "'" + arg + "'"
		}
	}
	line := strings.Join(quoted, " ")
	fmt.Fprintln(t.out, line)
	if t.dryRun {
		return nil
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.repo.root, t.out, t.out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}
