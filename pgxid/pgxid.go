// Package pgxid lets pgx store the IDs of the five formats in PostgreSQL's own types, in
// binary: with queries, with CopyFrom, in arrays, and as pointers and sql.Null.
//
//	config, err := pgxpool.ParseConfig(url)
//	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
//		pgxid.Register(conn.TypeMap())
//		return nil
//	}
//
// After that, columns of these types and their arrays store IDs:
//
//	               uuid       bytea      bigint     text, varchar, char
//	scru64.ID                 8 bytes    yes        12 characters
//	scru128.ID     yes        16 bytes              25
//	scru160.ID                20 bytes              32
//	euid.ID        yes        16 bytes              27
//	uid60.ID                  8 bytes    yes        9 or 10, which do not sort
//
// The types UUID and Bytes of packages scru128, euid and scru160 are stored like ID, except that a
// UUID in a text has 36 characters. The types json and jsonb hold an ID as a string. Any other
// type gives an error that says what to do.
//
// A typed.ID is stored like the ID inside, without its prefix, in a uuid, a bytea or a bigint.
// JSON has the prefix. To store a text with the prefix use typed.Text.
//
// For NULL use a pointer or sql.Null; scanning NULL into an ID is an error. The zero ID is stored
// as it is: to get the column's DEFAULT, leave the column out.
//
// For a column of a domain, the connection must know the domain: see pgx.Conn.LoadType. Then IDs
// are sent in the form of its base type. With pgx.QueryExecModeSimpleProtocol pgx does not learn
// the column's type, and sends the first type for the ID in the table above.
package pgxid

import (
	"bytes"
	"cmp"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

// Register adds the IDs to what a connection's map can encode and scan. It may be called again. It
// keeps codecs that others have registered, for all values that are not IDs.
func Register(m *pgtype.Map) {
	before := false
	for oid, c := range map[uint32]column{
		pgtype.UUIDOID:    uuidColumn{},
		pgtype.ByteaOID:   byteaColumn{},
		pgtype.Int8OID:    int8Column{},
		pgtype.TextOID:    textColumn{},
		pgtype.VarcharOID: textColumn{},
		pgtype.BPCharOID:  textColumn{},
		pgtype.JSONOID:    jsonColumn{},
		pgtype.JSONBOID:   jsonColumn{version: true},
	} {
		t, ok := m.TypeForOID(oid)
		if !ok {
			continue
		}
		if _, ok := t.Codec.(codec); ok {
			before = true
			continue
		}
		m.RegisterType(&pgtype.Type{Name: t.Name, OID: oid, Codec: codec{t.Codec, c}})
	}
	if before {
		return
	}
	m.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{wrapUnsupported},
		m.TryWrapEncodePlanFuncs...)

	registerDefault[scru64.ID](m, "int8")
	registerDefault[uid60.ID](m, "int8")
	registerDefault[scru128.ID](m, "uuid")
	registerDefault[euid.ID](m, "uuid")
	registerDefault[scru160.ID](m, "bytea")
}

func registerDefault[ID any](m *pgtype.Map, name string) {
	var id ID
	m.RegisterDefaultPgType(id, name)
	m.RegisterDefaultPgType(&id, name)
	m.RegisterDefaultPgType(sql.Null[ID]{}, name)
	m.RegisterDefaultPgType([]ID{}, "_"+name)
	m.RegisterDefaultPgType([]*ID{}, "_"+name)
}

// A codec is the codec of a PostgreSQL type, which also handles IDs.
type codec struct {
	pgtype.Codec
	column column
}

// A column is how a PostgreSQL type stores IDs.
type column interface {
	// append appends an ID in the type's form, or returns errUnsupported.
	append(buf []byte, format int16, id any) ([]byte, error)
	// scan sets an ID from a value in the type's form.
	scan(id scanner, src []byte, format int16) error
}

func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	id, _, ok := idOf(value)
	if !ok {
		return c.Codec.PlanEncode(m, oid, format, value)
	}
	if _, err := c.column.append(nil, format, id); err == errUnsupported {
		if _, ok := id.(typed.Column); ok {
			return &failPlan{}
		}
		return nil // pgx then calls wrapUnsupported
	}
	return encodePlan{c.column, format}
}

type encodePlan struct {
	column column
	format int16
}

func (p encodePlan) Encode(value any, buf []byte) ([]byte, error) {
	id, valid, _ := idOf(value)
	if !valid {
		return nil, nil
	}
	return p.column.append(buf, p.format, id)
}

func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	if id, _ := targetOf(target); id != nil {
		return scanPlan{c.column, format}
	}
	return c.Codec.PlanScan(m, oid, format, target)
}

type scanPlan struct {
	column column
	format int16
}

func (p scanPlan) Scan(src []byte, target any) error {
	if src == nil {
		return target.(sql.Scanner).Scan(nil) // sql.Null, or an error that says what to do
	}
	id, valid := targetOf(target)
	err := p.column.scan(id, src, p.format)
	if valid != nil {
		*valid = err == nil
	}
	return err
}

// A scanner is a pointer to an ID.
type scanner interface {
	sql.Scanner
	encoding.BinaryUnmarshaler
}

// targetOf returns the ID in a target, nil if it has none. For a sql.Null it also returns the
// place of Valid.
func targetOf(target any) (id scanner, valid *bool) {
	switch target := target.(type) {
	case *scru64.ID:
		return target, nil
	case *scru128.ID:
		return target, nil
	case *scru160.ID:
		return target, nil
	case *euid.ID:
		return target, nil
	case *uid60.ID:
		return target, nil
	case *sql.Null[scru64.ID]:
		return &target.V, &target.Valid
	case *sql.Null[scru128.ID]:
		return &target.V, &target.Valid
	case *sql.Null[scru160.ID]:
		return &target.V, &target.Valid
	case *sql.Null[euid.ID]:
		return &target.V, &target.Valid
	case *sql.Null[uid60.ID]:
		return &target.V, &target.Valid
	case typedTarget:
		return target, nil
	}
	return nil, nil
}

// A typedTarget is a pointer to a typed.ID.
type typedTarget interface {
	scanner
	typed.Column
}

// idOf returns the ID in a value, as one of the types in the first case or a typed.Column. It
// reports whether the ID is there or NULL, and whether the value is an ID at all.
func idOf(value any) (id any, valid, ok bool) {
	switch v := value.(type) {
	case scru64.ID, scru128.ID, scru160.ID, euid.ID, uid60.ID, scru128.UUID, euid.UUID, scru160.Hex:
		return v, true, true
	case scru64.Text:
		return scru64.ID(v), true, true
	case uid60.Text:
		return uid60.ID(v), true, true
	case scru128.Bytes:
		return scru128.ID(v), true, true
	case euid.Bytes:
		return euid.ID(v), true, true
	case scru160.Bytes:
		return scru160.ID(v), true, true
	case sql.Null[scru64.ID]:
		return v.V, v.Valid, true
	case sql.Null[scru128.ID]:
		return v.V, v.Valid, true
	case sql.Null[scru160.ID]:
		return v.V, v.Valid, true
	case sql.Null[euid.ID]:
		return v.V, v.Valid, true
	case sql.Null[uid60.ID]:
		return v.V, v.Valid, true
	// pgx itself follows pointers only to values that are not a driver.Valuer.
	case *scru64.ID:
		return pointed(v)
	case *scru128.ID:
		return pointed(v)
	case *scru160.ID:
		return pointed(v)
	case *euid.ID:
		return pointed(v)
	case *uid60.ID:
		return pointed(v)
	case *sql.Null[scru64.ID]:
		return pointed(v)
	case *sql.Null[scru128.ID]:
		return pointed(v)
	case *sql.Null[scru160.ID]:
		return pointed(v)
	case *sql.Null[euid.ID]:
		return pointed(v)
	case *sql.Null[uid60.ID]:
		return pointed(v)
	case typed.Column:
		if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer {
			if p.IsNil() {
				return reflect.Zero(p.Type().Elem()).Interface(), false, true
			}
			return p.Elem().Interface(), true, true
		}
		return v, true, true
	}
	return nil, false, false
}

// pointed is idOf for the value of a pointer; nil is NULL.
func pointed[T any](p *T) (id any, valid, ok bool) {
	if p == nil {
		p = new(T)
		id, _, ok = idOf(*p)
		return id, false, ok
	}
	return idOf(*p)
}

var errUnsupported = errors.New("pgxid: the type does not hold such IDs")

type uuidColumn struct{}

func (uuidColumn) append(buf []byte, format int16, id any) ([]byte, error) {
	var u scru128.UUID
	switch id := id.(type) {
	case scru128.ID:
		u = scru128.UUID(id)
	case euid.ID:
		u = scru128.UUID(id)
	case scru128.UUID:
		u = id
	case euid.UUID:
		u = scru128.UUID(id)
	case typed.Column:
		b, err := id.AppendBinary(buf)
		if err != nil || len(b)-len(buf) != len(u) {
			return nil, cmp.Or(err, errUnsupported)
		}
		if format == pgtype.BinaryFormatCode {
			return b, nil
		}
		u = scru128.UUID(b[len(buf):])
	default:
		return nil, errUnsupported
	}
	if format == pgtype.TextFormatCode {
		return u.AppendText(buf)
	}
	return append(buf, u[:]...), nil
}

func (uuidColumn) scan(id scanner, src []byte, format int16) error {
	if format == pgtype.TextFormatCode {
		return id.Scan(string(src))
	}
	return id.UnmarshalBinary(src)
}

type byteaColumn struct{}

func (byteaColumn) append(buf []byte, format int16, id any) ([]byte, error) {
	if format == pgtype.TextFormatCode {
		b, err := appendBytes(nil, id)
		return hex.AppendEncode(append(buf, `\x`...), b), err
	}
	return appendBytes(buf, id)
}

func appendBytes(buf []byte, id any) ([]byte, error) {
	switch id := id.(type) {
	case scru64.ID:
		return id.AppendBinary(buf)
	case uid60.ID:
		return id.AppendBinary(buf)
	case scru128.ID:
		return append(buf, id[:]...), nil
	case euid.ID:
		return append(buf, id[:]...), nil
	case scru160.ID:
		return append(buf, id[:]...), nil
	case scru128.UUID:
		return append(buf, id[:]...), nil
	case euid.UUID:
		return append(buf, id[:]...), nil
	case scru160.Hex:
		return append(buf, id[:]...), nil
	case typed.Column:
		return id.AppendBinary(buf)
	}
	return nil, errUnsupported
}

func (byteaColumn) scan(id scanner, src []byte, format int16) error {
	if format == pgtype.TextFormatCode {
		digits, ok := bytes.CutPrefix(src, []byte(`\x`))
		if !ok {
			return errors.New(`pgxid: a bytea that does not begin with \x; set bytea_output to hex`)
		}
		var err error
		if src, err = hex.AppendDecode(nil, digits); err != nil {
			return err
		}
	}
	return id.UnmarshalBinary(src)
}

type int8Column struct{}

func (int8Column) append(buf []byte, format int16, id any) ([]byte, error) {
	var n uint64
	switch id := id.(type) {
	case scru64.ID:
		if _, err := scru64.FromUint64(uint64(id)); err != nil {
			return nil, err
		}
		n = uint64(id)
	case uid60.ID:
		if _, err := uid60.FromUint64(uint64(id)); err != nil {
			return nil, err
		}
		n = uint64(id)
	case typed.Column:
		b, err := id.AppendBinary(buf)
		if err != nil || len(b)-len(buf) != 8 {
			return nil, cmp.Or(err, errUnsupported)
		}
		n = binary.BigEndian.Uint64(b[len(buf):])
	default:
		return nil, errUnsupported
	}
	if format == pgtype.TextFormatCode {
		return strconv.AppendUint(buf, n, 10), nil
	}
	return binary.BigEndian.AppendUint64(buf, n), nil
}

func (int8Column) scan(id scanner, src []byte, format int16) error {
	if format == pgtype.TextFormatCode {
		n, err := strconv.ParseInt(string(src), 10, 64)
		if err != nil {
			return err
		}
		return id.Scan(n)
	}
	if len(src) != 8 {
		return fmt.Errorf("pgxid: a bigint of %d bytes", len(src))
	}
	return id.Scan(int64(binary.BigEndian.Uint64(src)))
}

type textColumn struct{}

func (textColumn) append(buf []byte, _ int16, id any) ([]byte, error) {
	if _, ok := id.(typed.Column); ok {
		return nil, errUnsupported
	}
	return id.(encoding.TextAppender).AppendText(buf)
}

func (textColumn) scan(id scanner, src []byte, _ int16) error { return id.Scan(string(src)) }

// A jsonColumn holds an ID as a JSON string. Its binary form may begin with the version 1.
type jsonColumn struct{ version bool }

func (c jsonColumn) append(buf []byte, format int16, id any) ([]byte, error) {
	if c.version && format == pgtype.BinaryFormatCode {
		buf = append(buf, 1)
	}
	buf, err := id.(encoding.TextAppender).AppendText(append(buf, '"'))
	return append(buf, '"'), err
}

func (c jsonColumn) scan(id scanner, src []byte, format int16) error {
	if c.version && format == pgtype.BinaryFormatCode && len(src) > 0 {
		src = src[1:]
	}
	return json.Unmarshal(src, id)
}

// wrapUnsupported returns the error for an ID in a type that cannot hold it. It leaves out typed
// IDs: if pgx does not know the column's type, it calls their method Value.
func wrapUnsupported(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	id, _, ok := idOf(value)
	if _, isTyped := id.(typed.Column); !ok || isTyped {
		return nil, nil, false
	}
	return &failPlan{}, failValue{unsupported(id)}, true
}

func unsupported(id any) error {
	types, method := "bytea or text", "String"
	switch id := id.(type) {
	case scru64.ID, uid60.ID:
		types = "bigint, or " + types
	case scru128.ID, scru128.UUID, euid.ID, euid.UUID:
		types = "uuid, " + types
	case typed.Column:
		b, _ := id.AppendBinary(nil)
		types, method = map[int]string{8: "bigint or bytea", 16: "uuid or bytea",
			20: "bytea"}[len(b)], "Text"
	}
	return fmt.Errorf(
		"pgxid: %T does not go into a column of this type; make the column %s, or store id.%s()",
		id, types, method)
}

// A failValue fails where pgx asks for its value.
type failValue struct{ err error }

func (v failValue) Value() (driver.Value, error) { return nil, v.err }

// A failPlan fails with the error of its value.
type failPlan struct{}

func (*failPlan) SetNext(pgtype.EncodePlan) {}

func (*failPlan) Encode(value any, buf []byte) ([]byte, error) {
	id, _, _ := idOf(value)
	return nil, unsupported(id)
}
