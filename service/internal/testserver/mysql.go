package testserver

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
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
	dir, port := tempDir(t), freePort(t)
	data, temporary := filepath.Join(dir, "data"), filepath.Join(dir, "tmp")
	asMySQL := func(*exec.Cmd) {}
	for _, path := range []string{data, temporary} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 { // as which it would run, but not its copying from node to node
			asMySQL = demote(t, "mysql", path)
		}
	}
	start := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, append([]string{"--no-defaults", "--datadir=" + data}, args...)...)
		cmd.Dir = data
		// A server deletes the temporary tables that it finds when it starts, even those of
		// other servers.
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		asMySQL(cmd)
		return cmd
	}
	program, err := exec.LookPath("mariadbd")
	if err == nil {
		command(t, start("mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"))
	} else if program, err = exec.LookPath("mysqld"); err == nil {
		command(t, start(program, "--initialize-insecure"))
	} else {
		Missing(t, "no MariaDB: SORTID_TEST_MYSQL_URL is not set, nobody listens at 127.0.0.1:3306, and neither mariadbd nor mysqld is installed")
	}

	args := []string{fmt.Sprintf("--port=%d", port), "--bind-address=127.0.0.1", "--socket=" + filepath.Join(data, "socket"),
		"--pid-file=" + filepath.Join(data, "pid"), "--innodb-buffer-pool-size=16M"}
	for _, s := range settings {
		args = append(args, "--"+s)
	}
	server := fmt.Sprintf("mysql://root@%s/", address(port))
	s := newServer(t, server+"test", data, func() func() {
		return run(t, start(program, args...), syscall.SIGKILL, func(ctx context.Context) error { return mysqlServes(ctx, server) })
	})
	execMySQL(t, server, "CREATE DATABASE IF NOT EXISTS test")
	return s
}

// StartGalera starts a Galera cluster of two nodes.
func StartGalera(t testing.TB) (a, b *Server) {
	t.Helper()
	var provider string
	for _, path := range []string{"/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so"} {
		if _, err := os.Stat(path); err == nil {
			provider = path
		}
	}
	if _, err := exec.LookPath("rsync"); err != nil || provider == "" {
		Missing(t, "no Galera cluster: rsync and libgalera_smm.so are not both installed")
	}
	node := func(group, others string) *Server {
		return StartMySQL(t, "wsrep-on=ON", "wsrep-provider="+provider, "binlog-format=ROW", "innodb-autoinc-lock-mode=2",
			"wsrep-node-address=127.0.0.1", "wsrep-cluster-address=gcomm://"+others,
			"wsrep-sst-method=rsync", "wsrep-sst-receive-address="+address(freePort(t)),
			fmt.Sprintf("wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=%s", group, address(freePort(t))))
	}
	first := address(freePort(t))
	return node(first, ""), node(address(freePort(t)), first)
}

func mysqlServes(ctx context.Context, server string) error {
	db, err := openMySQL(server)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err = db.ExecContext(ctx, "DO 1") // which a Galera node refuses until it is part of the cluster
	return err
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
