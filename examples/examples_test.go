// Package examples tests the programs in its folders.
package examples

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"

	"github.com/sortid/sortid/internal/testserver"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Some programs print these lines before the number of recent events.
var before = map[string]string{
	"sqlite": "the database made an ID: true\n",
	"mysql":  "the database made an ID: true\n",
}

// Some programs print these lines between that number and the pages.
var between = map[string]string{
	"pgx": "251 events of the user\n",
	"gorm": "Ada is a friend of Ada: false\nCharles is a friend of Ada: true\n" +
		"in the column, friend begins with user_\n",
}

func testProgram(t *testing.T, name, databaseURL string, args ...string) {
	t.Helper()
	testserver.Long(t, "compiles and runs a program")
	cmd := exec.Command("go", append([]string{"run"}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "DATABASE_URL="+databaseURL), os.Stderr
	got, err := cmd.Output()
	ok(t, err)
	want := before[name] + "250 events of the last hour\n" + between[name] + "page 1: 100 events, first moved\n" +
		"page 2: 100 events, first event 99\npage 3: 51 events, first event 199\n"
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestPostgres(t *testing.T) {
	for _, name := range []string{"bun", "gorm", "pgx", "sqlc"} {
		t.Run(name, func(t *testing.T) { testProgram(t, name, testserver.Postgres(t), "./"+name) })
	}
}

func TestSQL(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		testProgram(t, "sqlite", "", "./sql", "sqlite", filepath.Join(t.TempDir(), "events.db"))
	})
	t.Run("mysql", func(t *testing.T) {
		u, err := url.Parse(testserver.MySQL(t))
		ok(t, err)
		testProgram(t, "mysql", "", "./sql", "mysql", u.User.String()+"@tcp("+u.Host+")"+u.Path)
	})
}

// TestEnt generates code in a temporary folder, and an overlay adds the code to the program.
func TestEnt(t *testing.T) {
	testserver.Long(t, "generates a program")
	database, dir := testserver.Postgres(t), t.TempDir()
	config := &gen.Config{Target: dir, Package: "github.com/sortid/sortid/examples/ent/ent"}
	ok(t, entc.Generate("./ent/ent/schema", config))
	here, err := filepath.Abs("ent/ent")
	ok(t, err)
	replace := map[string]string{}
	ok(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			replace[filepath.Join(here, name)] = filepath.Join(dir, name)
		}
		return err
	}))
	text, err := json.Marshal(map[string]any{"Replace": replace})
	ok(t, err)
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	ok(t, os.WriteFile(overlay, text, 0o600))
	testProgram(t, "ent", database, "-tags", "generated", "-overlay", overlay, "./ent")
}
