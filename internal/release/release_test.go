package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := output(dir, "git", append([]string{"-c", "user.name=Test",
		"-c", "user.email=test@example.org"}, args...)...)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("git is not installed; to run this test: .ci/setup, or install it")
	}
	check.OK(t, err)
	return out
}

// released returns a clone with three modules, whose next version is v0.5.0, and its remote.
func released(t *testing.T) (dir, remote string) {
	t.Helper()
	dir, remote = t.TempDir(), t.TempDir()
	const requires = "\n\ngo 1.26\n\nrequire " + rootPath + " v0.4.0\n"
	for name, text := range map[string]string{
		"CHANGELOG.md": "# Changelog\n\n## v0.5.0 (2026-11-21)\n",
		"go.work": "go 1.26\n\nuse (\n\t.\n\t./store\n\t./dev // not published\n)\n\n" +
			"replace " + rootPath + " v0.4.0 => .\n",
		"go.mod":       "module " + rootPath + "\n\ngo 1.26\n",
		"store/go.mod": "module " + rootPath + "/store" + requires,
		"dev/go.mod":   "module " + rootPath + "/dev" + requires,
	} {
		name = filepath.Join(dir, name)
		check.OK(t, os.MkdirAll(filepath.Dir(name), 0o755))
		check.OK(t, os.WriteFile(name, []byte(text), 0o644))
	}
	c := check.Must(open(dir))(t)
	check.OK(t, c.bump("v0.5.0"))
	git(t, remote, "init", "-q", "--bare")
	git(t, dir, "init", "-q")
	git(t, dir, "remote", "add", "origin", remote)
	commit(t, dir)
	return dir, remote
}

func commit(t *testing.T, dir string) {
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "a change")
}

func replace(t *testing.T, name, old, new string) {
	data := check.Must(os.ReadFile(name))(t)
	check.OK(t, os.WriteFile(name, bytes.Replace(data, []byte(old), []byte(new), 1), 0o644))
}

func tag(t *testing.T, dir string, dryRun bool, checks ...[]string) (string, error) {
	t.Helper()
	c, err := open(dir)
	check.OK(t, err)
	var out bytes.Buffer
	err = (&tagging{clone: c, version: "v0.5.0", remote: "origin", checks: checks, dryRun: dryRun,
		out: &out}).run()
	return out.String(), err
}

func TestBump(t *testing.T) {
	dir, _ := released(t)
	text, err := os.ReadFile(filepath.Join(dir, "go.work"))
	if err != nil || !bytes.HasSuffix(text, []byte("replace "+rootPath+" v0.5.0 => .\n")) {
		t.Errorf("%v, go.work:\n%s", err, text)
	}
	c := check.Must(open(dir))(t)
	if v, err := c.version(); v != "v0.5.0" || err != nil {
		t.Errorf("the version is %q, %v", v, err)
	}
	for _, bad := range []string{"", "1.2.3", "v1.2", "v1.2.3+dirty", "v2.0.0"} {
		if err := c.bump(bad); err == nil {
			t.Errorf("version %q is accepted", bad)
		}
	}
}

func TestTag(t *testing.T) {
	dir, remote := released(t)
	const want = "git status\ngit push --atomic origin HEAD:refs/tags/v0.5.0 " +
		"HEAD:refs/tags/store/v0.5.0\n"
	if out, err := tag(t, dir, true, []string{"git", "status"}); out != want || err != nil {
		t.Errorf("a dry run printed\n%s, %v, want\n%s", out, err, want)
	}
	if tags := git(t, remote, "tag"); tags != "" {
		t.Errorf("a dry run made the tags %q", tags)
	}
	_, err := tag(t, dir, false)
	check.OK(t, err)
	if tags := git(t, remote, "tag"); tags != "store/v0.5.0\nv0.5.0" {
		t.Errorf("the remote has the tags %q", tags)
	}
}

func TestTagRefuses(t *testing.T) {
	testserver.Long(t, "makes many repositories")
	for _, test := range []struct {
		name   string
		change func(t *testing.T, dir, remote string)
		check  string // arguments of git
		want   string
	}{
		{name: "changes", change: func(t *testing.T, dir, _ string) {
			replace(t, filepath.Join(dir, "go.work"), "go 1.26", "go 1.27")
		}, want: "go.work"},
		{name: "a tag", change: func(t *testing.T, dir, _ string) {
			git(t, dir, "push", "-q", "origin", "HEAD:refs/tags/v0.5.0")
		}, want: "refs/tags/v0.5.0 exists"},
		{name: "another version", change: func(t *testing.T, dir, _ string) {
			replace(t, filepath.Join(dir, "store", "go.mod"), " v0.5.0", " v0.6.0")
			replace(t, filepath.Join(dir, "dev", "go.mod"), " v0.5.0", " v0.6.0")
			commit(t, dir)
		}, want: "require each other at v0.6.0; make bump"},
		{name: "two versions", change: func(t *testing.T, dir, _ string) {
			replace(t, filepath.Join(dir, "dev", "go.mod"), " v0.5.0", " v0.4.0")
			commit(t, dir)
		}, want: "other modules require"},
		{name: "no notes", change: func(t *testing.T, dir, _ string) {
			replace(t, filepath.Join(dir, "CHANGELOG.md"), "## v0.5.0", "## v0.5.00")
			commit(t, dir)
		}, want: "CHANGELOG.md has no section"},
		{name: "a failing check", check: "rev-parse -q --verify nonesuch", want: "nothing is tagged"},
		{name: "a check that changes a file", check: "rm -q CHANGELOG.md",
			want: "CHANGELOG.md"},
		{name: "a push that fails", change: func(t *testing.T, _, remote string) {
			hook := filepath.Join(remote, "hooks", "pre-receive")
			check.OK(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755))
		}, want: "git push"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, remote := released(t)
			if test.change != nil {
				test.change(t, dir, remote)
			}
			_, err := tag(t, dir, false, strings.Fields("git "+cmp.Or(test.check, "version")))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want one with %q", err, test.want)
			}
			if tags := git(t, remote, "tag"); strings.Contains(tags, "store") {
				t.Errorf("the remote has the tags %q", tags)
			}
		})
	}
}
