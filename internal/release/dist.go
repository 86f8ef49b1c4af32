package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// A distribution writes the files of a release. They depend only on the commit, the version and the
// release of Go.
type distribution struct {
	*sandbox
	repo *repo
	dir  string
	host string // path of the command sortid for this machine
	sums map[string][sha256.Size]byte
}

func (r *repo) distribute(w io.Writer, version, dir string, targets []target) error {
	if err := r.checkNext(version); err != nil {
		return err
	}
	s, err := newSandbox(r)
	if err != nil {
		return err
	}
	defer s.close()
	if err := cmp.Or(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	host, err := s.install(target{})
	if err != nil {
		return err
	}
	d := &distribution{sandbox: s, repo: r, dir: dir, host: host, sums: map[string][32]byte{}}
	stage, err := d.stageDocs()
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := d.distributeTarget(t, stage); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
	}
	var sums bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(d.sums)) {
		fmt.Fprintf(&sums, "%x  %s\n", d.sums[name], name)
	}
	fmt.Fprint(w, sums.String())
	return d.write("SHA256SUMS", sums.Bytes())
}

type file struct {
	name string // slash-separated
	mode fs.FileMode
	data []byte
}

// stageDocs returns the files that are the same for all targets.
func (d *distribution) stageDocs() (files []file, err error) {
	man := filepath.Join(d.sandbox.dir, "man")
	if err := os.Mkdir(man, 0o755); err != nil {
		return nil, err
	}
	cmd := d.command(d.sandbox.dir, d.host, "man", man)
	cmd.Env = append(cmd.Env, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", d.time.Unix()))
	if _, err := output(cmd); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(man, "*"))
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "CHANGELOG.md", "README.md"} {
		names = append(names, d.repo.name(name))
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		inside := filepath.Base(name)
		if filepath.Dir(name) == man {
			inside = "man/" + inside
		}
		files = append(files, file{inside, 0o644, data})
	}
	for _, shell := range [][2]string{{"bash", "bash"}, {"zsh", "zsh"}, {"fish", "fish"},
		{"powershell", "ps1"}} {
		text, err := output(d.command(d.sandbox.dir, d.host, "completion", shell[0]))
		if err != nil {
			return nil, err
		}
		files = append(files, file{"completions/sortid." + shell[1], 0o644, []byte(text + "\n")})
	}
	return files, nil
}

func (d *distribution) distributeTarget(t target, docs []file) error {
	name, err := d.install(t)
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return err
	}
	text, err := notices(info, d.goroot, filepath.Join(d.sandbox.dir, "modules"))
	if err != nil {
		return err
	}
	files := append([]file{
		{t.binary(), 0o755, binary},
		{"THIRD-PARTY-NOTICES.txt", 0o644, text},
	}, docs...)
	base := fmt.Sprintf("sortid_%s_%s_%s", strings.TrimPrefix(d.version, "v"), t.os, t.arch)
	if err := d.writeBillOfMaterials(base+".cdx.json", t, binary, info); err != nil {
		return err
	}
	if t.os == "windows" {
		return d.writeZip(base, files)
	}
	if err := d.writeTar(base, files); err != nil || t.os != "linux" {
		return err
	}
	return d.writePackages(base, t, files)
}

// write writes a file and remembers its checksum.
func (d *distribution) write(name string, data []byte) error {
	d.sums[name] = sha256.Sum256(data)
	return os.WriteFile(filepath.Join(d.dir, name), data, 0o644)
}

func (d *distribution) writeTar(base string, files []file) error {
	var b bytes.Buffer
	archive := tar.NewWriter(&b)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{
			Name: base + "/" + f.name, Mode: int64(f.mode), Size: int64(len(f.data)),
			ModTime: d.time, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	data, err := compress(b.Bytes())
	return cmp.Or(err, d.write(base+".tar.gz", data))
}

func (d *distribution) writeZip(base string, files []file) error {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: base + "/" + f.name, Method: zip.Deflate, Modified: d.time}
		header.SetMode(f.mode)
		out, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.data); err != nil {
			return err
		}
	}
	return cmp.Or(archive.Close(), d.write(base+".zip", b.Bytes()))
}

func parseTargets(list string) ([]target, error) {
	if list == "" {
		return targets, nil
	}
	var parsed []target
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.os+"/"+t.arch == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown target %q: expected os/architecture, one of %v", name,
				targets)
		}
		parsed = append(parsed, targets[i])
	}
	return parsed, nil
}
