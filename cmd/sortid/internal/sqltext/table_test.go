package sqltext

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

func table(name string) Table {
	now := time.Now().UTC()
	f, err := spec.Lookup(name)
	if err != nil {
		panic(err)
	}
	return Table{Name: "Events_" + name, Format: f, From: time.Date(now.Year(), now.Month()-12, 1,
		0, 0, 0, 0, time.UTC), Months: 24}
}

// A new ID is in this month's partition. A later From adds partitions.
func TestPostgresTable(t *testing.T) {
	d := install(t)
	for _, f := range formats {
		tab := table(f.name)
		d.run(check.Must(tab.Postgres(DefaultSchema))(t))
		d.run(check.Must(tab.Postgres(DefaultSchema))(t))
		later := tab
		later.From = later.From.AddDate(0, 12, 0)
		d.run(check.Must(later.Postgres(DefaultSchema))(t))
		name := `"` + tab.Name + `"`
		if n := d.one("count(*) FROM pg_inherits WHERE inhparent = $1::regclass", name); n != "36" {
			t.Errorf("%s: %s partitions, want 36", f.name, n)
		}
		this := func() string {
			return `"` + tab.Name + "_" + time.Now().UTC().Format("2006_01") +
				`"`
		}
		months := []string{this()}
		d.run("INSERT INTO " + name + f.sql(" (id, what) VALUES (F_first(now()), '')"))
		if f.Format.SQL.New != "" {
			d.run("INSERT INTO " + name + " (what) VALUES ('')")
		}
		months = append(months, this()) // another month, if one has just ended
		for _, got := range d.query("SELECT tableoid::regclass::text FROM " + name) {
			if !slices.Contains(months, got) {
				t.Errorf("%s: an ID of now is in %s, want %s", f.name, got, months)
			}
		}
		shown := example(check.Must(tab.Postgres(DefaultSchema))(t))
		for _, s := range shown {
			if strings.HasPrefix(s, "SELECT partman") || strings.HasPrefix(s, "UPDATE partman") {
				continue // needs an extension that is not installed
			}
			if _, err := d.Exec(t.Context(), d.in(s)); err != nil {
				t.Errorf("%s: %v", s, err)
			}
		}
		if len(shown) < 3 {
			t.Errorf("%s: %q", f.name, shown)
		}
		if n := d.one("count(*) FROM pg_inherits WHERE inhparent = $1::regclass", name); n != "35" {
			t.Errorf("%s: %s partitions after the oldest was dropped", f.name, n)
		}
	}
	elsewhere := table("scru128")
	elsewhere.Name = d.schema + ".elsewhere"
	d.run(check.Must(elsewhere.Postgres(DefaultSchema))(t))
	if n := d.one("count(*) FROM pg_inherits WHERE inhparent = $1::regclass",
		`"`+d.schema+`".elsewhere`); n != "24" {
		t.Errorf("%s partitions in a schema, want 24", n)
	}
	daily := table("scru128")
	daily.Name, daily.Daily, daily.Months = "daily", true, 1
	d.run(check.Must(daily.Postgres(DefaultSchema))(t))
	if n := d.one("count(*) FROM pg_inherits WHERE inhparent = 'daily'::regclass"); n < "28" ||
		n > "31" {
		t.Errorf("%s days", n)
	}
}

func TestMySQLTable(t *testing.T) {
	db, _ := openMySQL(t)
	execAll(t, db, statements(check.Must(MySQL(spec.Ours()))(t)))
	for _, f := range formats {
		tab := table(f.name)
		text := check.Must(tab.MySQL())(t)
		execAll(t, db, statements(text))
		execAll(t, db, statements(text))
		execAll(t, db, []string{"INSERT INTO `" + tab.Name +
			f.here("` VALUES (F_first(UTC_TIMESTAMP(3)), '')")})
		if f.Bits > 64 {
			execAll(t, db, []string{"INSERT INTO `" + tab.Name + "` (what) VALUES ('made here')"})
			if got, err := row(t, db, f.here("SELECT ABS(TIMESTAMPDIFF(SECOND, F_time(id), "+
				"UTC_TIMESTAMP())) < 60 FROM `")+tab.Name+
				"` WHERE what = 'made here'"); err != nil || got[0] != "1" {
				t.Errorf("%s: the DEFAULT's time: %q, %v", f.name, got, err)
			}
		}
		all, next, err := tab.partitions()
		if err != nil {
			t.Fatal(err)
		}
		form := func(id integer.Words) string {
			if f.Bits > 64 {
				return "X'" + f.In(id, spec.Hex) + "'"
			}
			return f.In(id, spec.Int)
		}
		scanned := func(first, end string) string {
			got := check.Must(row(t, db,
				fmt.Sprintf("EXPLAIN PARTITIONS SELECT * FROM `%s` WHERE id >= %s AND id < %s",
					tab.Name, first, end)))(t)
			return got[3]
		}
		if got := scanned(form(all[5].first), form(all[6].first)); got != "p"+all[5].name {
			t.Errorf("%s: reads %s, want p%s", f.name, got, all[5].name)
		}
		first := func(p partition) string {
			return f.here("F_first('" + p.from.Format("2006-01-02") + "')")
		}
		if got := scanned(first(all[7]), first(all[8])); got != "p"+all[7].name {
			t.Errorf("%s: with functions reads %s, want p%s", f.name, got, all[7].name)
		}
		execAll(t, db, example(text))
		if got, err := row(t, db,
			`SELECT COUNT(*), MIN(PARTITION_NAME), MAX(PARTITION_NAME)
			FROM information_schema.PARTITIONS
			WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`, tab.Name); err != nil ||
			got[0] != "24" || got[1] != "p"+all[1].name || got[2] != "p"+next.name {
			t.Errorf("%s: %q, %v", f.name, got, err)
		}
	}
}

func TestTableErrors(t *testing.T) {
	good := table("scru128")
	for name, change := range map[string]func(*Table){
		"a name with a quote": func(t *Table) { t.Name = `a"b` },
		"a long name":         func(t *Table) { t.Name = strings.Repeat("a", 51) },
		"no format":           func(t *Table) { t.Format = gencore.Must(spec.Lookup("uuidv7")) },
		"no month":            func(t *Table) { t.Months = 0 },
		"minus a month":       func(t *Table) { t.Months = -5 },
		"too many days":       func(t *Table) { t.Daily, t.Months = true, 1000 },
		"before the epoch": func(t *Table) {
			t.Format, t.From = gencore.Must(spec.Lookup("uid60")),
				time.Date(2018, 1, 1, 0, 0, 0, 0, time.UTC)
		},
		"after the last tick": func(t *Table) {
			t.Format, t.From = gencore.Must(spec.Lookup("euid")),
				time.Date(2109, 1, 1, 0, 0, 0, 0, time.UTC)
		},
		"a year beyond all IDs": func(t *Table) {
			t.From = time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
		},
		"a number beyond limits": func(t *Table) { t.Months = 1 << 40 },
	} {
		bad := good
		change(&bad)
		if text, err := bad.Postgres(DefaultSchema); err == nil {
			t.Errorf("%s: %.200s", name, text)
		}
		if text, err := bad.MySQL(); err == nil {
			t.Errorf("%s: %.200s", name, text)
		}
	}
}

func TestMissing(t *testing.T) {
	_, err := read("mysql", []string{"header", "none"}, nil, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "mysql/none.sql") {
		t.Error(err)
	}
}
