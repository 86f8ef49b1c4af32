// Package conformance has the tests that all five formats share. It compares codecs with math/big
// and published test vectors, and tests generators with a clock and entropy that the tests control.
package conformance

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid"
)

type ID[T any] interface {
	comparable
	fmt.Stringer
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.BinaryAppender
	encoding.BinaryMarshaler
	driver.Valuer
	Time() time.Time
	Compare(T) int
	IsZero() bool
	Equal(T) bool
}

type pointer interface {
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	sql.Scanner
}

type Codec[T ID[T]] struct {
	Format string   // the name of the package and its vectors
	Limit  *big.Int // the smallest integer that is not an ID
	Size   int      // of the binary form in bytes

	Parse     func(string) (T, error)
	MustParse func(string) T
	First     func(time.Time) T
	// Text and Number are independent of the format's package.
	Text      func(*big.Int) string
	Number    func(text string) (n *big.Int, ok bool)
	Fields    func(T) map[string]string // values are decimal
	FromBytes func([]byte) (T, error)   // nil if IDs are integers
	Sorts     bool                      // texts sort like IDs

	// Others are further text forms, by their names in the vectors.
	Others map[string]Form[T]

	Document Document
}

type Form[T any] struct {
	Append func(T) string
	Parse  func(string) (T, error)
}

func (c *Codec[T]) random(r *rand.Rand) *big.Int {
	n := new(big.Int)
	words := make([]big.Word, (c.Limit.BitLen()+63)/64)
	for i := range words {
		words[i] = big.Word(r.Uint64())
	}
	// Also make short numbers, because padding with leading zeros can be wrong.
	n.SetBits(words).Rsh(n, uint(r.IntN(4))*uint(r.IntN(c.Limit.BitLen()))/3)
	return n.Mod(n, c.Limit)
}

func Big[T encoding.BinaryMarshaler](id T) *big.Int {
	b, err := id.MarshalBinary()
	if err != nil {
		panic(err)
	}
	return new(big.Int).SetBytes(b)
}

// Of returns the ID of an integer below Limit.
func (c *Codec[T]) Of(n *big.Int) (id T) {
	if err := any(&id).(pointer).UnmarshalBinary(n.FillBytes(make([]byte, c.Size))); err != nil {
		panic(err)
	}
	return id
}

func (c *Codec[T]) Run(t *testing.T) {
	t.Run("RoundTrip", c.testRoundTrip)
	t.Run("Interfaces", c.testInterfaces)
	t.Run("Hooks", c.testHooks)
	t.Run("BadInput", c.testBadInput)
	t.Run("SQL", c.testSQL)
	if c.FromBytes != nil {
		t.Run("FromBytes", c.testFromBytes)
	}
	t.Run("Order", c.testOrder)
	t.Run("First", c.testFirst)
	t.Run("Document", c.testDocument)
	t.Run("Vectors", c.testVectors)
	t.Run("Allocations", c.testAllocations)
}

// testRoundTrip writes and reads random IDs, and compares some of them with math/big.
func (c *Codec[T]) testRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	buf := make([]byte, 0, 64)
	for i := range n {
		want := c.random(r)
		id := c.Of(want)
		buf, _ = id.AppendText(buf[:0])
		if i%16 == 0 {
			if text := c.Text(want); string(buf) != text || id.String() != text {
				t.Fatalf("integer %v: AppendText %q, String %q, want %q", want, buf, id.String(),
					text)
			}
			if got := Big(id); got.Cmp(want) != 0 {
				t.Fatalf("the ID of integer %v has the integer %v", want, got)
			}
		}
		back, err := c.Parse(string(buf))
		if err != nil || back != id {
			t.Fatalf("Parse(%q) = %v, %v, want %v", buf, back, err, id)
		}
		for name, form := range c.Others {
			s := form.Append(id)
			if back, err := form.Parse(s); err != nil || back != id {
				t.Fatalf("%s: %q parsed as %v, %v, want %v", name, s, back, err, id)
			}
		}
	}
}

func (c *Codec[T]) testInterfaces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		n := c.random(r)
		id := c.Of(n)
		text := c.Text(n)

		var back T
		p := any(&back).(pointer)
		if b, err := id.MarshalText(); err != nil || string(b) != text {
			t.Fatalf("MarshalText: %q, %v", b, err)
		}
		if err := p.UnmarshalText([]byte(text)); err != nil || back != id {
			t.Fatalf("UnmarshalText(%q): %v, %v", text, back, err)
		}
		b, err := id.MarshalBinary()
		if err != nil || !bytes.Equal(b, n.FillBytes(make([]byte, c.Size))) {
			t.Fatalf("MarshalBinary: %x, %v", b, err)
		}
		if b, err := id.AppendBinary([]byte("x")); err != nil || len(b) != 1+c.Size || b[0] != 'x' {
			t.Fatalf("AppendBinary: %x, %v", b, err)
		}
		if b, err := id.AppendText([]byte("x")); err != nil || string(b) != "x"+text {
			t.Fatalf("AppendText: %q, %v", b, err)
		}
		back = *new(T)
		if err := p.UnmarshalBinary(b); err != nil || back != id {
			t.Fatalf("UnmarshalBinary(%x): %v, %v", b, back, err)
		}
		if c.MustParse(text) != id {
			t.Fatalf("MustParse(%q)", text)
		}

		type document struct {
			ID   T
			List []T
			Map  map[string]T
		}
		doc := document{id, []T{id}, map[string]T{"a": id}}
		j, err := json.Marshal(doc)
		want := fmt.Sprintf(`{"ID":%q,"List":[%[1]q],"Map":{"a":%[1]q}}`, text)
		if err != nil || string(j) != want {
			t.Fatalf("JSON: %s, %v, want %s", j, err, want)
		}
		var read document
		if err := json.Unmarshal(j, &read); err != nil || read.ID != id || read.List[0] != id ||
			read.Map["a"] != id {
			t.Fatalf("JSON back: %+v, %v", read, err)
		}
		var g bytes.Buffer
		if err := gob.NewEncoder(&g).Encode(doc); err != nil {
			t.Fatal(err)
		}
		read = document{}
		if err := gob.NewDecoder(&g).Decode(&read); err != nil || !read.ID.Equal(id) {
			t.Fatalf("gob: %+v, %v", read, err)
		}
	}
	zero, one := *new(T), c.Of(big.NewInt(1))
	if !zero.IsZero() || one.IsZero() || Big(zero).Sign() != 0 || zero.Equal(one) {
		t.Error("IsZero or Equal is wrong")
	}
}

// Bad input causes the right error and changes nothing. The error does not contain long input.
func (c *Codec[T]) testBadInput(t *testing.T) {
	id := c.Of(new(big.Int).Sub(c.Limit, big.NewInt(12345)))
	text := id.String()
	bad := []string{"", " ", text + " ", " " + text, text + text, text[:2], "\x00" + text[1:],
		"é" + text[2:], "\xff" + text[1:], text[:len(text)-1] + "\n", text[:len(text)-1] +
			"!", string(make([]byte, 1<<20))}
	for _, s := range bad {
		got, err := c.Parse(s)
		if err == nil {
			t.Errorf("Parse(%.40q) = %v, want an error", s, got)
			continue
		}
		if got != *new(T) {
			t.Errorf("Parse(%.40q) returns %v beside its error", s, got)
		}
		var p *sortid.ParseError
		if !errors.As(err, &p) || p.Format != c.Format || p.Length != len(s) || p.Offset < -1 ||
			p.Offset > len(s) {
			t.Errorf("Parse(%.40q): %#v", s, err)
		}
		if len(err.Error()) > 500 {
			t.Errorf("Parse(%.40q): the error is %d bytes long", s, len(err.Error()))
		}
		keep := id
		if uerr := any(&keep).(pointer).UnmarshalText([]byte(s)); uerr == nil ||
			uerr.Error() != err.Error() {
			t.Errorf("UnmarshalText(%.40q): %v, Parse: %v", s, uerr, err)
		}
		if keep != id {
			t.Errorf("UnmarshalText(%.40q) changed its receiver", s)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("MustParse(%.40q) does not panic", s)
				}
			}()
			c.MustParse(s)
		}()
	}
	for n := range 3 * c.Size {
		keep := id
		err := any(&keep).(pointer).UnmarshalBinary(make([]byte, n))
		if (err == nil) != (n == c.Size) || err != nil && keep != id {
			t.Errorf("UnmarshalBinary of %d bytes: %v", n, err)
		}
	}
}

func (c *Codec[T]) testSQL(t *testing.T) {
	id := c.Of(new(big.Int).Rsh(c.Limit, 3))
	v, err := id.Value()
	if err != nil || !driver.IsValue(v) {
		t.Fatalf("Value: %v, %v", v, err)
	}
	for _, src := range []any{v, id.String(), []byte(id.String())} {
		var back T
		if err := any(&back).(sql.Scanner).Scan(src); err != nil || back != id {
			t.Errorf("Scan(%T %v) = %v, %v", src, src, back, err)
		}
	}
	for _, src := range []any{nil, 1.5, true, time.Now(), "", "!", []byte{}, []byte{1}, int64(-1)} {
		keep := id
		if err := any(&keep).(sql.Scanner).Scan(src); err == nil || keep != id {
			t.Errorf("Scan(%T %v): %v, receiver %v", src, src, err, keep)
		}
	}
	var null sql.Null[T]
	if err := null.Scan(nil); err != nil || null.Valid {
		t.Errorf("sql.Null of NULL: %+v, %v", null, err)
	}
	if err := null.Scan(v); err != nil || !null.Valid || null.V != id {
		t.Errorf("sql.Null of %v: %+v, %v", v, null, err)
	}
}

func (c *Codec[T]) testFromBytes(t *testing.T) {
	id := c.Of(new(big.Int).Rsh(c.Limit, 3))
	b := any(id).(interface{ Bytes() []byte }).Bytes()
	clear(b)
	if b, _ = id.MarshalBinary(); !bytes.Equal(any(id).(interface{ Bytes() []byte }).Bytes(), b) {
		t.Error("Bytes returns the ID's own memory, or wrong bytes")
	}
	if got, err := c.FromBytes(b); got != id || err != nil {
		t.Errorf("FromBytes(%x) = %v, %v, want %v", b, got, err, id)
	}
	want := fmt.Sprintf("%d bytes, want %d", c.Size-1, c.Size)
	if got, err := c.FromBytes(b[1:]); !errors.Is(err, sortid.ErrBinaryLength) || got != *new(T) ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("FromBytes of one byte less: %v, %v", got, err)
	}
}

func (c *Codec[T]) testOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		a, b := c.random(r), c.random(r)
		if r.IntN(4) == 0 {
			b = a
		}
		x, y := c.Of(a), c.Of(b)
		if x.Compare(y) != a.Cmp(b) {
			t.Fatalf("Compare(%v, %v) = %d, want %d", x, y, x.Compare(y), a.Cmp(b))
		}
		if c.Sorts && (x.String() < y.String()) != (a.Cmp(b) < 0) {
			t.Fatalf("texts %v and %v do not sort like the integers %v and %v", x, y, a, b)
		}
	}
}

func (c *Codec[T]) testFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	top := c.Of(new(big.Int).Sub(c.Limit, big.NewInt(1)))
	for range 10_000 {
		id := c.Of(c.random(r))
		first := c.First(id.Time())
		if !first.Time().Equal(id.Time()) || first.Compare(id) > 0 {
			t.Fatalf("First(%v) = %v with the time %v, want at most %v and its time", id.Time(),
				first, first.Time(), id)
		}
		if n := Big(first); n.Sign() > 0 {
			if before := c.Of(n.Sub(n, big.NewInt(1))); !before.Time().Before(id.Time()) {
				t.Fatalf("First(%v) = %v, but the smaller ID %v has the time %v", id.Time(), first,
					before, before.Time())
			}
		}
	}
	if got := c.First(time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC)); !got.IsZero() {
		t.Errorf("First long before the epoch = %v, want the zero ID", got)
	}
	var zero T
	for _, d := range []time.Duration{0, -1, -time.Millisecond, -time.Second} {
		if got := c.First(zero.Time().Add(d)); got != zero {
			t.Errorf("First at the epoch%+v = %v, want the zero ID", d, got)
		}
	}
	if got := c.First(time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC)); got != top {
		t.Errorf("First after the last time = %v, want %v", got, top)
	}
}

func (c *Codec[T]) testAllocations(t *testing.T) {
	id := c.Of(new(big.Int).Rsh(c.Limit, 2))
	text := id.String()
	raw := []byte(text)
	buf := make([]byte, 0, 64)
	var back T
	p := any(&back).(pointer)
	columns := []any{text, raw, any(Big(id).Int64())}
	if c.FromBytes != nil {
		columns[2], _ = id.AppendBinary(nil)
	}
	calls := map[string]func(){
		"Parse":         func() { back, _ = c.Parse(text) },
		"UnmarshalText": func() { _ = p.UnmarshalText(raw) },
		"Scan of text":  func() { _ = p.Scan(columns[0]) },
		"Scan of bytes": func() { _ = p.Scan(columns[1]) },
		"Scan, binary":  func() { _ = p.Scan(columns[2]) },
		"AppendText":    func() { buf, _ = id.AppendText(buf[:0]) },
		"AppendBinary":  func() { buf, _ = id.AppendBinary(buf[:0]) },
		"Compare":       func() { id.Compare(back) },
	}
	if j, ok := any(&back).(json.Unmarshaler); ok {
		quoted, number := []byte(`"`+text+`"`), []byte("12345")
		calls["UnmarshalJSON"] = func() { _ = j.UnmarshalJSON(quoted) }
		calls["UnmarshalJSON of a number"] = func() { _ = j.UnmarshalJSON(number) }
	}
	for name, f := range calls {
		if n := testing.AllocsPerRun(1000, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
	if n := testing.AllocsPerRun(1000, func() { _ = id.String() }); n > 1 {
		t.Errorf("String allocates %v times, want once", n)
	}
	bad := "!" + text[1:]
	if n := testing.AllocsPerRun(1000, func() { _, _ = c.Parse(bad) }); n > 2 {
		t.Errorf("a failed Parse allocates %v times, want at most twice", n)
	}
}

// Fuzz compares Parse with Number. Both must accept the same texts.
func (c *Codec[T]) Fuzz(f *testing.F) {
	vectors := VectorsOf(f, c.Format)
	for _, v := range vectors.Valid {
		f.Add(v.Text)
	}
	for _, v := range vectors.Invalid {
		f.Add(v.Text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := c.Parse(s)
		want, ok := c.Number(s)
		if ok != (err == nil) {
			t.Fatalf("Parse(%q) = %v, %v; by math/big %v, %v", s, id, err, want, ok)
		}
		if !ok {
			var p *sortid.ParseError
			if !errors.As(err, &p) {
				t.Fatalf("Parse(%q): %v is not a *ParseError", s, err)
			}
			return
		}
		if Big(id).Cmp(want) != 0 || id.String() != c.Text(want) {
			t.Fatalf("Parse(%q) = %v (%v), want %v (%v)", s, id, Big(id), c.Text(want), want)
		}
	})
}

func reason(err error) string {
	for name, e := range map[string]error{
		"length": sortid.ErrLength, "symbol": sortid.ErrSymbol, "range": sortid.ErrRange,
		"check": sortid.ErrCheck,
	} {
		if errors.Is(err, e) {
			return name
		}
	}
	return fmt.Sprintf("no known reason (%v)", err)
}
