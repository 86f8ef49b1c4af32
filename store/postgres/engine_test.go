package postgres

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
)

const (
	cockroach = "CockroachDB CCL v20.1.15 (x86_64-unknown-linux-gnu, built 2021/04/26 16:11:58, " +
		"go1.13.9)"
	yugabyte = "PostgreSQL 11.2-YB-2.6.1.0-b0 on x86_64-pc-linux-gnu, compiled by gcc " +
		"(Homebrew gcc 5.5.0_4) 5.5.0, 64-bit"
)

// These are answers of real servers.
func TestEngine(t *testing.T) {
	for _, version := range []string{
		"PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc " +
			"(Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit",
		"PostgreSQL 15.1 on aarch64-unknown-linux-gnu, compiled by gcc " +
			"(Ubuntu 10.3.0-1ubuntu1~20.04) 10.3.0, 64-bit",
		"PostgreSQL 16.2, compiled by Visual C++ build 1937, 64-bit",
	} {
		if got, err := engine(version); err != nil || got != nil {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	for _, version := range []string{
		"PostgreSQL 17.5 (6bc9ef8) on aarch64-unknown-linux-gnu, compiled by gcc " + // Neon
			"(Debian 12.2.0-14+deb12u1) 12.2.0, 64-bit",
		"PostgreSQL 9.4.24 (Greenplum Database 6.7.0 build " +
			"commit:2fbc274bc15a19b5de3c6e44ad5073464cd4f47b) on x86_64-unknown-linux-gnu, " +
			"compiled by gcc (GCC) 6.4.0, 64-bit compiled on Apr 16 2020 02:24:06",
		"PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 " +
			"(Red Hat 3.4.2-6.fc3), Redshift 1.0.12103",
	} {
		got, err := engine(version)
		if err != nil || len(got) != 1 || !strings.Contains(got[0], "was not tested. It says that "+
			`it is "`+version) {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	for _, version := range []string{cockroach, yugabyte} {
		if got, err := engine(version); !errors.Is(err, lease.ErrUnsafe) ||
			!strings.Contains(err.Error(), version) {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
}

func TestOtherEngines(t *testing.T) {
	for _, c := range []struct{ status, version, want string }{
		{"", yugabyte, "YugabyteDB"},
		{"", cockroach, "jsonb"},
		{cockroach, "", "jsonb"},
	} {
		faulttest.Unsafe(t, Open, fake(t, c.status, c.version), c.want)
	}
}

// fake returns the URL of a server that says its version, and then refuses what comes next. If
// version is empty, it also refuses that. It announces crdb_version if that is not empty.
func fake(t *testing.T, crdb, version string) string {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answer(conn, crdb, version)
		}
	}()
	return "postgres://me@" + l.Addr().String() + "/db?sslmode=disable"
}

func answer(conn net.Conn, crdb, version string) {
	defer conn.Close()
	server := pgproto3.NewBackend(conn, conn)
	if _, err := server.ReceiveStartupMessage(); err != nil {
		return
	}
	server.Send(&pgproto3.AuthenticationOk{})
	if crdb != "" {
		server.Send(&pgproto3.ParameterStatus{Name: "crdb_version", Value: crdb})
	}
	server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for server.Flush() == nil {
		if m, err := server.Receive(); err != nil {
			return
		} else if _, ok := m.(*pgproto3.Query); !ok {
			continue
		}
		if version != "" {
			column := pgproto3.FieldDescription{Name: []byte("c"), DataTypeOID: pgtype.TextOID}
			server.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{column, column}})
			server.Send(&pgproto3.DataRow{Values: [][]byte{[]byte("f"), []byte(version)}})
			server.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		}
		server.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: "42704",
			Message: `unrecognized configuration parameter "fsync"`})
		server.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	}
}

func TestListed(t *testing.T) {
	conn := dial(t, testserver.Postgres(t))
	faulttest.Listed(t, "PostgreSQL", conn.PgConn().ParameterStatus("server_version"))
}
