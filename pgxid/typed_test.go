package pgxid_test

import (
	"context"
	"database/sql"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/pgxid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

type user struct{}

func (user) Prefix() string { return "user" }

func TestEveryFormat(t *testing.T) {
	for _, f := range format.Ours() {
		if !slices.ContainsFunc(pgxid.Types(), func(id reflect.Type) bool {
			return id.Name() == "ID" && path.Base(id.PkgPath()) == f.Name()
		}) {
			t.Errorf("pgxid/pgxid.go lacks %s", f.Name())
		}
	}
}

func TestTypedIDs(t *testing.T) {
	conn := connect(t)
	for _, column := range []string{"uuid", "bytea"} {
		checkTyped[typed.ID[user, scru128.ID]](t, conn, column, a128, b128, scru128.ID{})
		checkTyped[typed.ID[user, euid.ID]](t, conn, column, aEUID, euid.Max())
	}
	for _, column := range []string{"bigint", "bytea"} {
		checkTyped[typed.ID[user, scru64.ID]](t, conn, column, a64, b64, 0)
	}
	checkTyped[typed.ID[user, uid60.ID]](t, conn, "bigint", aUID, uid60.Max())
	checkTyped[typed.ID[user, scru160.ID]](t, conn, "bytea", a160, b160)
}

func checkTyped[I typed.ID[P, T], P typed.Prefixer, T typed.Inner[T]](t *testing.T, conn *pgx.Conn,
	column string, inner ...T) {
	ctx := context.Background()
	oid := map[string]uint32{"uuid": pgtype.UUIDOID, "bigint": pgtype.Int8OID,
		"bytea": pgtype.ByteaOID}[column]
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec,
		pgx.QueryExecModeSimpleProtocol} {
		for _, inner := range inner {
			id := typed.From[I](inner)
			if mode != pgx.QueryExecModeCacheStatement && column == "bytea" &&
				id.String() != "user_"+a160.String() {
				continue
			}
			var stored string
			var back typed.ID[P, T]
			var pointer *typed.ID[P, T]
			var null sql.Null[typed.ID[P, T]]
			sent := any(id)
			for range 2 {
				err := conn.QueryRow(ctx, "SELECT ($1::"+column+")::text, $1::"+column+", $1::"+
					column+", $1::"+column, mode, sent).Scan(&stored, &back, &pointer, &null)
				if err != nil || stored != show(column, any(inner).(fmt.Stringer)) || back != id ||
					pointer == nil || *pointer != id || null.V != id || !null.Valid {
					t.Errorf("%T in %s, %v: %s, %v, %v, %v, %v", id, column, mode, stored, back,
						pointer, null, err)
				}
				sent = &id
			}
			var none *typed.ID[P, T]
			err := conn.QueryRow(ctx, "SELECT $1::"+column+", $2::"+column, mode, none,
				sql.Null[typed.ID[P, T]]{}).Scan(&pointer, &null)
			if err != nil || pointer != nil || null.Valid {
				t.Errorf("%T in %s, %v: NULL is %v, %v, %v", id, column, mode, pointer, null, err)
			}
			if err := conn.QueryRow(ctx, "SELECT NULL::"+column).Scan(&back); err == nil ||
				!strings.Contains(err.Error(), "sql.Null") || back != id {
				t.Errorf("%T in %s: NULL: %v", id, column, err)
			}
			if mode != pgx.QueryExecModeCacheStatement {
				continue
			}
			var list []typed.ID[P, T]
			err = conn.QueryRow(ctx, "SELECT $1::"+column+"[]",
				[]typed.ID[P, T]{id, id}).Scan(&list)
			if err != nil || len(list) != 2 || list[1] != id {
				t.Errorf("%T in %s[]: %v, %v", id, column, list, err)
			}
			for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
				b, err := conn.TypeMap().Encode(oid, format, id, nil)
				if err == nil {
					back = typed.ID[P, T]{}
					err = conn.TypeMap().Scan(oid, format, b, &back)
				}
				if err != nil || back != id {
					t.Errorf("%T in %s, format %d: %q, %v, %v", id, column, format, b, back, err)
				}
			}
			var text typed.Text[P, T]
			var free typed.Any[T]
			err = conn.QueryRow(ctx, "SELECT $1::text, $1::text, $2::text", id.Text(),
				id.Any()).Scan(&text, &free, &stored)
			if err != nil || text.ID != id || free != id.Any() || stored != id.String() {
				t.Errorf("%T as text: %v, %v, %s, %v", id, text, free, stored, err)
			}
			err = conn.QueryRow(ctx, "SELECT $1::jsonb, ($1::jsonb)::text", id).Scan(&back, &stored)
			if err != nil || back != id || stored != `"`+id.String()+`"` {
				t.Errorf("%T as JSON: %v, %s, %v", id, back, stored, err)
			}
			if _, err := conn.Exec(ctx, "SELECT $1::text", id); err == nil ||
				!strings.Contains(err.Error(), "id.Text()") {
				t.Errorf("%T into text: %v", id, err)
			}
		}
	}
	table := pgx.Identifier{"typed_" + column}
	if _, err := conn.Exec(ctx, "DROP TABLE IF EXISTS "+table[0]+"; CREATE TABLE "+table[0]+" (id "+
		column+")"); err != nil {
		t.Fatal(err)
	}
	id := typed.From[I](inner[0])
	if _, err := conn.CopyFrom(ctx, table, []string{"id"},
		pgx.CopyFromRows([][]any{{id}, {&id}, {nil}})); err != nil {
		t.Errorf("%T in %s: CopyFrom: %v", id, column, err)
	}
	var n int
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM "+table[0]+" WHERE id = $1",
		id).Scan(&n); err != nil || n != 2 {
		t.Errorf("%T in %s: %d rows after CopyFrom, %v", id, column, n, err)
	}
}
