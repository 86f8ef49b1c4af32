package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A sandbox uses the packed modules as a user does. It has its own module cache, so it does not use
// published modules of the same version.
type sandbox struct {
	dir     string // close deletes it
	version string
	time    time.Time // the time of the commit
	goroot  string
	env     []string
}

func newSandbox(r *repo) (s *sandbox, err error) {
	s = &sandbox{}
	if s.version, err = r.version(); err != nil {
		return nil, err
	}
	if s.time, err = r.commitTime(); err != nil {
		return nil, err
	}
	out, err := output(exec.Command(
		"go", "env", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOROOT"))
	if err != nil {
		return nil, err
	}
	caller := strings.Split(out, "\n")
	s.goroot = caller[4]
	if s.dir, err = os.MkdirTemp("", "sortid-release-"); err != nil {
		return nil, err
	}
	proxy, downloaded := filepath.Join(s.dir, "proxy"), filepath.Join(caller[0], "cache", "download")
	if err := r.pack(proxy, s.version, s.time); err != nil {
		s.close()
		return nil, err
	}
	s.env = append(os.Environ(),
		"GOWORK=off", "GOFLAGS=-modcacherw", "GOBIN=", "CGO_ENABLED=0",
		"GOPATH="+filepath.Join(s.dir, "go"), "GOMODCACHE="+filepath.Join(s.dir, "modules"),
		// Use what the caller has downloaded.
		"GOPROXY="+fileURL(proxy)+","+fileURL(downloaded)+","+caller[1],
		"GOSUMDB="+caller[2], "GONOSUMDB="+strings.Trim(caller[3]+","+rootPath, ","),
		// No setting may bypass the proxy.
		"GOENV=off", "GOPRIVATE=", "GONOPROXY=",
		// No setting may change binaries.
		"GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0",
	)
	return s, nil
}

func fileURL(dir string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}

func (s *sandbox) close() error { return os.RemoveAll(s.dir) }

func (s *sandbox) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(s.env, "PWD="+dir)
	return cmd
}

// install installs the command for a target. If the target is empty, it is this machine.
func (s *sandbox) install(t target) (string, error) {
	cmd := s.command(s.dir, "go", "install", "-trimpath", "-ldflags=-s -w -buildid=", rootPath+
		"/cmd/sortid@"+s.version)
	here := target{runtime.GOOS, runtime.GOARCH}
	t = cmp.Or(t, here)
	bin := filepath.Join(s.dir, "go", "bin")
	if t != here {
		bin = filepath.Join(bin, t.os+"_"+t.arch)
	}
	cmd.Env = append(cmd.Env, "GOOS="+t.os, "GOARCH="+t.arch)
	if _, err := output(cmd); err != nil {
		return "", err
	}
	return filepath.Join(bin, t.binary()), nil
}

type target struct{ os, arch string }

func (t target) binary() string {
	if t.os == "windows" {
		return "sortid.exe"
	}
	return "sortid"
}

// output returns the standard output of a command. The error has its standard error.
func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w\n%s%s", err, out, stderr.Bytes())
		}
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}
