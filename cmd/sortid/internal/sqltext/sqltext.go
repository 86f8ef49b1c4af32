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

	"github.com/sortid/sortid/format"
)

//go:embed postgres mysql sqlite
var files embed.FS

const DefaultSchema = "sortid"

func Postgres(schema string, formats []*format.Format) (string, error) {
	if err := checkName("schema", schema); err != nil {
		return "", err
	}
	names := []string{"header", "common", "typed"}
	formats = inOrder(formats)
	for _, f := range formats {
		for _, part := range FactsOf(f).parts {
			if !slices.Contains(names, part) {
				names = append(names, part)
			}
		}
	}
	text, err := read("postgres", names, formats)
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

func MySQL(formats []*format.Format) (string, error) {
	return read("mysql", []string{"header", "common"}, inOrder(formats))
}

func SQLite(formats []*format.Format) (string, error) {
	return read("sqlite", []string{"header"}, inOrder(formats))
}

func inOrder(formats []*format.Format) []*format.Format {
	return slices.DeleteFunc(format.Ours(),
		func(f *format.Format) bool { return !slices.Contains(formats, f) })
}

// read joins files of a folder, with empty lines between them: first the named files, then the
// formats' files.
func read(folder string, names []string, formats []*format.Format) (string, error) {
	for _, f := range formats {
		names = append(names, f.Name)
	}
	texts := make([]string, len(names))
	for i, name := range names {
		b, err := files.ReadFile(folder + "/" + name + ".sql")
		if err != nil {
			return "", fmt.Errorf("no SQL for %s and %s: sqltext has no file %s/%[1]s.sql", name, folder,
				folder)
		}
		texts[i] = string(b)
	}
	return strings.Join(texts, "\n"), nil
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
