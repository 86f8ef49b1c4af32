// Package examples tests the programs in its folders.
package examples

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"entgo.io/ent/entc"
	"entgo.io/ent/entc/gen"
	"github.com/jackc/pgx/v5"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

const byDatabase = "the database made an ID: true\n"

// Some programs print this line before the number of recent events.
var before = map[string]string{
	"bun": byDatabase, "sqlc": byDatabase, "sqlite": byDatabase, "mysql": byDatabase,
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
	got := check.Must(cmd.Output())(t)
	want := before[name] + "250 events of the last hour\n" + between[name] + "page 1: 100 events, first moved\n" +
		"page 2: 100 events, first event 99\npage 3: 51 events, first event 199\n"
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestPostgres(t *testing.T) {
	for _, name := range []string{"bun", "gorm", "pgx", "sqlc"} {
		t.Run(name, func(t *testing.T) { testProgram(t, name, database(t), "./"+name) })
	}
}

// sqlText has the functions of "sortid sql".
var sqlText = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("go", "run", "../cmd/sortid", "sql", "postgres", "--formats",
		"scru128").Output()
})

// database returns the URL of a new database with the functions of "sortid sql".
func database(t *testing.T) string {
	t.Helper()
	testserver.Long(t, "compiles and runs the command")
	text := check.Must(sqlText())(t)
	u := check.Must(url.Parse(testserver.Postgres(t)))(t)
	schema := u.Query().Get("search_path")
	query(t, u.String(), "CREATE DATABASE "+schema)
	t.Cleanup(func() { query(t, u.String(), "DROP DATABASE "+schema+" WITH (FORCE)") })
	own, values := *u, u.Query()
	values.Del("search_path")
	own.Path, own.RawQuery = "/"+schema, values.Encode()
	query(t, own.String(), string(text))
	return own.String()
}

func query(t *testing.T, url, text string) {
	t.Helper()
	ctx := context.Background() // also after the test
	conn, err := pgx.Connect(ctx, url)
	check.OK(t, err)
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, text).ReadAll()
	check.OK(t, err)
}

func TestSQL(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		testProgram(t, "sqlite", "", "./sql", "sqlite", filepath.Join(t.TempDir(), "events.db"))
	})
	t.Run("mysql", func(t *testing.T) {
		u := check.Must(url.Parse(testserver.MySQL(t)))(t)
		testProgram(t, "mysql", "", "./sql", "mysql", u.User.String()+"@tcp("+u.Host+")"+u.Path)
	})
}

// TestEnt generates code in a temporary folder, and an overlay adds the code to the program.
func TestEnt(t *testing.T) {
	testserver.Long(t, "generates a program")
	database, dir := testserver.Postgres(t), t.TempDir()
	config := &gen.Config{Target: dir, Package: "github.com/sortid/sortid/examples/ent/ent"}
	check.OK(t, entc.Generate("./ent/ent/schema", config))
	here, err := filepath.Abs("ent/ent")
	check.OK(t, err)
	replace := map[string]string{}
	check.OK(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			replace[filepath.Join(here, name)] = filepath.Join(dir, name)
		}
		return err
	}))
	text := check.Must(json.Marshal(map[string]any{"Replace": replace}))(t)
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	check.OK(t, os.WriteFile(overlay, text, 0o600))
	testProgram(t, "ent", database, "-tags", "generated", "-overlay", overlay, "./ent")
}
