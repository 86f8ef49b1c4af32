// Package sqltext holds the SQL with which databases know the ID formats: a file for each
// format and database, that can be read and run as it is.
package sqltext

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

//go:embed postgres mysql sqlite
var files embed.FS

// DefaultSchema is the schema of PostgreSQL that the files name.
const DefaultSchema = "sortid"

// postgresParts are what the formats share in PostgreSQL, and which formats those are.
var postgresParts = []struct {
	file    string
	formats []string
}{
	{"base36", []string{"scru64", "scru128"}},
	{"ordered", []string{"scru64", "scru128"}},
	{"base32hex", []string{"scru160"}},
	{"crockford", []string{"euid"}},
}

// Postgres returns the SQL that makes a PostgreSQL schema with the functions of the formats.
func Postgres(schema string, formats []string) (string, error) {
	if err := checkName("schema", schema); err != nil {
		return "", err
	}
	names := []string{"header", "common"}
	for _, part := range postgresParts {
		if slices.ContainsFunc(part.formats, func(f string) bool { return slices.Contains(formats, f) }) {
			names = append(names, part.file)
		}
	}
	return inSchema(read("postgres", append(names, formats...)), schema), nil
}

// MySQL returns the SQL that makes functions of the formats in MariaDB and MySQL.
func MySQL(formats []string) string {
	return read("mysql", append([]string{"header", "common"}, formats...))
}

// SQLite returns tables of the formats for SQLite.
func SQLite(formats []string) string {
	return read("sqlite", append([]string{"header"}, formats...))
}

// read returns the texts of a folder's files, with an empty line between them.
func read(folder string, names []string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		b, err := files.ReadFile(folder + "/" + name + ".sql")
		if err != nil {
			panic(err) // the name is none of those that the build has put in
		}
		texts[i] = string(b)
	}
	return strings.Join(texts, "\n")
}

// inSchema replaces the schema that the files name.
func inSchema(text, schema string) string {
	if schema == DefaultSchema {
		return text
	}
	quoted := `"` + schema + `"`
	return strings.NewReplacer("SCHEMA IF NOT EXISTS sortid;", "SCHEMA IF NOT EXISTS "+quoted+";",
		"ON SCHEMA sortid ", "ON SCHEMA "+quoted+" ", "sortid.", quoted+".").Replace(text)
}

var name = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

func checkName(what, s string) error {
	if !name.MatchString(s) {
		return fmt.Errorf("%q is no name of a %s: want at most 63 letters, digits and underscores, not beginning with a digit", s, what)
	}
	return nil
}
