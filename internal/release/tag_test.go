package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := output(exec.Command("git", append([]string{"-C", dir}, args...)...))
	check(t, err)
	return out
}

func released(t *testing.T) (clone, remote string) {
	t.Helper()
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_NAME", "Test")
		t.Setenv("GIT_"+name+"_EMAIL", "test@example.org")
	}
	clone, remote = checkout(t), t.TempDir()
	r, err := open(clone)
	check(t, err)
	if _, err := r.setVersion("v0.5.0"); err != nil {
		t.Fatal(err)
	}
	check(t, os.WriteFile(filepath.Join(clone, "CHANGELOG.md"),
		[]byte("# Changelog\n\n## v0.5.0 (2026-11-21)\n"), 0o644))
	git(t, remote, "init", "-q", "--bare")
	git(t, clone, "init", "-q")
	git(t, clone, "remote", "add", "origin", remote)
	git(t, clone, "add", "-A")
	git(t, clone, "commit", "-q", "-m", "first")
	return clone, remote
}

func tagRun(t *testing.T, clone string, change func(*tagging)) (string, error) {
	t.Helper()
	r, err := open(clone)
	check(t, err)
	var out bytes.Buffer
	step := &tagging{repo: r, version: "v0.5.0", remote: "origin",
		checks: [][]string{{"git", "status", "--short"}}, out: &out}
	change(step)
	err = step.run()
	return out.String(), err
}

func TestTag(t *testing.T) {
	clone, remote := released(t)
	out, err := tagRun(t, clone, func(s *tagging) { s.dryRun = true })
	check(t, err)
	if tags := git(t, clone, "tag"); tags != "" {
		t.Fatalf("a dry run made the tags %s", tags)
	}
	last := -1
	for _, line := range []string{"git status --short\n", " v0.5.0\n", " store/v0.5.0\n",
		" cmd/sortid/v0.5.0\n", "git push --atomic origin v0.5.0 "} {
		if at := strings.Index(out, line); at <= last {
			t.Fatalf("%q is not where it should be in:\n%s", line, out)
		} else {
			last = at
		}
	}
	if _, err := tagRun(t, clone, func(*tagging) {}); err != nil {
		t.Fatal(err)
	}
	for _, tag := range []string{"v0.5.0", "store/v0.5.0", "cmd/sortid/v0.5.0"} {
		if at := git(t, remote, "rev-parse", tag+"^{commit}"); at != git(t, clone, "rev-parse",
			"HEAD") {
			t.Errorf("tag %s at the remote names %s", tag, at)
		}
	}
}

func TestTagRefuses(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, clone, remote string, s *tagging)
		want   string
	}{
		{"changes", func(t *testing.T, clone, _ string, _ *tagging) {
			check(t, os.WriteFile(filepath.Join(clone, "new.go"), nil, 0o644))
		}, "new.go"},
		{"a tag here", func(t *testing.T, clone, _ string, _ *tagging) {
			git(t, clone, "tag", "store/v0.5.0")
		}, "tag store/v0.5.0 exists"},
		{"a tag there", func(t *testing.T, clone, remote string, _ *tagging) {
			git(t, clone, "push", "-q", "origin", "HEAD:refs/tags/cmd/sortid/v0.5.0")
		}, "tag cmd/sortid/v0.5.0 exists"},
		{"another version", func(_ *testing.T, _, _ string, s *tagging) { s.version = "v0.6.0" },
			"make bump"},
		{"no notes", func(t *testing.T, clone, _ string, _ *tagging) {
			replaceInFile(t, filepath.Join(clone, "CHANGELOG.md"), "## v0.5.0", "## v0.5.00")
			git(t, clone, "commit", "-q", "-a", "-m", "second")
		}, "CHANGELOG.md has no section"},
		{"a replace directive", func(t *testing.T, clone, _ string, s *tagging) {
			replaceInFile(t, filepath.Join(clone, "store", "go.mod"), "go 1.", "replace "+rootPath+
				" => ..\n\ngo 1.")
			git(t, clone, "commit", "-q", "-a", "-m", "second")
			s.repo, _ = open(clone)
		}, "replace directive"},
		{"a failing check", func(_ *testing.T, _, _ string, s *tagging) {
			s.checks = [][]string{{"git", "rev-parse", "--verify", "-q", "nonesuch"}}
		}, "nothing is tagged"},
		{"a check that changes a file", func(_ *testing.T, _, _ string, s *tagging) {
			s.checks = [][]string{{"git", "rm", "-q", "CHANGELOG.md"}}
		}, "CHANGELOG.md"},
		{"no remote", func(_ *testing.T, _, _ string, s *tagging) { s.remote = "nonesuch" },
			"nonesuch"},
	} {
		t.Run(test.name, func(t *testing.T) {
			clone, remote := released(t)
			before := ""
			_, err := tagRun(t, clone, func(s *tagging) {
				test.change(t, clone, remote, s)
				before = git(t, clone, "tag")
			})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got error %v, want one with %q", err, test.want)
			}
			if after := git(t, clone, "tag"); after != before {
				t.Errorf("the tags were %q and are %q", before, after)
			}
		})
	}
}

func TestTagPushFails(t *testing.T) {
	clone, remote := released(t)
	hook := "#!/bin/sh\nexit 1\n"
	check(t, os.WriteFile(filepath.Join(remote, "hooks", "pre-receive"), []byte(hook),
		0o755))
	if _, err := tagRun(t, clone, func(*tagging) {}); err == nil {
		t.Fatal("a push that the remote declines is no error")
	}
	if tags := git(t, clone, "tag"); tags != "" {
		t.Errorf("the tags %s are left", tags)
	}
}

func TestCommitDuringRun(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "")
	clone, _ := released(t)
	r, err := open(clone)
	check(t, err)
	before, err := r.commitTime()
	check(t, err)
	t.Setenv("GIT_COMMITTER_DATE", "2001-02-03T04:05:06Z")
	git(t, clone, "commit", "-q", "--allow-empty", "-m", "second")
	if after, err := r.commitTime(); err != nil || after != before {
		t.Errorf("a commit changed the time of the files from %v to %v, %v", before, after, err)
	}
}
