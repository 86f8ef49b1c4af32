package mysql

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
)

func TestBusyServer(t *testing.T) {
	faulttest.Crowd(t, Open, testserver.StartMySQL(t, "max-connections=12").URL)
}

func TestPrivileges(t *testing.T) {
	server := testserver.StartMySQL(t)
	admin := dial(t, server.URL)
	exec(t, admin, "CREATE USER some@'127.0.0.1' IDENTIFIED BY 'hushhush'",
		"CREATE USER some@localhost IDENTIFIED BY 'hushhush'")
	grant := func(what string) {
		t.Helper()
		exec(t, admin, "GRANT "+what+" TO some@'127.0.0.1'", "GRANT "+what+" TO some@localhost")
	}
	user := at(t, server.URL, url.UserPassword("some", "hushhush"), "")

	refused(t, at(t, user, url.UserPassword("some", "secret"), ""), "check user and password")
	refused(t, at(t, server.URL, nil, "elsewhere"), "CREATE DATABASE", "elsewhere")
	refused(t, user, "GRANT SELECT, INSERT, UPDATE")
	exec(t, admin, "CREATE TABLE other (id INT)")
	grant("SELECT ON test.other")
	refused(t, user, "cannot make the table", Schema,
		"GRANT SELECT, INSERT, UPDATE ON sortid_lease")

	exec(t, admin, Schema)
	for _, some := range []string{"SELECT", "INSERT", "UPDATE"} {
		refused(t, user, "GRANT SELECT, INSERT, UPDATE")
		grant(some + " ON test.sortid_lease")
	}
	s := open(t, user)
	faulttest.Change(t, s, record(0), record(1))
	faulttest.Change(t, s, record(1), record(2))
	faulttest.Want(t, s, record(2))
	faulttest.Conditions(t, s)
}

func TestUnsafeSettings(t *testing.T) {
	server := testserver.StartMySQL(t, "log-bin=bin", "sync-binlog=1", "innodb-doublewrite=OFF",
		"log-warnings=0")
	admin := dial(t, server.URL)
	faulttest.Conditions(t, open(t, server.URL), "conditional: innodb_doublewrite")
	for _, c := range []struct{ name, bad, good, want string }{
		{"innodb_flush_log_at_trx_commit", "2", "1", "is 2, it must be 1: SET GLOBAL"},
		{"innodb_flush_log_at_trx_commit", "0", "3", "is 0, it must be 1: SET GLOBAL"},
		{"sync_binlog", "0", "1", "is 0, it must be 1: SET GLOBAL"},
		{"sync_binlog", "100", "1", "is 100, it must be 1: SET GLOBAL"},
		{"read_only", "ON", "OFF", "is read_only"},
	} {
		exec(t, admin, "SET GLOBAL "+c.name+" = "+c.bad)
		faulttest.Unsafe(t, Open, server.URL, c.name, c.want)
		exec(t, admin, "SET GLOBAL "+c.name+" = "+c.good)
		open(t, server.URL)
	}
	nosync := testserver.StartMySQL(t, "innodb-flush-method=nosync")
	faulttest.Unsafe(t, Open, nosync.URL, "innodb_flush_method")
}

// The servers with these settings are not installed.
func TestInspect(t *testing.T) {
	safe := func(key, value string) map[string]string {
		m := map[string]string{
			"version": "10.11.19-MariaDB-0+deb12u1", "version_comment": "Debian 12",
			"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "0", "log_bin": "OFF",
			"innodb_flush_method": "O_DIRECT",
			"innodb_doublewrite":  "ON", "read_only": "OFF",
		}
		m[key] = value
		return m
	}
	for _, c := range []struct {
		key, value string
		unsafe     bool
		conditions int
	}{
		{"version", "11.4.2-MariaDB-log", false, 0},
		{"version", "8.0.32", false, 1},
		{"version", "8.0.11-TiDB-v7.5.0", true, 0},
		{"Innodb_redo_log_enabled", "ON", false, 0},
		{"Innodb_redo_log_enabled", "OFF", true, 0},
		{"innodb_doublewrite", "DETECT_ONLY", false, 1},
		{"innodb_doublewrite", "DETECT_AND_RECOVER", false, 0},
		{"innodb_flush_method", "littlesync", true, 0},
		{"innodb_flush_method", "O_DIRECT_NO_FSYNC", false, 0},
		{"innodb_flush_log_at_trx_commit", "", true, 0},
		{"log_bin", "ON", true, 0},
		{"read_only", "NO_LOCK", true, 0},
		{"wsrep_on", "ON", false, 1},
	} {
		conditions, err := inspect(safe(c.key, c.value))
		if errors.Is(err, lease.ErrUnsafe) != c.unsafe || len(conditions) != c.conditions {
			t.Errorf("%s = %q: %q, %v", c.key, c.value, conditions, err)
		}
	}
	group := safe("group_replication_group_name", "aaaa")
	group["group_replication_consistency"] = "EVENTUAL"
	if c, err := inspect(group); err != nil || len(c) != 1 {
		t.Errorf("%q, %v", c, err)
	}
	group["group_replication_consistency"] = "BEFORE"
	if c, err := inspect(group); err != nil || len(c) != 0 {
		t.Errorf("%q, %v", c, err)
	}
}

// The texts are from the documentation of the servers.
func TestEngine(t *testing.T) {
	for _, c := range []struct{ version, comment string }{
		{"8.0.32", "MySQL Community Server - GPL"},
		{"8.0.46-37", "Percona Server (GPL), Release 37, Revision 39e2b60e"},
	} {
		got, err := engine(c.version, c.comment)
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], "conditional: this server was "+
			`not tested. It says that it is "`+c.version+" "+c.comment) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	if _, err := engine("8.0.11-TiDB-v7.5.0", "TiDB Server"); !errors.Is(err, lease.ErrUnsafe) ||
		!strings.Contains(err.Error(), "TiDB") {
		t.Error(err)
	}
}

// If the server becomes a replica, Get fails, even if there is no record.
func TestGetFailsOnAReplica(t *testing.T) {
	server := testserver.StartMySQL(t)
	s := open(t, server.URL)
	faulttest.Change(t, s, record(0), record(1))
	exec(t, dial(t, server.URL), "SET GLOBAL read_only = ON")
	for _, realm := range []string{"realm", "another"} {
		if r, err := s.Get(t.Context(), realm, block); !errors.Is(err, lease.ErrUnsafe) {
			t.Errorf("Get from a replica: %+v, %v", r, err)
		}
	}
}

func TestReplication(t *testing.T) {
	primary := testserver.StartMySQL(t, "server-id=1", "log-bin=bin", "sync-binlog=1")
	replica := testserver.StartMySQL(t, "server-id=2", "read-only=ON")
	admin := dial(t, primary.URL)
	exec(t, admin, Schema, "CREATE USER someone@localhost",
		"GRANT ALL ON test.* TO someone@localhost",
		"CREATE USER repl@localhost IDENTIFIED BY 'hushhush'",
		"GRANT REPLICATION SLAVE ON *.* TO repl@localhost")
	u := check.Must(url.Parse(primary.URL))(t)
	exec(t, dial(t, replica.URL), "CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT="+u.Port()+
		", MASTER_USER='repl', MASTER_PASSWORD='hushhush'", "START SLAVE")
	connected := func() (n int) {
		t.Helper()
		var name string
		if err := admin.QueryRowContext(t.Context(),
			"SHOW GLOBAL STATUS LIKE 'Slaves_connected'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	faulttest.Eventually(t, func() bool { return connected() > 0 },
		func() string { return "the replica does not connect" })
	for _, user := range []string{"root", "someone"} {
		faulttest.Conditions(t, open(t, at(t, primary.URL, url.User(user), "")),
			"conditional: the server has replicas (connected: 1)")
	}
	faulttest.Unsafe(t, Open, replica.URL, "read_only")
}

// What Get has returned survives a crash, even if it was not on the disk before.
func TestGetWaitsForTheLog(t *testing.T) {
	server := testserver.StartMySQL(t, "innodb-flush-log-at-timeout=2700")
	a, b := open(t, server.URL), open(t, server.URL)
	faulttest.Change(t, a, record(0), record(1))
	is := record(1)
	tries := 0
	for shown, done := false, false; !done; {
		admin := dial(t, server.URL)
		next := record(is.Revision + 1)
		// This commit does not wait for the disk.
		exec(t, admin, "SET GLOBAL innodb_flush_log_at_trx_commit = 0")
		faulttest.Change(t, a, is, next)
		exec(t, admin, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
		if shown {
			if r, err := b.Get(t.Context(), "realm", block); err != nil || r != next {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		server.Stop()
		server.Start()
		r := check.Must(b.Get(t.Context(), "realm", block))(t)
		switch tries++; {
		case shown && r != next:
			t.Errorf("Get has shown revision %d, and after a crash there is revision %d",
				next.Revision, r.Revision)
		case !shown && r != is && tries >= 5:
			t.Fatalf("%d changes without a sync have outlived a crash, so this tests nothing: %+v",
				tries, r)
		}
		shown, done = shown || r == is, shown
		is = r
	}
}

func TestChangeOfALockedRowFails(t *testing.T) {
	url := testserver.MySQL(t)
	s := open(t, url+"?innodb_lock_wait_timeout=1")
	faulttest.Change(t, s, record(0), record(1))
	tx := check.Must(dial(t, url).BeginTx(t.Context(), nil))(t)
	defer tx.Rollback()
	if _, err := tx.Exec("UPDATE sortid_lease SET gets = gets + 1"); err != nil {
		t.Fatal(err)
	}
	if ok, err := s.CompareAndSet(t.Context(), record(1), record(2)); err == nil {
		t.Errorf("while the row is locked: %v, and no error", ok)
	}
	tx.Rollback()
	faulttest.Change(t, s, record(1), record(2))
}

func TestFaults(t *testing.T) { faulttest.Faults(t, Open, testserver.StartMySQL(t), true) }

func TestIdleConnections(t *testing.T) {
	url := testserver.MySQL(t)
	s := open(t, url)
	admin := dial(t, at(t, url, nil, "mysql"))
	connections := func() (n int) {
		t.Helper()
		if err := admin.QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM information_schema.processlist WHERE db = ?",
			url[strings.LastIndexByte(url, '/')+1:]).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	faulttest.Idles(t, s, 1, connections)
}

// What one node has stored, another node returns at once. Of two changes at two nodes, at most one
// succeeds.
func TestGalera(t *testing.T) {
	one, two := testserver.StartGalera(t)
	stores := []*Store{open(t, one.URL), open(t, two.URL)}
	for _, s := range stores {
		faulttest.Conditions(t, s, "conditional: the server is a node of a Galera cluster")
	}
	is := record(0)
	for i := range 300 {
		next := record(is.Revision + 1)
		faulttest.Change(t, stores[i%2], is, next)
		if r, err := stores[(i+1)%2].Get(t.Context(), "realm", block); err != nil || r != next {
			t.Fatalf("change %d: the other node has revision %d, %v", i, r.Revision, err)
		}
		is = next
	}
	both, conflicts := 0, 0
	for range 100 {
		var ok [2]bool
		var err [2]error
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				next := record(is.Revision + 1)
				next.Name = fmt.Sprint(i)
				ok[i], err[i] = s.CompareAndSet(t.Context(), is, next)
			})
		}
		wg.Wait()
		r, e := stores[0].Get(t.Context(), "realm", block)
		if e != nil {
			t.Fatal(e)
		}
		for i := range ok {
			if ok[i] != (r.Name == fmt.Sprint(i) && r.Revision == is.Revision+1) && err[i] == nil {
				t.Fatalf("CompareAndSet returned %v and the errors %v; stored is %+v", ok, err, r)
			}
			if err[i] != nil {
				conflicts++
			}
		}
		if ok[0] && ok[1] {
			both++
		}
		is = r
	}
	if both > 0 {
		t.Errorf("%d times, CompareAndSet returned true for both changes", both)
	}
	t.Logf("%d conflicts were errors", conflicts)
}

func TestListed(t *testing.T) {
	var version string
	db := dial(t, testserver.MySQL(t))
	check.OK(t, db.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version))
	faulttest.Listed(t, "MariaDB", version)
}
