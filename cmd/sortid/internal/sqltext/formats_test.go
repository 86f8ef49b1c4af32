package sqltext

import (
	"cmp"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testids"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/scru160"
)

type tested struct {
	*spec.Format
	name, typ   string // typ is the SQL type of an ID
	epoch, last time.Time
	max         string
}

var formats = func() (list []tested) {
	for _, s := range spec.Ours() {
		first, last := s.First, s.Last
		if s.Reserved {
			first, last = first.Add(-s.Tick), last.Add(s.Tick)
		}
		list = append(list, tested{s, s.Name, s.SQL.Postgres, first, last.Add(time.Nanosecond),
			textOf(s, testids.Largest(s))})
	}
	return list
}()

// textOf returns an ID's text.
func textOf(f *spec.Format, w integer.Words) string { return f.In(w, f.Encodings[0]) }

// sql replaces F_ by the functions' prefix, such as sortid.euid_, and TYPE by the SQL type.
func (f tested) sql(statement string) string {
	return strings.NewReplacer("F_", "sortid."+f.name+"_", "TYPE", f.typ).Replace(statement)
}

func (f tested) here(statement string) string {
	return strings.ReplaceAll(statement, "F_", f.name+"_")
}

func (f tested) stored(text string) string {
	id, err := f.Parse(text)
	switch {
	case err != nil:
		panic(err)
	case f.typ == "uuid":
		return f.In(id, spec.UUID)
	case f.typ == "bytea":
		return `\x` + f.In(id, spec.Hex)
	}
	return f.In(id, spec.Int)
}

// first returns the text of a time's smallest ID. For a time out of range, it returns the format's
// first or last ID.
func (f tested) first(at time.Time) string {
	end, err := f.max, error(nil)
	if at.Before(f.last) {
		id, _ := f.FromBytes(make([]byte, f.Size))
		if !at.Before(f.epoch.Add(f.Tick)) {
			_, id, err = f.Bounds(f.epoch, at)
		}
		end = textOf(f.Format, id)
	}
	if err != nil {
		panic(err)
	}
	return end
}

func (f tested) random(r *rand.Rand) string {
	b := make([]byte, f.Size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	n, limit := new(big.Int).SetBytes(b),
		new(big.Int).SetBytes(f.AppendBytes(nil, testids.Largest(f.Format)))
	id, err := f.ParseAs(spec.Int, n.Mod(n, limit.Add(limit, big.NewInt(1))).String())
	if err != nil {
		panic(err)
	}
	return textOf(f.Format, id)
}

func (f tested) times() (times []time.Time) {
	near := []time.Time{f.epoch, f.last}
	for _, at := range []string{"1970-01-01 00:00:00", "2026-11-17 10:30:00", "2038-01-19 03:14:08",
		"2106-02-07 06:28:16", "2262-04-11 23:47:16", "4253-01-01 00:00:00", "5000-07-01 00:00:00",
		"9999-12-31 23:59:58", "9999-12-31 23:59:59"} {
		t, err := time.Parse(time.DateTime, at)
		if err != nil {
			panic(err)
		}
		near = append(near, t)
	}
	for _, at := range near {
		for _, d := range []time.Duration{-time.Second, -f.Tick, -time.Microsecond, 0,
			time.Microsecond, 999 * time.Microsecond, time.Millisecond, f.Tick} {
			times = append(times, at.Add(d).UTC())
		}
	}
	return times
}

type vectors struct {
	Valid []struct {
		Text, Canonical, Hex, Time string
		Int                        json.Number
	}
	Invalid []struct{ Note, Text, Reason string }
	Typed   struct {
		Valid   []struct{ Prefix, Inner, Text string }
		Invalid []struct{ Want, Found, Text, Reason string }
	}
}

func readVectors(t testing.TB, format string) (v vectors) {
	t.Helper()
	b, err := os.ReadFile("../../../../" + format + "/testdata/vectors.json")
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Valid) < 30 || len(v.Invalid) < 30 || len(v.Typed.Valid) == 0 {
		t.Fatalf("%s: only %d and %d vectors", format, len(v.Valid), len(v.Invalid))
	}
	for i, valid := range v.Valid {
		if v.Valid[i].Canonical = cmp.Or(valid.Canonical, valid.Text); format == "scru160" {
			v.Valid[i].Canonical = scru160.MustParse(v.Valid[i].Canonical).String()
		}
	}
	return v
}

// manyIDs returns how many random IDs of each format to convert.
func manyIDs(t *testing.T) int {
	t.Helper()
	if testserver.Soak(t) > 0 {
		return 1_000_000
	}
	return 10_000
}
