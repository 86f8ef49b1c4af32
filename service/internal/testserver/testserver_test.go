package testserver

import (
	"context"
	"database/sql"
	"io"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A place is empty and the test's own; a server that was stopped and started again has
// what was committed.
func TestPostgres(t *testing.T) {
	a, b := Postgres(t), Postgres(t)
	execPostgres(t, a, "CREATE TABLE here (x int)")
	execPostgres(t, b, "CREATE TABLE here (x int)")

	s := StartPostgres(t, "work_mem=77MB")
	execPostgres(t, s.URL, "CREATE TABLE here (x int)")
	s.Stop()
	if err := postgresServes(t.Context(), s.URL); err == nil {
		t.Fatal("a server that was stopped serves")
	}
	s.Start()
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var set string
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('work_mem') FROM (SELECT count(*) FROM here) c").Scan(&set); err != nil || set != "77MB" {
		t.Errorf("after a stop: %q, %v", set, err)
	}
}

func TestMySQL(t *testing.T) {
	a, b := MySQL(t), MySQL(t)
	if a == b {
		t.Fatal("two tests have one place")
	}
	s := StartMySQL(t, "max-connections=77")
	db, err := openMySQL(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	execMySQL(t, s.URL, "CREATE TABLE test.here (x int)")
	s.Stop()
	if err := mysqlServes(t.Context(), s.URL); err == nil {
		t.Fatal("a server that was stopped serves")
	}
	s.Start()
	var set sql.NullString
	if err := db.QueryRowContext(t.Context(), "SELECT @@max_connections FROM (SELECT count(*) FROM test.here) c").Scan(&set); err != nil || set.String != "77" {
		t.Errorf("after a stop: %q, %v", set.String, err)
	}
}

// The proxy loses the answer that it is told to lose, after the server has sent it.
func TestProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	heard := make(chan byte, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				buf := make([]byte, 1)
				for {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					heard <- buf[0]
					conn.Write(buf)
				}
			}()
		}
	}()
	p := StartProxy(t, l.Addr().String())
	ask := func(conn net.Conn, b byte) error {
		t.Helper()
		conn.SetDeadline(time.Now().Add(10 * time.Second))
		conn.Write([]byte{b})
		_, err := io.ReadFull(conn, make([]byte, 1))
		if h := <-heard; h != b {
			t.Fatalf("the server heard %d, want %d", h, b)
		}
		return err
	}
	conn, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p.Lose(2)
	if err := ask(conn, 1); err != nil || p.Lost() {
		t.Fatalf("the first answer: %v, lost: %v", err, p.Lost())
	}
	if err := ask(conn, 2); err != io.EOF || !p.Lost() {
		t.Fatalf("the second answer: %v, lost: %v", err, p.Lost())
	}
	again, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := ask(again, 3); err != nil {
		t.Fatal(err)
	}
}
