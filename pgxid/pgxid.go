// Package pgxid lets pgx store the IDs of the five formats in PostgreSQL's own types, in binary. It
// works with queries, CopyFrom, arrays, pointers and sql.Null.
//
//	config, err := pgxpool.ParseConfig(url)
//	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
//		pgxid.Register(conn.TypeMap())
//		return nil
//	}
//
// Then columns of these types and their arrays store IDs:
//
//	               uuid       bytea      bigint     text, varchar, char
//	scru64.ID                 8 bytes    yes        12 characters
//	scru128.ID     yes        16 bytes              25
//	scru160.ID                20 bytes              32
//	euid.ID        yes        16 bytes              27
//	uid60.ID                  8 bytes    yes        9 or 10, which do not sort
//
// The types UUID, Hex and Bytes of scru128, euid and scru160 are stored like the type ID. But in a
// text column, a UUID has 36 characters, and a Hex has 40. json and jsonb store an ID's text as a
// string. Other column types fail with an error that says what to do.
//
// A uuid, bytea or bigint column stores a typed.ID like the ID inside, without the prefix. json and
// jsonb store the prefix, too. Use typed.Text to store text with the prefix.
//
// For NULL use a pointer or sql.Null, because a scan of NULL into an ID fails. The zero ID is
// stored like other IDs. To get a column's DEFAULT, leave the column out of the INSERT.
//
// If a column has a domain type, the connection must know the domain; see pgx.Conn.LoadType. IDs
// then have the form of the domain's base type. With pgx.QueryExecModeSimpleProtocol pgx does not
// know the column's type. It sends IDs of scru128 and euid as uuid, of scru64 and uid60 as bigint,
// and of scru160 as bytea.
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
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

// Register adds the IDs to a connection's type map. A program may call it again. Values that are
// not IDs keep their codecs.
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

	for _, register := range defaults {
		register(m)
	}
}

type encoder interface {
	encoding.BinaryAppender
	encoding.TextAppender
}

type scanner interface {
	sql.Scanner
	encoding.BinaryUnmarshaler
}

type (
	// A source returns the ID in a value, and false for NULL.
	source = func(value any) (id encoder, valid bool)
	// A target returns the ID to scan into. For sql.Null it also returns the address of the field
	// Valid.
	target = func(value any) (id scanner, valid *bool)
)

var (
	sources  = map[reflect.Type]source{}
	targets  = map[reflect.Type]target{}
	defaults []func(*pgtype.Map) // each sets the type that pgx sends to a column of unknown type
)

func init() {
	add[scru64.ID]("int8")
	add[uid60.ID]("int8")
	add[scru128.ID]("uuid")
	add[euid.ID]("uuid")
	add[scru160.ID]("bytea")

	addSource[scru128.UUID](itself)
	addSource[euid.UUID](itself)
	addSource[scru160.Hex](itself)
	addWrapper(func(v scru64.Text) encoder { return scru64.ID(v) })
	addWrapper(func(v uid60.Text) encoder { return uid60.ID(v) })
	addWrapper(func(v scru128.Bytes) encoder { return scru128.ID(v) })
	addWrapper(func(v euid.Bytes) encoder { return euid.ID(v) })
	addWrapper(func(v scru160.Bytes) encoder { return scru160.ID(v) })
}

// add adds a type of IDs, and the PostgreSQL type that pgx sends by default.
func add[ID encoder](name string) {
	addSource[ID](itself)
	addSource[sql.Null[ID]](func(v any) (encoder, bool) {
		null := v.(sql.Null[ID])
		return null.V, null.Valid
	})
	// pgx does not follow a pointer to a driver.Valuer.
	addSource[*ID](func(v any) (encoder, bool) {
		id := v.(*ID)
		return *cmp.Or(id, new(ID)), id != nil
	})
	addSource[*sql.Null[ID]](func(v any) (encoder, bool) {
		null := cmp.Or(v.(*sql.Null[ID]), new(sql.Null[ID]))
		return null.V, null.Valid
	})
	targets[reflect.TypeFor[*ID]()] = func(v any) (scanner, *bool) { return v.(scanner), nil }
	targets[reflect.TypeFor[*sql.Null[ID]]()] = func(v any) (scanner, *bool) {
		null := v.(*sql.Null[ID])
		return any(&null.V).(scanner), &null.Valid
	}
	defaults = append(defaults, func(m *pgtype.Map) {
		m.RegisterDefaultPgType(*new(ID), name)
		m.RegisterDefaultPgType(new(ID), name)
		m.RegisterDefaultPgType(sql.Null[ID]{}, name)
		m.RegisterDefaultPgType([]ID{}, "_"+name)
		m.RegisterDefaultPgType([]*ID{}, "_"+name)
	})
}

func addWrapper[T any](id func(T) encoder) {
	addSource[T](func(v any) (encoder, bool) { return id(v.(T)), true })
}

func addSource[T any](s source) { sources[reflect.TypeFor[T]()] = s }

func itself(v any) (encoder, bool) { return v.(encoder), true }

func sourceOf(v any) source {
	if _, ok := v.(typed.Column); ok {
		return typedID
	}
	return sources[reflect.TypeOf(v)]
}

func typedID(v any) (encoder, bool) {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer {
		return v.(encoder), true
	}
	if p.IsNil() {
		return reflect.Zero(p.Type().Elem()).Interface().(encoder), false
	}
	return p.Elem().Interface().(encoder), true
}

func targetOf(v any) target {
	if _, ok := v.(typed.Column); ok {
		if _, ok := v.(scanner); ok {
			return func(v any) (scanner, *bool) { return v.(scanner), nil }
		}
	}
	return targets[reflect.TypeOf(v)]
}

type codec struct {
	pgtype.Codec
	column column
}

type column interface {
	// append appends an ID in the form of the column's type, or returns errUnsupported.
	append(buf []byte, format int16, id encoder) ([]byte, error)
	// scan sets an ID from a value in the form of the column's type.
	scan(id scanner, src []byte, format int16) error
}

func (c codec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	source := sourceOf(value)
	if source == nil {
		return c.Codec.PlanEncode(m, oid, format, value)
	}
	id, _ := source(value)
	if _, err := c.column.append(nil, format, id); err == errUnsupported {
		if _, ok := id.(typed.Column); ok {
			return &failPlan{}
		}
		return nil // pgx then calls wrapUnsupported
	}
	return encodePlan{c.column, format, source}
}

type encodePlan struct {
	column column
	format int16
	source source
}

func (p encodePlan) Encode(value any, buf []byte) ([]byte, error) {
	id, valid := p.source(value)
	if !valid {
		return nil, nil
	}
	return p.column.append(buf, p.format, id)
}

func (c codec) PlanScan(m *pgtype.Map, oid uint32, format int16, value any) pgtype.ScanPlan {
	if target := targetOf(value); target != nil {
		return scanPlan{c.column, format, target}
	}
	return c.Codec.PlanScan(m, oid, format, value)
}

type scanPlan struct {
	column column
	format int16
	target target
}

func (p scanPlan) Scan(src []byte, value any) error {
	if src == nil {
		// For a sql.Null, Scan(nil) succeeds. For other types, its error says what to do.
		return value.(sql.Scanner).Scan(nil)
	}
	id, valid := p.target(value)
	err := p.column.scan(id, src, p.format)
	if valid != nil {
		*valid = err == nil
	}
	return err
}

var errUnsupported = errors.New("pgxid: the type cannot store such IDs")

type uuidColumn struct{}

func (uuidColumn) append(buf []byte, format int16, id encoder) ([]byte, error) {
	b, err := appendWide(buf, id, scru128.Size)
	if err != nil || format == pgtype.BinaryFormatCode {
		return b, err
	}
	return append(buf, scru128.UUID(b[len(buf):]).String()...), nil
}

// appendWide appends an ID's binary form, which must have the given width in bytes.
func appendWide(buf []byte, id encoder, width int) ([]byte, error) {
	b, err := id.AppendBinary(buf)
	if err == nil && len(b)-len(buf) != width {
		err = errUnsupported
	}
	return b, err
}

func (uuidColumn) scan(id scanner, src []byte, format int16) error {
	if format == pgtype.TextFormatCode {
		return id.Scan(string(src))
	}
	return id.UnmarshalBinary(src)
}

type byteaColumn struct{}

func (byteaColumn) append(buf []byte, format int16, id encoder) ([]byte, error) {
	if format == pgtype.TextFormatCode {
		b, err := id.AppendBinary(nil)
		return hex.AppendEncode(append(buf, `\x`...), b), err
	}
	return id.AppendBinary(buf)
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

func (int8Column) append(buf []byte, format int16, id encoder) ([]byte, error) {
	b, err := appendWide(buf, id, scru64.Size)
	if err != nil || format == pgtype.BinaryFormatCode {
		return b, err
	}
	return strconv.AppendUint(buf, binary.BigEndian.Uint64(b[len(buf):]), 10), nil
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

func (textColumn) append(buf []byte, _ int16, id encoder) ([]byte, error) {
	switch id := id.(type) {
	case typed.Column:
		return nil, errUnsupported
	case scru128.UUID:
		return append(buf, id.String()...), nil
	case euid.UUID:
		return append(buf, id.String()...), nil
	}
	return id.AppendText(buf)
}

func (textColumn) scan(id scanner, src []byte, _ int16) error { return id.Scan(string(src)) }

// A jsonColumn stores an ID as a JSON string. The binary form of jsonb begins with a version byte.
type jsonColumn struct{ version bool }

func (c jsonColumn) append(buf []byte, format int16, id encoder) ([]byte, error) {
	if c.version && format == pgtype.BinaryFormatCode {
		buf = append(buf, 1)
	}
	buf, err := id.AppendText(append(buf, '"'))
	return append(buf, '"'), err
}

func (c jsonColumn) scan(id scanner, src []byte, format int16) error {
	if c.version && format == pgtype.BinaryFormatCode && len(src) > 0 {
		src = src[1:]
	}
	return json.Unmarshal(src, id)
}

// wrapUnsupported returns the error for an ID that does not fit the column's type. It ignores typed
// IDs, so that pgx can call their method Value for a column of unknown type.
func wrapUnsupported(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	source := sourceOf(value)
	if _, ok := value.(typed.Column); ok || source == nil {
		return nil, nil, false
	}
	id, _ := source(value)
	return &failPlan{}, failValue{unsupported(id)}, true
}

func unsupported(id encoder) error {
	b, err := id.AppendBinary(nil)
	if err != nil {
		return err
	}
	types := []string{"bytea", "text"}
	method := "String"
	if _, ok := id.(typed.Column); ok {
		types, method = types[:1], "Text"
	}
	switch len(b) {
	case scru64.Size:
		types = append([]string{"bigint"}, types...)
	case scru128.Size:
		types = append([]string{"uuid"}, types...)
	}
	return fmt.Errorf(
		"pgxid: %T does not fit a column of this type; make the column %s, or store id.%s()",
		id, strings.Join(types, " or "), method)
}

type failValue struct{ err error }

func (v failValue) Value() (driver.Value, error) { return nil, v.err }

type failPlan struct{}

func (*failPlan) SetNext(pgtype.EncodePlan) {}

func (*failPlan) Encode(value any, buf []byte) ([]byte, error) {
	id, _ := sourceOf(value)(value)
	return nil, unsupported(id)
}
