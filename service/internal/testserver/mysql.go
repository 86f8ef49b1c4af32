package testserver

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// MySQL returns the URL of an empty database on a MariaDB or MySQL server.
func MySQL(t testing.TB) string {
	t.Helper()
	server := os.Getenv("SORTID_TEST_MYSQL_URL")
	if local := "mysql://root@127.0.0.1:3306/mysql"; server == "" && mysqlServes(t.Context(), local) == nil {
		server = local
	}
	if server == "" {
		server = StartMySQL(t).URL
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("SORTID_TEST_MYSQL_URL is not a URL")
	}
	database := placeName()
	execMySQL(t, server, "CREATE DATABASE "+database)
	t.Cleanup(func() { execMySQL(t, server, "DROP DATABASE "+database) })
	u.Path = "/" + database
	return u.String()
}

// StartMySQL starts a MariaDB server, or a MySQL server if that is what is installed, with
// settings such as "sync_binlog=0". Its superuser is root, without a password; there is
// an empty database "test".
func StartMySQL(t testing.TB, settings ...string) *Server {
	t.Helper()
	dir := tempDir(t)
	data, port := filepath.Join(dir, "data"), freePort(t)
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--no-defaults", "--datadir=" + data, "--user=" + u.Username}
	program, err := exec.LookPath("mariadbd")
	if err == nil {
		command(t, exec.Command("mariadb-install-db", append(args, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")...))
	} else if program, err = exec.LookPath("mysqld"); err == nil {
		command(t, exec.Command(program, append(args, "--initialize-insecure")...))
	} else {
		Missing(t, "no MariaDB: SORTID_TEST_MYSQL_URL is not set, nobody listens at 127.0.0.1:3306, and neither mariadbd nor mysqld is installed")
	}

	args = append(args, fmt.Sprintf("--port=%d", port), "--bind-address=127.0.0.1",
		"--socket="+filepath.Join(dir, "socket"), "--pid-file="+filepath.Join(dir, "pid"), "--innodb-buffer-pool-size=16M")
	for _, s := range settings {
		args = append(args, "--"+s)
	}
	server := fmt.Sprintf("mysql://root@%s/", address(port))
	s := newServer(t, server+"test", data, func() func() {
		return run(t, exec.Command(program, args...), syscall.SIGKILL, func(ctx context.Context) error { return mysqlServes(ctx, server) })
	})
	execMySQL(t, server, "CREATE DATABASE IF NOT EXISTS test")
	return s
}

func mysqlServes(ctx context.Context, server string) error {
	db, err := openMySQL(server)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return db.PingContext(ctx)
}

func execMySQL(t testing.TB, server, statement string) {
	t.Helper()
	db, err := openMySQL(server)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// openMySQL prepares connections to the server of a URL, without its database.
func openMySQL(server string) (*sql.DB, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", u.Host
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
