package mysql

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/store/internal/faulttest"
)

func open(t *testing.T, url string) *Store {
	t.Helper()
	return faulttest.Open(t, Open, url)
}

func refused(t *testing.T, url string, want ...string) {
	t.Helper()
	faulttest.Refused(t, Open, url, want...)
}

// at replaces the user (if it is not nil) and the database (if it is not empty) of a URL.
func at(t *testing.T, raw string, user *url.Userinfo, database string) string {
	t.Helper()
	return faulttest.Edit(t, raw, func(u *url.URL) {
		u.User = cmp.Or(user, u.User)
		if database != "" {
			u.Path = "/" + database
		}
	})
}

func dial(t *testing.T, url string) *sql.DB {
	t.Helper()
	config := check.Must(parse(url))(t)
	c := check.Must(mysql.NewConnector(config))(t)
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

var (
	block  = faulttest.Block
	record = faulttest.Record
)

func TestStore(t *testing.T) { faulttest.Store(t, Open, testserver.MySQL) }

// The store depends on no defaults of the server and no parameters of the URL.
func TestDefaultsOfTheServer(t *testing.T) {
	server := testserver.StartMySQL(t, "transaction-isolation=READ-UNCOMMITTED", "autocommit=OFF",
		"sql-mode=ANSI",
		"default-storage-engine=MyISAM", "default-time-zone=+05:45", "character-set-server=latin1",
		"collation-server=latin1_swedish_ci",
		"log-bin=bin", "sync-binlog=1", "binlog-format=STATEMENT", "init-connect=SET NAMES latin1")
	admin := dial(t, at(t, server.URL, nil, "mysql")+"?autocommit=1&tx_read_only=0")
	exec(t, admin, "SET GLOBAL tx_read_only = ON")
	n := 0
	faulttest.Store(t, Open, func(testing.TB) string {
		n++
		database := fmt.Sprint("test_", n)
		exec(t, admin, "CREATE DATABASE "+database)
		url := at(t, server.URL, nil, database) +
			"?parseTime=true&loc=Asia%2FKathmandu&clientFoundRows=false&interpolateParams=true" +
			"&charset=latin1&sql_mode=%27%27"
		open(t, url)
		for _, change := range []string{"INSERT", "UPDATE"} {
			exec(t, admin, fmt.Sprintf(`CREATE TRIGGER %[1]s.demand_%[2]s
				BEFORE %[2]s ON %[1]s.sortid_lease FOR EACH ROW
				IF @@SESSION.autocommit <> 1 OR @@SESSION.tx_isolation <> 'REPEATABLE-READ' THEN
					SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not the settings that the store needs';
				END IF`, database, change))
		}
		return url
	})
}

func TestNew(t *testing.T) {
	url := testserver.MySQL(t)
	config := check.Must(parse(url))(t)
	dialed := 0
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed++
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	s := check.Must(New(t.Context(), config))(t)
	faulttest.Change(t, s, record(0), record(1))
	check.OK(t, s.Close())
	if dialed == 0 || config.ClientFoundRows {
		t.Errorf("dialed %d times; config was changed: %v", dialed, config.ClientFoundRows)
	}
	if _, err := s.Get(t.Context(), "realm", block); err == nil {
		t.Error("Get after Close: no error")
	}
}

func TestURLs(t *testing.T) {
	bad := map[string]string{}
	for _, url := range []string{
		"", "mysql", "mysql:", "mysql:x", "postgres://localhost/x", "root@tcp(localhost)/x",
		"sortid.db", "mysql://localhost", "mysql://localhost/", "mysql://localhost/x/y",
		"mysql://localhost:none/x", "mysql://localhost/x?%zz", "mysql://localhost/x#y",
		"mysql://localhost/x?timeout=soon", "mysql://localhost/x?tls=perhaps",
		"mysql://localhost/x?parseTime=2",
	} {
		bad[url] = "mysql: "
	}
	faulttest.BadURLs(t, Open, bad)
	for raw, want := range map[string]mysql.Config{
		"mysql://db.example.com/app": {Net: "tcp",
			Addr: "db.example.com:3306", DBName: "app"},
		"mariadb://me:p%40ss%2Fw%3Ard@[::1]:3307/app%20one": {Net: "tcp", Addr: "[::1]:3307",
			User: "me", Passwd: "p@ss/w:rd", DBName: "app one"},
		"mysql://me@/app": {Net: "tcp", Addr: "127.0.0.1:3306",
			User: "me", DBName: "app"},
		"mysql://me@localhost/app?socket=/run/my.sock": {Net: "unix", Addr: "/run/my.sock",
			User: "me", DBName: "app"},
		"mysql://h/app?timeout=3s&connectionAttributes=p:/": {Net: "tcp", Addr: "h:3306",
			DBName: "app", Timeout: 3 * time.Second, ConnectionAttributes: "p:/"},
	} {
		c, err := parse(raw)
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		got := mysql.Config{Net: c.Net, Addr: c.Addr, User: c.User, Passwd: c.Passwd,
			DBName: c.DBName, Timeout: c.Timeout, ConnectionAttributes: c.ConnectionAttributes}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %+v", raw, got)
		}
	}
	c, err := parse("mysql://db.example.com/app?tls=true")
	if err != nil || c.TLS == nil || c.TLS.ServerName != "db.example.com" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestPasswordsStaySecret(t *testing.T) {
	faulttest.Secrets(t, Open,
		"mysql://me:PASSWORD@127.0.0.1:1/db?timeout=1s",
		"mysql://me:PASSWORD@127.0.0.1:x/db",
		"mysql://me:PASSWORD@127.0.0.1:1/db?tls=nonsense",
		"mysql://me:PASSWORD@127.0.0.1:1",
		"mysql:/me:PASSWORD@127.0.0.1:1/db")
}

func TestNoServer(t *testing.T) {
	faulttest.NoServer(t, Open, "mysql://me:secret@host/db", `database "db" at 127.0.0.1:`,
		"does the server run")
}

func TestWrongTable(t *testing.T) {
	changed := func(old, new string) string { return faulttest.Replace(t, Schema, old, new) }
	for statement, want := range map[string]string{
		"CREATE TABLE sortid_lease (id INT)":                        "it has: none",
		"CREATE TABLE sortid_lease (id INT PRIMARY KEY)":            "id int PRI",
		"CREATE VIEW sortid_lease AS SELECT 1 AS id":                "it has: none",
		changed("PRIMARY KEY", "KEY"):                               "MUL, block varbinary, rev",
		changed("(realm, block)", "(realm)"):                        "PRI, block varbinary, rev",
		changed("(realm, block)", "(realm, block, revision)"):       "revision bigint PRI",
		changed("VARBINARY(255) ", "VARCHAR(200)"):                  "realm varchar PRI",
		changed("hwm      BIGINT  ", "hwm INT"):                     "hwm int",
		changed("gets     BIGINT UNSIGNED NOT NULL DEFAULT 0,", ""): "record text",
	} {
		url := testserver.MySQL(t)
		exec(t, dial(t, url), statement)
		refused(t, url, "sortid_lease is not the table for leases", columns, want)
	}
	url := testserver.MySQL(t)
	exec(t, dial(t, url), changed("ENGINE=InnoDB", "ENGINE=MyISAM"))
	faulttest.Unsafe(t, Open, url, "sortid_lease", "engine", "ENGINE=InnoDB")
}

func TestEditedRow(t *testing.T) {
	exec := func(url, statement string) { exec(t, dial(t, url), statement) }
	faulttest.EditedRows(t, Open, testserver.MySQL, exec,
		`UPDATE sortid_lease SET record = REPLACE(record, '42/8', '41/8')`,
		`UPDATE sortid_lease SET record = REPLACE(record, '"realm":"realm"', '"realm":"other"')`)
}

// A change that changes nothing succeeds if the record is as expected.
func TestChangeThatChangesNothingSucceeds(t *testing.T) {
	s := open(t, testserver.MySQL(t))
	faulttest.Change(t, s, record(0), record(1))
	faulttest.Change(t, s, record(1), record(1))
}

func TestLongName(t *testing.T) {
	s := open(t, testserver.MySQL(t)+"?sql_mode=%27%27")
	r := record(0)
	r.Realm = strings.Repeat("x", 256)
	next := record(1)
	next.Realm = r.Realm
	if ok, err := s.CompareAndSet(t.Context(), r, next); err == nil {
		t.Errorf("%v, and no error", ok)
	}
}
