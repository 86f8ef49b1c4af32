package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type tagging struct {
	clone   *clone
	version string
	remote  string
	checks  [][]string // commands that must succeed first
	dryRun  bool       // only print the commands
	out     io.Writer
}

// run runs the checks. Then it makes a tag for each module at the remote, all or none.
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
	push := []string{"git", "push", "--atomic", t.remote}
	for _, tag := range t.tags() {
		push = append(push, "HEAD:"+tag)
	}
	return t.command(push...)
}

func (t *tagging) tags() (list []string) {
	for _, m := range t.clone.published() {
		list = append(list, "refs/tags/"+m.tag(t.version))
	}
	return list
}

func (t *tagging) refusal() error {
	changelog, err := os.ReadFile(filepath.Join(t.clone.root, "CHANGELOG.md"))
	heading := regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(t.version) + `( |$)`)
	if err == nil && !heading.Match(changelog) {
		err = fmt.Errorf("CHANGELOG.md has no section \"## %s\"", t.version)
	}
	err = errors.Join(t.dirty(), t.clone.checkNext(t.version), err)
	there, failed := output(t.clone.root, "git", "ls-remote", "--tags", "--refs", t.remote)
	for _, tag := range t.tags() {
		if slices.Contains(strings.Fields(there), tag) {
			err = errors.Join(err, fmt.Errorf("%s exists already: "+
				"a published version never changes, so release the next one", tag))
		}
	}
	return errors.Join(err, failed)
}

func (t *tagging) dirty() error {
	status, err := output(t.clone.root, "git", "status", "--porcelain")
	if err == nil && status != "" {
		err = fmt.Errorf("the working tree has changes that are not committed:\n%s", status)
	}
	return err
}

func (t *tagging) command(args ...string) error {
	line := strings.Join(args, " ")
	fmt.Fprintln(t.out, line)
	if t.dryRun {
		return nil
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.clone.root, t.out, t.out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}
