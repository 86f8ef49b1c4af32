package main

import (
	"path/filepath"
	"strings"
)

// pack tags the modules at a version in a new git repository in dir, with the files that git does
// not ignore. In the environment that pack returns, the go command fetches them from there.
func (c *clone) pack(version, dir string) (env []string, err error) {
	repository := filepath.Join(dir, "repository.git")
	commands := [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-qm", version}}
	for _, m := range c.published() {
		commands = append(commands, []string{"tag", m.tag(version)})
	}
	for _, args := range commands {
		if _, err := output(c.root, "git", append([]string{"--git-dir=" + repository,
			"--work-tree=" + c.root, "-c", "user.name=release", "-c", "user.email=release@localhost",
			"-c", "commit.gpgSign=false", "-c", "tag.gpgSign=false"}, args...)...); err != nil {
			return nil, err
		}
	}
	caller, err := output(c.root, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	cache, proxy, _ := strings.Cut(caller, "\n")
	return []string{
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + fileURL(repository) + ".insteadOf",
		"GIT_CONFIG_VALUE_0=https://" + rootPath,
		"GOPRIVATE=" + rootPath, "GONOPROXY=" + rootPath, "GONOSUMDB=" + rootPath,
		// Other modules come from what the caller has downloaded, if possible.
		"GOPROXY=" + fileURL(filepath.Join(cache, "cache", "download")) + "," + proxy,
		"GOPATH=" + filepath.Join(dir, "go"), "GOMODCACHE=" + filepath.Join(dir, "modules"),
		"GOWORK=off", "GOFLAGS=-modcacherw", "GOBIN=", "CGO_ENABLED=0",
		// No setting may change binaries.
		"GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0",
	}, nil
}

func fileURL(dir string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
}
