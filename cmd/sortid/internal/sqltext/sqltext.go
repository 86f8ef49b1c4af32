// Package sqltext has SQL with which databases read and make IDs. Each file can run as it is.
package sqltext

import (
	"embed"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/sortid/sortid/cmd/sortid/internal/sqltext/derive"
	"github.com/sortid/sortid/internal/spec"
)

//go:embed postgres mysql sqlite duckdb
var files embed.FS

const DefaultSchema = "sortid"

func Postgres(schema string, formats []*spec.Format) (string, error) {
	if err := checkName("schema", schema); err != nil {
		return "", err
	}
	names := []string{"header"}
	ours, others := split(formats)
	if len(ours) > 0 {
		names = append(names, "common", "typed")
	}
	for _, f := range ours {
		for _, part := range f.SQL.Parts {
			if !slices.Contains(names, part) {
				names = append(names, part)
			}
		}
	}
	text, err := read("postgres", names, ours, others, derive.Postgres)
	return withVersion(inSchema(text, schema)), err
}

// withVersion makes the function version return the version of the running command.
func withVersion(text string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return text
	}
	return strings.Replace(text, "RETURN '(devel)';", "RETURN '"+info.Main.Version+"';", 1)
}

func MySQL(formats []*spec.Format) (string, error) {
	ours, others := split(formats)
	return read("mysql", []string{"header", "common"}, ours, others, derive.MySQL)
}

// SQLite has our formats' SQL from files, if there are any, and else from the table of formats.
func SQLite(formats []*spec.Format) (string, error) {
	ours, others := split(formats)
	written := slices.DeleteFunc(slices.Clone(ours), func(f *spec.Format) bool {
		_, err := files.Open("sqlite/" + f.Name + ".sql")
		return err != nil
	})
	derived := slices.DeleteFunc(ours,
		func(f *spec.Format) bool { return slices.Contains(written, f) })
	return read("sqlite", []string{"header"}, written, append(derived, others...), derive.SQLite)
}

// DuckDB returns macros, all of them from the table of formats.
func DuckDB(formats []*spec.Format) (string, error) {
	ours, others := split(formats)
	return read("duckdb", []string{"header"}, nil, append(ours, others...), derive.DuckDB)
}

// WithOthers returns our formats, and the formats of other projects for which a function of this
// package has SQL.
func WithOthers(text func([]*spec.Format) (string, error)) []*spec.Format {
	return append(spec.Ours(), derive.Formats(func(f *spec.Format) (string, error) {
		return text([]*spec.Format{f})
	})...)
}

// split returns our formats and the others, each in the order of the table. Formats that are not in
// the table come last.
func split(formats []*spec.Format) (ours, others []*spec.Format) {
	all := spec.All()
	for _, f := range formats {
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	for _, f := range all {
		switch {
		case !slices.Contains(formats, f):
		case f.Generates:
			ours = append(ours, f)
		default:
			others = append(others, f)
		}
	}
	return ours, others
}

// read joins files of a folder, with empty lines between them: first the named files, then our
// formats' files. Then it appends what the function write has for the other formats.
func read(folder string, names []string, ours, others []*spec.Format,
	write func(*spec.Format) (string, error)) (string, error) {
	for _, f := range ours {
		names = append(names, f.Name)
	}
	if _, err := files.Open(folder + "/others.sql"); err == nil && len(others) > 0 {
		names = append(names, "others")
	}
	var texts []string
	for _, name := range names {
		b, err := files.ReadFile(folder + "/" + name + ".sql")
		if err != nil {
			return "", fmt.Errorf("no SQL for %s and %s: sqltext has no file %s/%[1]s.sql", name, folder,
				folder)
		}
		byDefault := strings.ReplaceAll(defaultOf(folder, name), "\n", "\n--   ")
		texts = append(texts, strings.Replace(string(b), "(expression)", byDefault, 1))
	}
	for _, f := range others {
		text, err := write(f)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// defaultOf returns the expression that makes IDs of a format in a DEFAULT, or "" if there is none.
func defaultOf(folder, name string) string {
	b, _ := files.ReadFile(folder + "/" + name + "_default.sql")
	return strings.TrimSuffix(string(b), "\n")
}

func inSchema(text, schema string) string {
	if schema == DefaultSchema {
		return text
	}
	quoted := `"` + schema + `"`
	return strings.NewReplacer("SCHEMA IF NOT EXISTS sortid;", "SCHEMA IF NOT EXISTS "+quoted+";",
		"ON SCHEMA sortid ", "ON SCHEMA "+quoted+" ", "sortid.", quoted+".").Replace(text)
}

var name = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)
})

func checkName(what, s string) error {
	if !name().MatchString(s) {
		return fmt.Errorf(
			"%q cannot be the name of a %s: want at most 63 letters, "+
				"digits and underscores, not beginning with a digit", s, what)
	}
	return nil
}
