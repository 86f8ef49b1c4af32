package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"os"
	"path"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

func (d *distribution) writePackages(base string, t target, files []file) error {
	stage := filepath.Join(d.sandbox.dir, "stage_"+t.arch)
	unit, err := os.ReadFile(d.repo.name("packaging/systemd/sortid-new@.service"))
	if err != nil {
		return err
	}
	for _, f := range append(files, file{"systemd/sortid-new@.service", 0o644, unit}) {
		if path.Dir(f.name) == "man" {
			if f.data, err = compress(f.data); err != nil {
				return err
			}
			f.name += ".gz"
		}
		name := filepath.Join(stage, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.data, f.mode); err != nil {
			return err
		}
	}
	config, err := os.Open(d.repo.name("packaging/nfpm.yaml"))
	if err != nil {
		return err
	}
	defer config.Close()
	values := map[string]string{"ARCH": t.arch, "VERSION": d.version, "STAGE": stage}
	parsed, err := nfpm.ParseWithEnvMapping(
		config, func(name string) string { return values[name] })
	if err != nil {
		return err
	}
	parsed.MTime = d.time
	for _, format := range []string{"deb", "rpm"} {
		info, err := parsed.Get(format)
		if err != nil {
			return err
		}
		info = nfpm.WithDefaults(info)
		for _, c := range info.Contents {
			if c.FileInfo != nil {
				c.FileInfo.MTime = d.time
			}
		}
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := cmp.Or(packager.Package(info, &b), d.write(base+"."+format, b.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}
