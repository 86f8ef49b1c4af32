package pgxid_test

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/pgxid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

func connect(t testing.TB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), testserver.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	pgxid.Register(conn.TypeMap())
	pgxid.Register(conn.TypeMap()) // a second call does no harm
	return conn
}

var (
	a64, b64   = scru64.MustParse("0u2pf62ji4b9"), scru64.Max()
	a128, b128 = scru128.MustParse("0372ijojuxuhjsfkeryi2mrtm"), scru128.Max()
	a160, b160 = scru160.MustParse("05TTUP1HNCPNH30VEK64KDQT9BSNU4C4"), scru160.Max()
	aEUID      = euid.MustParse("C8EE934SR007G5Q94QKKXFRFV8B")
	aUID       = uid60.MustParse("xinaS8QBh")
)

func show(column string, id interface{ String() string }) string {
	marshal := func() []byte {
		b, err := id.(interface{ MarshalBinary() ([]byte, error) }).MarshalBinary()
		if err != nil {
			panic(err)
		}
		return b
	}
	switch column {
	case "uuid":
		return scru128.UUID(marshal()).String()
	case "bytea":
		return `\x` + hex.EncodeToString(marshal())
	case "bigint":
		return fmt.Sprintf("%d", id)
	}
	return id.String()
}

// check stores IDs in a column and reads them back, in text and in binary.
func check[ID interface {
	comparable
	String() string
}](t *testing.T, conn *pgx.Conn, column string, ids ...ID) {
	ctx := context.Background()
	name := fmt.Sprintf("%T in %s", ids[0], column)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, query, args...); err != nil {
			t.Errorf("%s: %s: %v", name, query, err)
		}
	}
	// pgx remembers the types of statements, so each check has its own table.
	table := strings.NewReplacer(".", "_", " ", "_").Replace(name)
	exec("CREATE TABLE " + table + " (n serial, id " + column + ", list " + column + "[])")
	encoded, ok := conn.TypeMap().TypeForName(map[string]string{"bigint": "int8"}[column])
	if !ok {
		encoded, ok = conn.TypeMap().TypeForName(column)
	}
	if !ok {
		t.Fatalf("%s: pgx does not know the type", name)
	}
	for _, id := range ids {
		for _, format := range []int16{pgtype.BinaryFormatCode, pgtype.TextFormatCode} {
			buf, err := conn.TypeMap().Encode(encoded.OID, format, id, nil)
			var back ID
			if err == nil {
				err = conn.TypeMap().Scan(encoded.OID, format, buf, &back)
			}
			if err != nil || back != id {
				t.Errorf("%s, format %d: %q reads as %v, %v", name, format, buf, back, err)
			}
			if format == pgtype.TextFormatCode && string(buf) != show(column, id) {
				t.Errorf("%s: text %s, want %s", name, buf, show(column, id))
			}
		}
		null := sql.Null[ID]{V: id, Valid: true}
		for _, value := range []any{id, &id, null, &null} {
			exec("TRUNCATE " + table)
			exec("INSERT INTO "+table+" (id, list) VALUES ($1, $2)", value, []ID{id, id})
			var text string
			var back ID
			var pointer *ID
			var maybe sql.Null[ID]
			var list []ID
			var pointers []*ID
			err := conn.QueryRow(ctx, "SELECT id::text, id, id, id, list, list FROM "+table).Scan(
				&text, &back, &pointer, &maybe, &list, &pointers)
			if err != nil || text != show(column, id) || back != id || pointer == nil ||
				*pointer != id || maybe != null ||
				!reflect.DeepEqual(list, []ID{id, id}) || len(pointers) != 2 || *pointers[1] != id {
				t.Errorf("%s as %T: %s, %v, %v, %v, %v, %v", name, value, text, back, pointer,
					maybe, list, err)
			}
			for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
				var back ID
				var list []ID
				if err := conn.QueryRow(ctx, "SELECT id, list FROM "+table,
					pgx.QueryResultFormats{format}).Scan(&back, &list); err != nil || back != id ||
					list[1] != id {
					t.Errorf("%s: format %d reads as %v %v, %v", name, format, back, list, err)
				}
			}
		}
		var found int
		if err := conn.QueryRow(ctx, "SELECT count(*) FROM "+table+
			" WHERE id = $1 AND id = ANY($2)", id, []ID{id}).Scan(&found); err != nil ||
			found != 1 {
			t.Errorf("%s: found %d, %v", name, found, err)
		}
	}
	exec("TRUNCATE " + table)
	var none *ID
	rows := [][]any{{none, nil}, {sql.Null[ID]{}, []*ID{nil, &ids[0]}}, {nil, []ID{}}}
	for _, id := range ids {
		rows = append(rows, []any{id, ids})
	}
	if n, err := conn.CopyFrom(ctx, pgx.Identifier{strings.ToLower(table)}, []string{"id", "list"},
		pgx.CopyFromRows(rows)); err != nil || int(n) != len(rows) {
		t.Errorf("%s: CopyFrom: %d rows, %v", name, n, err)
	}
	got, err := conn.Query(ctx, "SELECT id FROM "+table+" WHERE id IS NOT NULL ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	if back, err := pgx.CollectRows(got, pgx.RowTo[ID]); err != nil ||
		!reflect.DeepEqual(back, ids) {
		t.Errorf("%s: after CopyFrom %v, %v", name, back, err)
	}
	var pointer = &ids[0]
	var maybe = sql.Null[ID]{Valid: true}
	var list []*ID
	if err := conn.QueryRow(ctx, "SELECT id, id, list FROM "+table+
		" WHERE n = (SELECT min(n) + 1 FROM "+table+")").Scan(&pointer, &maybe,
		&list); err != nil || pointer != nil || maybe.Valid || len(list) != 2 || list[0] != nil {
		t.Errorf("%s: NULL reads as %v, %v, %v, %v", name, pointer, maybe, list, err)
	}
	before := ids[0]
	if err := conn.QueryRow(ctx, "SELECT id FROM "+table+
		" WHERE id IS NULL LIMIT 1").Scan(&ids[0]); err == nil || !strings.Contains(err.Error(),
		"sql.Null") || ids[0] != before {
		t.Errorf("%s: NULL into an ID: %v, %v", name, ids[0], err)
	}
}

// Each format's type and wrappers are known, and the type has a default PostgreSQL type.
func TestFormats(t *testing.T) {
	m := pgtype.NewMap()
	pgxid.Register(m)
	for _, f := range format.Ours() {
		var ids, wrappers int
		for _, of := range pgxid.Types() {
			if path.Base(of.PkgPath()) != f.Name() {
				continue
			}
			value := reflect.New(of)
			err := value.Interface().(sql.Scanner).Scan(f.Example())
			b, err2 := m.Encode(pgtype.ByteaOID, pgx.BinaryFormatCode, value.Elem().Interface(), nil)
			if id, _ := f.Parse(f.Example()); cmp.Or(err, err2) != nil || !bytes.Equal(b, id.Bytes()) {
				t.Errorf("%v is stored as %x, %v, %v", of, b, err, err2)
			}
			if wrappers++; of.Name() == "ID" {
				ids++
				if _, ok := m.TypeForValue(value.Elem().Interface()); !ok {
					t.Errorf("%s has no default", f.Name())
				}
			}
		}
		if ids != 1 || wrappers < 2 {
			t.Errorf("%s has %d types of IDs, and %d with wrappers", f.Name(), ids, wrappers)
		}
	}
}

func TestTypesOfColumns(t *testing.T) {
	conn := connect(t)
	for _, column := range []string{"bytea", "bigint", "text", "varchar"} {
		check(t, conn, column, a64, b64, 0)
		check(t, conn, column, aUID, uid60.Max(), 0)
	}
	for _, column := range []string{"uuid", "bytea", "text", "varchar"} {
		check(t, conn, column, a128, b128, scru128.ID{})
		check(t, conn, column, aEUID, euid.Max(), euid.ID{})
	}
	for _, column := range []string{"bytea", "text", "varchar"} {
		check(t, conn, column, a160, b160, scru160.ID{})
	}
}

func TestJSON(t *testing.T) {
	conn := connect(t)
	for _, column := range []string{"json", "jsonb"} {
		for _, format := range []int16{pgx.TextFormatCode, pgx.BinaryFormatCode} {
			var back scru128.ID
			if err := conn.QueryRow(context.Background(), "SELECT $1::"+column,
				pgx.QueryResultFormats{format}, a128).Scan(&back); err != nil || back != a128 {
				t.Errorf("%s: %v, %v", column, back, err)
			}
		}
	}
}

func TestWrappers(t *testing.T) {
	conn := connect(t)
	for _, c := range []struct {
		column string
		value  any
		want   string
	}{
		{"uuid", scru128.UUID(a128), show("uuid", a128)},
		{"uuid", scru128.Bytes(a128), show("uuid", a128)},
		{"uuid", euid.UUID(aEUID), show("uuid", aEUID)},
		{"bytea", scru128.Bytes(a128), show("bytea", a128)},
		{"bytea", scru128.UUID(a128), show("bytea", a128)},
		{"bytea", euid.Bytes(aEUID), show("bytea", aEUID)},
		{"bytea", scru160.Bytes(a160), show("bytea", a160)},
		{"bytea", scru160.Hex(a160), show("bytea", a160)},
		{"text", scru128.UUID(a128), show("uuid", a128)},
		{"text", scru160.Hex(a160), a160.Hex()},
		{"text", scru64.Text(a64), a64.String()},
		{"bigint", scru64.Text(a64), show("bigint", a64)},
		{"json", a128, `"` + a128.String() + `"`},
		{"json", scru128.UUID(a128), `"` + a128.String() + `"`},
		{"jsonb", euid.Bytes(aEUID), `"` + aEUID.String() + `"`},
		{"jsonb", a64, `"` + a64.String() + `"`},
	} {
		var got string
		if err := conn.QueryRow(context.Background(), "SELECT ($1::"+c.column+")::text",
			c.value).Scan(&got); err != nil || got != c.want {
			t.Errorf("%T into %s: %s, %v; want %s", c.value, c.column, got, err, c.want)
		}
	}
}

func TestUnsupported(t *testing.T) {
	conn := connect(t)
	for _, c := range []struct {
		column string
		value  any
		want   string
	}{
		{"uuid", a160, "bytea or text"},
		{"uuid", a64, "bigint or bytea or text"},
		{"bigint", a128, "uuid or bytea or text"},
		{"bigint", sql.Null[euid.ID]{V: aEUID, Valid: true}, "uuid or bytea or text"},
		{"int", a64, "bigint"},
		{"numeric", aUID, "bigint"},
		{"timestamptz", &a128, "uuid"},
		{"inet", a160, "bytea"},
		{"bigint[]", []scru128.ID{a128}, "uuid"},
		{"boolean", scru128.UUID(a128), "uuid"},
		{"bigint", typed.From[typed.ID[user, scru128.ID]](a128), "uuid or bytea"},
		{"uuid", typed.From[typed.ID[user, scru64.ID]](a64), "bigint or bytea"},
		{"text", typed.From[typed.ID[user, scru160.ID]](a160),
			"make the column bytea, or store id.Text()"},
	} {
		_, err := conn.Exec(context.Background(), "SELECT $1::"+c.column, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "pgxid") {
			t.Errorf("%T into %s: %v", c.value, c.column, err)
		}
	}
	for _, query := range []string{"SELECT 1::bigint", "SELECT 'x'::text", `SELECT '\x00'::bytea`,
		"SELECT now()", "SELECT true"} {
		id := a128
		if err := conn.QueryRow(context.Background(), query).Scan(&id); err == nil || id != a128 {
			t.Errorf("%s reads as %v, %v", query, id, err)
		}
	}
	if _, err := conn.Exec(context.Background(), "SELECT $1::bigint", scru64.Max()+1); err == nil {
		t.Error("an integer above the largest ID was sent")
	}
}

func TestModes(t *testing.T) {
	conn := connect(t)
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		var u scru128.ID
		var b scru160.ID
		var i scru64.ID
		err := conn.QueryRow(context.Background(), "SELECT $1::uuid, $2::bytea, $3::bigint", mode,
			a128, a160, a64).Scan(&u, &b, &i)
		if err != nil || u != a128 || b != a160 || i != a64 {
			t.Errorf("%v: %v %v %v, %v", mode, u, b, i, err)
		}
	}
}

// A connection knows a domain after LoadType.
func TestDomainIsKnownAfterLoadType(t *testing.T) {
	conn := connect(t)
	ctx := context.Background()
	if _, err := conn.Exec(ctx, `CREATE DOMAIN short AS bigint CHECK (VALUE >= 0);
		CREATE DOMAIN long AS bytea CHECK (octet_length(VALUE) = 20);
		CREATE TABLE t (a short, b long)`); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := conn.Exec(ctx, "INSERT INTO t VALUES ($1, $2)", a64, a160); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"short", "long"} {
			loaded, err := conn.LoadType(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			conn.TypeMap().RegisterType(loaded)
		}
	}
	rows, err := conn.Query(ctx, "SELECT a, b FROM t")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var a scru64.ID
		var b scru160.ID
		if err := rows.Scan(&a, &b); err != nil || a != a64 || b != a160 {
			t.Error(a, b, err)
		}
	}
}

type plainUUID struct{ pgtype.UUIDCodec }

// If a program registers another codec and calls Register again, both codecs work.
func TestRegisterKeepsOtherCodecs(t *testing.T) {
	m := pgtype.NewMap()
	for range 20 {
		pgxid.Register(m)
		m.RegisterType(&pgtype.Type{Name: "uuid", OID: pgtype.UUIDOID, Codec: plainUUID{}})
		pgxid.Register(m)
		if buf, err := m.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, a128, nil); err != nil ||
			scru128.ID(buf) != a128 {
			t.Fatal(buf, err)
		}
		if n := len(m.TryWrapEncodePlanFuncs); n != len(pgtype.NewMap().TryWrapEncodePlanFuncs)+1 {
			t.Fatalf("%d functions", n)
		}
	}
}

// Encoding and scanning an ID allocate nothing.
func TestEncodingAllocatesNothing(t *testing.T) {
	m := pgtype.NewMap()
	pgxid.Register(m)
	buf := make([]byte, 0, 64)
	var typedValue any = typed.From[typed.ID[user, scru128.ID]](a128)
	if n := testing.AllocsPerRun(100, func() {
		buf, _ = m.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, typedValue, buf[:0])
	}); n > 0 {
		t.Errorf("%v allocations to encode a typed ID", n)
	}
	var value any = a128
	if n := testing.AllocsPerRun(100, func() {
		buf, _ = m.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, value, buf[:0])
	}); n > 0 {
		t.Errorf("%v allocations to encode", n)
	}
	var id scru128.ID
	plan := m.PlanScan(pgtype.UUIDOID, pgtype.BinaryFormatCode, &id)
	if n := testing.AllocsPerRun(100, func() { plan.Scan(buf, &id) }); n > 0 || id != a128 {
		t.Errorf("%v allocations to scan", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	m := pgtype.NewMap()
	pgxid.Register(m)
	plain := pgtype.NewMap()
	buf := make([]byte, 0, 64)
	b.Run("pgxid", func(b *testing.B) {
		var value any = a128
		for b.Loop() {
			buf, _ = m.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, value, buf[:0])
		}
	})
	b.Run("pgtype.UUID", func(b *testing.B) {
		var value any = pgtype.UUID{Bytes: a128, Valid: true}
		for b.Loop() {
			buf, _ = plain.Encode(pgtype.UUIDOID, pgtype.BinaryFormatCode, value, buf[:0])
		}
	})
}
