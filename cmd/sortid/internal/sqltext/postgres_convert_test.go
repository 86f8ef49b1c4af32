package sqltext

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/testserver"
)

func TestPostgresReadsAndWritesVectors(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		v := readVectors(t, f.name)
		for _, v := range v.Valid {
			got := d.query(f.sql(`SELECT x FROM (SELECT F_parse($1) AS id) AS t,
				LATERAL (VALUES (id::text), (F_text(id)),
				(to_char(F_time(id) AT TIME ZONE 'UTC', 'FMYYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) AS v(x)`),
				v.Text)
			if want := []string{f.stored(v.Text), v.Canonical, v.Time}; !slices.Equal(got, want) {
				t.Errorf("%s %s: stored, text and time are %q, want %q", f.name, v.Text, got, want)
			}
		}
		for _, v := range v.Invalid {
			if strings.Contains(v.Text, "\x00") {
				continue // the type text cannot have this byte
			}
			code, message := d.code(f.sql("SELECT F_parse($1)"), v.Text)
			want, reason := "22P02", map[string]string{
				"length": "wrong length: ", "symbol": "not a",
				"check": "the check value does not fit", "range": "larger than ",
			}[v.Reason]
			if f.name == "uid60" && v.Reason == "symbol" {
				reason = "not one of"
			}
			if v.Reason == "range" {
				want = "22003"
			}
			if code != want || reason == "" || !strings.Contains(message, reason) ||
				!strings.HasPrefix(message, f.name+": ") {
				t.Errorf("%s %q (%s): %s %s; want %s and %q", f.name, v.Text, v.Note, code, message,
					want, reason)
			}
		}
	}
}

func TestPostgresConvertsRandomIDs(t *testing.T) {
	testserver.Long(t, "converts many IDs")
	d := install(t)
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range formats {
		for left := manyIDs(t); left > 0; left -= 10_000 {
			texts := make([]string, min(left, 10_000))
			stored := make([]string, len(texts))
			for i := range texts {
				texts[i] = f.random(r)
				stored[i] = f.stored(texts[i])
			}
			got := d.query(f.sql(`
				SELECT t || ' ' || s || ' ' || F_text(s::TYPE) || ' ' || F_parse(t)::text
				FROM unnest($1::text[], $2::text[]) AS x(t, s)
				WHERE F_text(s::TYPE) <> t COLLATE "C" OR F_parse(t)::text <> s COLLATE "C"`),
				texts, stored)
			if len(got) > 0 {
				t.Fatalf("%s: %d of %d are wrong, such as %s", f.name, len(got), len(texts), got[0])
			}
		}
	}
}

// The functions read the UUID texts that to_jsonb writes, and no text that is almost one.
func TestPostgresReadsUUIDs(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		if f.typ != "uuid" {
			continue
		}
		text := f.random(rand.New(rand.NewPCG(3, 4)))
		uuid := f.stored(text)
		for _, s := range []string{uuid, strings.ToUpper(uuid)} {
			if got := d.one(f.sql("F_text(F_parse($1))"), s); got != text {
				t.Errorf("%s: %s is %s, want %s", f.name, s, got, text)
			}
		}
		for _, s := range notUUIDs(uuid) {
			code, message := d.code(f.sql("SELECT F_parse($1)"), s)
			if code != "22P02" || !strings.HasPrefix(message, f.name+": cannot parse ") {
				t.Errorf("%s %q: code %s, %q; want 22P02", f.name, s, code, message)
			}
		}
	}
}

func notUUIDs(uuid string) []string {
	return []string{uuid[1:] + "g", strings.Replace(uuid, "-", "0", 1), uuid[:35] + "\n",
		"{" + uuid[1:35] + "}", strings.ReplaceAll(uuid, "-", ""), "{" + uuid + "}",
		uuid[:34] + "é"}
}

func TestPostgresConvertsTimes(t *testing.T) {
	d := install(t)
	d.run("SET TIME ZONE 'Asia/Kathmandu'") // the results must not depend on it
	const layout = "2006-01-02 15:04:05.999999+00"
	for _, f := range formats {
		for _, at := range f.times() {
			text := strings.TrimPrefix(at.Format(layout), "+")
			if at.Year() < 1 {
				continue
			}
			first := f.sql("F_first('" + text + "')")
			if got, want := d.one(f.sql("F_text("+first+")")), f.first(at); got != want {
				t.Errorf("%s: first of %s is %s, want %s", f.name, text, got, want)
			}
			if at.Before(f.epoch) || !at.Before(f.last) {
				continue
			}
			tick := f.epoch.Add(at.Sub(f.epoch).Truncate(f.Tick))
			if at.Sub(f.epoch) > 290*365*24*time.Hour { // more than a Duration can be
				tick = time.UnixMilli(
					at.UnixMilli() / f.Tick.Milliseconds() * f.Tick.Milliseconds())
			}
			if got := d.one(f.sql("F_time("+first+") = $1::timestamptz"),
				tick.UTC().Format(layout)); got != "t" {
				t.Errorf("%s: time of the first ID of %s is %s", f.name, text,
					d.one(f.sql("F_time("+first+")")))
			}
		}
		if got := d.one(f.sql("F_partman_time(F_first('2026-11-01 00:00+00')::text) = " +
			"'2026-11-01 00:00+00'")); got != "t" {
			t.Errorf("%s: pg_partman decodes another time", f.name)
		}
		least := f.first(time.Unix(-1<<40, 0))
		for at, want := range map[string]string{"-infinity": least, "4000-01-01 BC": least,
			"infinity": f.max, "290000-01-01": f.max} {
			if got := d.one(f.sql("F_text(F_first('" + at + "'))")); got != want {
				t.Errorf("%s: first of %s is %s, want %s", f.name, at, got, want)
			}
		}
	}
}

func TestPostgresRefusesBadInput(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		for _, call := range []string{"F_text(NULL::TYPE)", "F_parse(NULL)", "F_time(NULL::TYPE)",
			"F_first(NULL)"} {
			if got := d.one(f.sql(call)); got != "NULL" {
				t.Errorf("%s is %s, want NULL", f.sql(call), got)
			}
		}
	}
	for query, want := range map[string]string{
		"SELECT sortid.scru64_text(-1)":                           "22003",
		"SELECT sortid.scru64_text(4738381338321616896)":          "22003",
		"SELECT sortid.uid60_text(-1)":                            "22003",
		"SELECT sortid.uid60_text(1152921504606846976)":           "22003",
		"SELECT sortid.scru160_text('')":                          "22P02",
		`SELECT sortid.scru160_text('\x00')`:                      "22P02",
		"SELECT (-1)::sortid.scru64":                              "23514",
		"SELECT 4738381338321616896::sortid.scru64":               "23514",
		"SELECT 1152921504606846976::sortid.uid60":                "23514",
		`SELECT '\x00'::sortid.scru160`:                           "23514",
		"SELECT sortid.scru64_new(0, 0)":                          "22023",
		"SELECT sortid.scru64_new(0, 24)":                         "22023",
		"SELECT sortid.scru64_new(256, 8)":                        "22023",
		"SELECT sortid.scru64_new(-1, 8)":                         "22023",
		"SELECT sortid.scru128_parse(repeat('x', 1000000))":       "22P02",
		"SELECT sortid.typed_text('User', 'x')":                   "22023",
		"SELECT sortid.scru128_parse('0372ijojuxuhjſfkeryi2mrt')": "22P02", // some programs read ſ as s
	} {
		if code, message := d.code(query); code != want || len(message) > 200 {
			t.Errorf("%s: code %s, %q; want %s, and a short message", query, code, message, want)
		}
	}
}

func TestPostgresReadsTypedIDs(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		cases := readVectors(t, f.name).Typed
		parsed := "F_parse(sortid.typed_parse($1, $2))"
		for _, v := range cases.Valid {
			got := d.query(f.sql("SELECT x FROM (SELECT "+parsed+" AS id) AS t, LATERAL "+
				"(VALUES (F_text(id)), (sortid.typed_text($1, F_text(id)))) AS v(x)"), v.Prefix, v.Text)
			if want := []string{v.Inner, v.Text}; !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", v.Text, got, want)
			}
			switch f.name {
			case "scru64", "scru128", "scru160":
				if got := d.one(f.sql("sortid.typed_text($1, "+parsed+")"), v.Prefix,
					v.Text); got != v.Text {
					t.Errorf("%s: %s from the ID itself", v.Text, got)
				}
			}
		}
		for _, v := range cases.Invalid {
			if v.Want == "" && v.Found != "" {
				if code, _ := d.code("SELECT sortid.typed_text($1, '')", v.Found); code != "22023" {
					t.Errorf("prefix %q: code %s, want 22023", v.Found, code)
				}
			}
			if v.Want == "" {
				continue
			}
			code, message := d.code(f.sql("SELECT "+parsed), v.Want, v.Text)
			found := fmt.Sprintf("wrong prefix %q", v.Found)
			if v.Found == "" {
				found = "there is none"
			}
			names := strings.Contains(message, found) && strings.Contains(message, `want "user"`)
			if code != "22P02" || names != (v.Reason == "prefix") {
				t.Errorf("%s as %q: code %s, %q; want 22P02, with prefixes: %v", v.Text, v.Want, code,
					message, v.Reason == "prefix")
			}
		}
	}
}
