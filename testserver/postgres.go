package testserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Postgres returns the URL of an empty schema.
func Postgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv("SORTID_TEST_POSTGRES_URL")
	for _, user := range []string{"postgres", "root"} {
		local := "postgres://" + user + "@127.0.0.1:5432/postgres"
		if server == "" && postgresServes(t.Context(), local) == nil {
			server = local
		}
	}
	if server == "" {
		server = StartPostgres(t).URL
	}
	schema := uniqueName()
	execPostgres(t, server, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { execPostgres(t, server, "DROP SCHEMA "+schema+" CASCADE") })
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("SORTID_TEST_POSTGRES_URL is not a URL")
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

// StartPostgres starts a server, with settings such as "fsync=off". Its superuser is postgres, with
// a password.
func StartPostgres(t testing.TB, settings ...string) *Server {
	t.Helper()
	notShort(t)
	bin := postgresPrograms(t)
	dir := tempDir(t)
	data, passwords := filepath.Join(dir, "data"), filepath.Join(dir, "password")
	if err := os.WriteFile(passwords, []byte("pass-word\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	setUser := func(*exec.Cmd) {}
	if os.Getuid() == 0 {
		setUser = runAs(t, "postgres", data)
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "--pwfile",
		passwords,
		"-A", "scram-sha-256", "-E", "UTF8", "--no-locale", "--no-sync")
	initdb.Dir = data
	setUser(initdb)
	command(t, initdb)

	port := FreePort(t)
	server := fmt.Sprintf("postgres://postgres:pass-word@%s/postgres", address(port))
	args := []string{"-D", data, "-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return newServer(t, server, data, func() func() {
		cmd := exec.Command(filepath.Join(bin, "postgres"), args...)
		cmd.Dir = data
		setUser(cmd)
		// SIGQUIT also ends the processes of all connections, without a checkpoint.
		return run(t, cmd, syscall.SIGQUIT,
			func(ctx context.Context) error { return postgresServes(ctx, server) })
	})
}

// postgresPrograms returns a folder that Debian does not put in the PATH.
func postgresPrograms(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		Missing(
			t,
			"no PostgreSQL: SORTID_TEST_POSTGRES_URL is not set, nobody listens at "+
				"127.0.0.1:5432, and initdb is not installed")
	}
	return filepath.Dir(found[len(found)-1])
}

func postgresServes(ctx context.Context, server string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_, err := queryPostgres(ctx, server, "SELECT 1")
	return err
}

func execPostgres(t testing.TB, server, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := queryPostgres(ctx, server, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// queryPostgres returns what psql prints.
func queryPostgres(ctx context.Context, server, statement string) (string, error) {
	program, err := exec.LookPath("psql")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
		if len(found) == 0 {
			return "", errors.New("psql is not installed")
		}
		program = found[len(found)-1]
	}
	cmd := exec.CommandContext(ctx, program, "--no-psqlrc", "--no-password", "--quiet",
		"--tuples-only", "--no-align",
		"--dbname="+server, "--command="+statement)
	cmd.Env = append(os.Environ(), "PGCONNECT_TIMEOUT=60")
	return clientOutput(cmd)
}
