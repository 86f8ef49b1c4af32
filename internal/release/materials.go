package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"golang.org/x/mod/module"
)

func (d *distribution) writeBillOfMaterials(name string, t target, binary []byte,
	info *debug.BuildInfo) error {
	sum := sha256.Sum256(binary)
	main := packageURL(info.Main.Path, info.Main.Version)
	goURL := packageURL("std", strings.TrimPrefix(info.GoVersion, "go"))
	components := []cdx.Component{{
		BOMRef: goURL, PackageURL: goURL, Type: cdx.ComponentTypeLibrary, Name: "std",
		Version: strings.TrimPrefix(info.GoVersion, "go"), Description: "The Go standard library",
	}}
	requires := []string{goURL}
	for _, m := range info.Deps { // they are in the order of their paths
		url := packageURL(m.Path, m.Version)
		c := cdx.Component{BOMRef: url, PackageURL: url, Type: cdx.ComponentTypeLibrary,
			Name: m.Path, Version: m.Version}
		// The sum of a module is the SHA-256 of its list of files.
		h1, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:"))
		if err == nil && len(h1) == sha256.Size {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(h1)}}
		}
		components = append(components, c)
		requires = append(requires, url)
	}
	bom := cdx.NewBOM()
	// Each binary has its own number, which is the same in each run.
	bom.SerialNumber = serialNumber(sum)
	bom.Metadata = &cdx.Metadata{
		Timestamp: d.time.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: main, PackageURL: main, Type: cdx.ComponentTypeApplication, Name: "sortid",
			Version:  info.Main.Version,
			Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256,
				Value: hex.EncodeToString(sum[:])}},
			Properties: &[]cdx.Property{
				{Name: "sortid:os", Value: t.os}, {Name: "sortid:arch", Value: t.arch},
			},
		},
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main, Dependencies: &requires}}
	var b bytes.Buffer
	err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	return cmp.Or(err, d.write(name, b.Bytes()))
}

func packageURL(path, version string) string { return "pkg:golang/" + path + "@" + version }

func serialNumber(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)

func notices(info *debug.BuildInfo, goroot, modules string) ([]byte, error) {
	var text bytes.Buffer
	fmt.Fprintf(&text,
		"The command sortid contains the software that is listed here, under these licences.\n")
	if err := addNotices(&text, "The Go standard library", goroot); err != nil {
		return nil, err
	}
	for _, m := range info.Deps {
		if isOurs(m.Path) {
			continue
		}
		escaped, err := module.EscapePath(m.Path)
		version, err2 := module.EscapeVersion(m.Version)
		dir := filepath.Join(modules, filepath.FromSlash(escaped)+"@"+version)
		if err := cmp.Or(err, err2, addNotices(&text, m.Path+" "+m.Version, dir)); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

func addNotices(text *bytes.Buffer, title, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceName.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "\n%s\n%s (%s)\n\n%s\n", strings.Repeat("=", 78), title, e.Name(),
			bytes.TrimSpace(data))
		found = true
	}
	if !found {
		return fmt.Errorf("%s: a distribution must have its licence, but %s has none", title, dir)
	}
	return nil
}
