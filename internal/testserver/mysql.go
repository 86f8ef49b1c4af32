package testserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func MySQL(t testing.TB) string {
	t.Helper()
	u := choose(t, "SORTID_TEST_MYSQL_URL", mariadbServes, StartMySQL,
		"mysql://root@127.0.0.1:3306/mysql")
	database, server := uniqueName(), u.String()
	mariadb.exec(t, server, "CREATE DATABASE "+database)
	t.Cleanup(func() { mariadb.exec(t, server, "DROP DATABASE "+database) })
	u.Path = "/" + database
	return u.String()
}

// StartMySQL starts a server with settings such as "sync_binlog=0". The server is MariaDB or, if
// MariaDB is not installed, MySQL. It has a superuser root, without a password, and an empty
// database "test".
func StartMySQL(t testing.TB, settings ...string) *Server {
	t.Helper()
	Waits(t, "needs a server")
	dir, port := tempDir(t), FreePort(t)
	data, temporary := filepath.Join(dir, "data"), filepath.Join(dir, "tmp")
	for _, path := range []string{data, temporary} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	setUser := runAs(t, "mysql", data, temporary) // as root, Galera nodes cannot copy their data
	start := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program,
			append([]string{"--no-defaults", "--datadir=" + data}, args...)...)
		cmd.Dir = data
		// When a server starts, it deletes all temporary tables in this folder, even tables of
		// other servers.
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		setUser(cmd)
		return cmd
	}
	program, err := exec.LookPath("mariadbd")
	if err == nil {
		command(t, start("mariadb-install-db", "--auth-root-authentication-method=normal",
			"--skip-test-db", "--skip-name-resolve"))
	} else if program, err = exec.LookPath("mysqld"); err == nil {
		command(t, start(program, "--initialize-insecure"))
	} else {
		Missing(t, "no MariaDB: SORTID_TEST_MYSQL_URL is not set, nobody listens at "+
			"127.0.0.1:3306, and neither mariadbd nor mysqld is installed", Install)
	}
	args := []string{fmt.Sprintf("--port=%d", port), "--bind-address=127.0.0.1",
		"--socket=" + filepath.Join(data, "socket"), "--pid-file=" + filepath.Join(data, "pid"),
		"--innodb-buffer-pool-size=16M"}
	for _, s := range settings {
		args = append(args, "--"+s)
	}
	server := fmt.Sprintf("mysql://root@%s/", address(port))
	s := (&Server{URL: server + "test", Dir: data, t: t, crash: syscall.SIGKILL,
		command: func() *exec.Cmd { return start(program, args...) },
		ready:   func(ctx context.Context) error { return mariadbServes(ctx, server) },
	}).start()
	mariadb.exec(t, server, "CREATE DATABASE IF NOT EXISTS test")
	return s
}

func StartGalera(t testing.TB) (a, b *Server) {
	t.Helper()
	var provider string
	for _, path := range []string{"/usr/lib/galera/libgalera_smm.so",
		"/usr/lib64/galera-4/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so"} {
		if _, err := os.Stat(path); err == nil {
			provider = path
		}
	}
	if _, err := exec.LookPath("rsync"); err != nil || provider == "" {
		Missing(t, "no Galera cluster: rsync and libgalera_smm.so are not both installed",
			"apt-get install rsync galera-4")
	}
	node := func(group, others string) *Server {
		return StartMySQL(t, "wsrep-on=ON", "wsrep-provider="+provider, "binlog-format=ROW",
			"innodb-autoinc-lock-mode=2", "wsrep-node-address=127.0.0.1",
			"wsrep-cluster-address=gcomm://"+others,
			"wsrep-sst-method=rsync", "wsrep-sst-receive-address="+address(FreePort(t)),
			fmt.Sprintf("wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=%s",
				group, address(FreePort(t))))
	}
	first := address(FreePort(t))
	return node(first, ""), node(address(FreePort(t)), first)
}

var mariadbServes = mariadb.serves("DO 1") // a Galera node refuses this until it has joined

// mariadb ignores the database in the URL, because it may not exist.
var mariadb client = func(ctx context.Context, server, statement string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	args := []string{"--no-defaults", "--protocol=tcp", "--host=" + u.Hostname(),
		"--port=" + cmp.Or(u.Port(), "3306"), "--user=" + u.User.Username(),
		"--connect-timeout=60", "--batch", "--skip-column-names", "--execute=" + statement}
	program, err := exec.LookPath("mariadb")
	if err == nil {
		args = append(args, "--skip-ssl")
	} else if program, err = exec.LookPath("mysql"); err != nil {
		return "", errors.New("neither mariadb nor mysql, the command-line clients, is installed")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	password, _ := u.User.Password()
	cmd.Env = append(os.Environ(), "MYSQL_PWD="+password)
	return clientOutput(cmd)
}
