package testserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Postgres returns the URL of an empty schema.
func Postgres(t testing.TB) string {
	t.Helper()
	u := choose(t, "SORTID_TEST_POSTGRES_URL", psqlServes, StartPostgres,
		"postgres://postgres@127.0.0.1:5432/postgres", "postgres://root@127.0.0.1:5432/postgres")
	schema, server := uniqueName(), u.String()
	psql.exec(t, server, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { psql.exec(t, server, "DROP SCHEMA "+schema+" CASCADE") })
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	return u.String()
}

// StartPostgres starts a server with settings such as "fsync=off". Its superuser is postgres, with
// a password.
func StartPostgres(t testing.TB, settings ...string) *Server {
	t.Helper()
	return startPostgres(t, func(dir string) *exec.Cmd {
		passwords := filepath.Join(dir, "password")
		if err := os.WriteFile(passwords, []byte("pass-word\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return exec.Command("initdb", "-U", "postgres", "--pwfile", passwords, "-A", "scram-sha-256",
			"-E", "UTF8", "--no-locale", "--no-sync")
	}, settings)
}

// StartPostgresPair starts a primary with settings, and a standby of it.
func StartPostgresPair(t testing.TB, settings ...string) ([]*Server, *Network) {
	t.Helper()
	primary := StartPostgres(t)
	network, link := newNetwork(), FreePort(t)
	host := strings.TrimPrefix(primary.URL, postgresUser)
	host, _, _ = strings.Cut(host, "/")
	network.link(t, address(link), 1, 0, host, nil)
	standby := startPostgres(t, func(string) *exec.Cmd {
		return exec.Command("pg_basebackup", "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
			fmt.Sprintf("--dbname=%s%s/postgres", postgresUser, address(link)))
	}, nil)
	for _, s := range settings { // without a standby, a server could not start with some settings
		name, value, _ := strings.Cut(s, "=")
		psql.exec(t, primary.URL, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", name, value))
	}
	psql.exec(t, primary.URL, "SELECT pg_reload_conf()")
	return []*Server{primary, standby}, network
}

// Psql runs a statement, and returns its result as text.
func Psql(t testing.TB, s *Server, statement string) string {
	t.Helper()
	text, err := psql(t.Context(), s.URL, statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return text
}

const postgresUser = "postgres://postgres:pass-word@"

// startPostgres starts a server with the data that a program makes in a folder.
func startPostgres(t testing.TB, with func(dir string) *exec.Cmd, settings []string) *Server {
	t.Helper()
	Waits(t, "needs a server")
	program, err := postgresProgram("initdb")
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		Missing(t, fmt.Sprintf("no PostgreSQL: SORTID_TEST_POSTGRES_URL is not set, nobody "+
			"listens at 127.0.0.1:5432, and initdb cannot run: %v", err), Install)
	}
	dir := tempDir(t)
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	setUser := runAs(t, "postgres", data)
	run := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Path = filepath.Join(filepath.Dir(program), cmd.Args[0])
		cmd.Err = nil // the program need not be in the PATH
		cmd.Args = append(cmd.Args, "-D", data)
		cmd.Dir = data
		setUser(cmd)
		return cmd
	}
	command(t, run(with(dir)))

	port := FreePort(t)
	server := postgresUser + address(port) + "/postgres"
	args := []string{"-p", fmt.Sprint(port), "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB"}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return (&Server{URL: server, Dir: data, t: t,
		command: func() *exec.Cmd { return run(exec.Command("postgres", args...)) },
		ready:   func(ctx context.Context) error { return psqlServes(ctx, server) },
		crash:   syscall.SIGQUIT, // the processes of connections also end, without a checkpoint
	}).start()
}

// postgresProgram returns the path of a program in the PATH or in Debian's folders.
func postgresProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) == 0 {
		return "", fmt.Errorf("%s is not installed", name)
	}
	return found[len(found)-1], nil
}

var psqlServes = psql.serves("SELECT 1")

var psql client = func(ctx context.Context, server, statement string) (string, error) {
	program, err := postgresProgram("psql")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, program, "--no-psqlrc", "--no-password", "--quiet",
		"--tuples-only", "--no-align", "--dbname="+server, "--command="+statement)
	cmd.Env = append(os.Environ(), "PGCONNECT_TIMEOUT=60")
	return clientOutput(cmd)
}
