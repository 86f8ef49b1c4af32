package main

import (
	"archive/zip"
	"bytes"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	r, err := open(filepath.Join("..", ".."))
	check(t, err)
	names := []string{"go.work"}
	for _, m := range r.modules {
		names = append(names, filepath.Join(m.dir, "go.mod"))
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		check(t, err)
		check(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		if err := os.WriteFile(filepath.Join(root, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func replaceInFile(t *testing.T, name, old, new string) {
	t.Helper()
	data, err := os.ReadFile(name)
	check(t, err)
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s does not have %q", name, old)
	}
	check(t, os.WriteFile(name, bytes.Replace(data, []byte(old), []byte(new), 1),
		0o644))
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name, file, old, new string
		want                 string
	}{
		{name: "as it is", file: "go.mod", old: "module", new: "module"},
		{name: "replace", file: "store/go.mod", old: "go 1.", new: "replace " + rootPath +
			" => ..\n\ngo 1.", want: "store/go.mod has a replace directive"},
		{name: "replace in go.work", file: "go.work", old: "use (", new: "replace " + rootPath +
			" => .\n\nuse (", want: "go.work has a replace directive"},
		{name: "version", file: "store/go.mod", old: rootPath + " v", new: rootPath + " v0.0.9 //",
			want: "make bump"},
		{name: "exclude is missing", file: "internal/workspace/go.mod", old: rootPath + "/store v",
			new: rootPath + "/other v", want: "has to exclude " + rootPath + "/store@v"},
		{name: "exclude of nothing", file: "internal/workspace/go.mod", old: rootPath + "/store v",
			new: rootPath + "/store v0.0.9 //", want: "which no module requires"},
		{name: "name", file: "store/go.mod", old: "module " + rootPath + "/store", new: "module " +
			rootPath + "/stores", want: "its folder requires"},
		{name: "not published", file: "go.work", old: "./store", new: "./store // not published",
			want: "not published"},
		{name: "not listed", file: "go.work", old: "\t./store\n",
			want: "which go.work does not list"},
		{name: "no workspace", file: "go.work", old: "\t./internal/workspace // not published\n",
			want: "does not list internal/workspace"},
		{name: "circle", file: "go.mod", old: "go 1.", new: "require " + rootPath +
			"/store v0.1.0\n\ngo 1.", want: "circle"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := checkout(t)
			replaceInFile(t, filepath.Join(root, test.file), test.old, test.new)
			r, err := open(root)
			if err == nil {
				err = r.check()
			}
			if test.want == "" && err != nil {
				t.Fatal(err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Fatalf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	r, err := open(filepath.Join("..", ".."))
	check(t, err)
	var tags []string
	for _, m := range r.published() {
		tags = append(tags, m.tag("v0.1.0"))
	}
	root, store, cmd := slices.Index(tags, "v0.1.0"), slices.Index(tags,
		"store/v0.1.0"), slices.Index(tags, "cmd/sortid/v0.1.0")
	if root < 0 || root > store || store > cmd {
		t.Errorf("the tags come in the order %q", tags)
	}
	for _, m := range r.modules {
		if strings.HasPrefix(m.dir, "internal/") && m.published {
			t.Errorf("%s would be published", m.dir)
		}
	}
}

func TestSetVersion(t *testing.T) {
	root := checkout(t)
	r, err := open(root)
	check(t, err)
	for _, bad := range []string{"", "1.2.3", "v1.2", "v1.2.3+dirty", "v2.0.0"} {
		if _, err := r.setVersion(bad); err == nil {
			t.Errorf("version %q is accepted", bad)
		}
	}
	changed, err := r.setVersion("v0.2.0")
	check(t, err)
	for _, name := range []string{"store/go.mod", "cmd/sortid/go.mod", "bench/go.mod",
		"internal/workspace/go.mod"} {
		if !slices.Contains(changed, name) {
			t.Errorf("%s is not changed, only %q", name, changed)
		}
	}
	if r, err = open(root); err != nil {
		t.Fatal(err)
	}
	if err := r.check(); err != nil {
		t.Error(err)
	}
	if v, err := r.version(); v != "v0.2.0" || err != nil {
		t.Errorf("the version is %q, %v", v, err)
	}
	if changed, err := r.setVersion("v0.2.0"); len(changed) > 0 || err != nil {
		t.Errorf("setting the same version again changed %q, %v", changed, err)
	}
}

func TestModuleFiles(t *testing.T) {
	r, err := open(filepath.Join("..", ".."))
	check(t, err)
	dir := t.TempDir()
	check(t, r.pack(dir, "v0.1.0", time.Now()))
	for _, m := range r.published() {
		packed, err := zip.OpenReader(filepath.Join(dir, m.path(), "@v", "v0.1.0.zip"))
		check(t, err)
		defer packed.Close()
		var names []string
		for _, f := range packed.File {
			names = append(names, strings.TrimPrefix(f.Name, m.path()+"@v0.1.0/"))
		}
		for _, name := range []string{"go.mod", "LICENSE"} {
			if !slices.Contains(names, name) {
				t.Errorf("module %s would be packed without %s", m.path(), name)
			}
		}
		if m.dir == "." && slices.Contains(names, "store/store.go") {
			t.Error("the root module would have files of module store")
		}
	}
	packages, err := r.publicPackages()
	check(t, err)
	for _, name := range []string{"scru64", "format", "lease", "lease/storetest", "store",
		"store/bolt", "store/postgres"} {
		if !slices.Contains(packages, rootPath+"/"+name) {
			t.Errorf("package %s is not among the public ones", name)
		}
	}
	for _, p := range packages {
		if strings.Contains(p, "internal") || !token.IsIdentifier(filepath.Base(p)) {
			t.Errorf("%s is among the public packages", p)
		}
	}
}
