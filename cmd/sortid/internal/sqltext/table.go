package sqltext

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
)

// A Table is partitioned by the time of its IDs.
type Table struct {
	Name   string       // with or without a schema: app.events
	Format *spec.Format // of the IDs
	From   time.Time    // month of the first partition
	Months int          // how many months the partitions cover
	Daily  bool         // one partition a day, not a month
}

// With more partitions, databases get slow.
const maxPartitions = 8000

// A partition contains the IDs from first up to but not including end.
type partition struct {
	name       string
	from       time.Time
	first, end integer.Words
}

// partitions returns all partitions, and the partition that would follow them.
func (t Table) partitions() (all []partition, next partition, err error) {
	schema, table, found := strings.Cut(t.Name, ".")
	if !found {
		schema, table = "x", t.Name
	}
	if err := checkName("schema", schema); err != nil {
		return nil, next, err
	}
	if err := checkName("table", table); err != nil {
		return nil, next, err
	}
	if !t.Format.Generates {
		return nil, next, fmt.Errorf("%s: there is SQL only for formats that sortid makes",
			t.Format.Name)
	}
	if len(table) > 50 {
		return nil, next, fmt.Errorf("the name of the table has %d characters; "+
			"with the date of a partition it would be too long: want at most 50", len(table))
	}
	layout := "2006_01"
	after := func(at time.Time) time.Time { return at.AddDate(0, 1, 0) }
	if t.Daily {
		layout = "2006_01_02"
		after = func(at time.Time) time.Time { return at.AddDate(0, 0, 1) }
	}
	from := time.Date(t.From.Year(), t.From.Month(), 1, 0, 0, 0, 0, time.UTC)
	end := from.AddDate(0, t.Months, 0)
	for at := from; !at.After(end); at = after(at) {
		p := partition{name: at.Format(layout), from: at}
		if p.first, p.end, err = t.Format.Bounds(at, after(at)); err != nil {
			return nil, next, err
		}
		all = append(all, p)
		if len(all) > maxPartitions {
			return nil, next, fmt.Errorf("more than %d partitions", maxPartitions)
		}
	}
	if len(all) < 2 {
		return nil, next, errors.New("want partitions for at least one month")
	}
	return all[:len(all)-1], all[len(all)-1], nil
}

// quoted returns the name with a suffix, and its parts in quotation marks.
func (t Table) quoted(mark, suffix string) string {
	return mark + strings.ReplaceAll(t.Name+suffix, ".", mark+"."+mark) + mark
}

func (t Table) Postgres(schema string) (string, error) {
	if err := checkName("schema", schema); err != nil {
		return "", err
	}
	all, next, err := t.partitions()
	if err != nil {
		return "", err
	}
	s := t.Format
	facts, value := s.SQL, ""
	if facts.New != "" {
		value = " DEFAULT sortid." + facts.New
	}
	first := func(at time.Time) string {
		return "sortid." + s.Name + "_first('" + at.Format("2006-01-02 15:04+00") + "')"
	}
	name := t.quoted(`"`, "")
	part := func(p partition) string { return t.quoted(`"`, "_"+p.name) }
	var b strings.Builder
	fmt.Fprintf(&b, `-- A table partitioned by the time of its %[1]s IDs. It needs the functions of
-- "sortid sql postgres". To add partitions, run this again with a later --from. There is no DEFAULT
-- partition, because every query without an upper bound would read it, and because PostgreSQL would
-- search it before it adds a partition. Partitions begin at midnight UTC, like their names.

CREATE TABLE IF NOT EXISTS %[2]s (
  id   %[3]s PRIMARY KEY%[4]s,
  what text NOT NULL
) PARTITION BY RANGE (id);

`, s.Name, name, facts.Postgres, value)
	if node, _ := s.Maker.Option(s.Maker.Node); node.Needed {
		b.WriteString(
			"-- The DEFAULT uses node ID 1 of 8 bits. Give each database a node ID of its own.\n\n")
	}
	for i, p := range all {
		end := next
		if i+1 < len(all) {
			end = all[i+1]
		}
		fmt.Fprintf(
			&b, "CREATE TABLE IF NOT EXISTS %s PARTITION OF %s\n  FOR VALUES FROM (%s) TO (%s);\n",
			part(p), name, first(p.from), first(end.from))
	}
	fmt.Fprintf(&b, `
-- A query with these functions reads only the partitions of its time, even if the time is
-- a parameter or now() - interval '1 hour':
--
--   SELECT * FROM %[1]s WHERE id >= %[2]s AND id < %[3]s;
--
-- To drop the oldest partition (the first command does not block, and must run
-- outside a transaction):
--
--   ALTER TABLE %[1]s DETACH PARTITION %[4]s CONCURRENTLY;
--   DROP TABLE %[4]s;
`, name, first(all[0].from), first(next.from), part(all[0]))
	if facts.Postgres == "uuid" {
		fmt.Fprintf(&b, `--
-- Instead of the commands above, pg_partman 5.2 or later can make and drop the partitions:
--
--   SELECT partman.create_parent('%[1]s', 'id', '%[2]s', p_default_table := false,
--     p_time_encoder := 'sortid.%[3]s_first', p_time_decoder := 'sortid.%[3]s_partman_time');
--   UPDATE partman.part_config SET retention = '%[4]d months', retention_keep_table = false
--     WHERE parent_table = '%[1]s';
`, t.withSchema(), map[bool]string{false: "1 month", true: "1 day"}[t.Daily], s.Name, t.Months)
	}
	return inSchema(b.String(), schema), nil
}

// withSchema returns the name with the schema, which pg_partman needs.
func (t Table) withSchema() string {
	if strings.Contains(t.Name, ".") {
		return t.Name
	}
	return "public." + t.Name
}

func (t Table) MySQL() (string, error) {
	all, next, err := t.partitions()
	if err != nil {
		return "", err
	}
	s := t.Format
	byDefault := defaultOf("mysql", s.Name)
	if byDefault != "" {
		byDefault = " DEFAULT " + byDefault
	}
	typ, by := "BIGINT", "RANGE (id)"
	literal := func(id integer.Words) string { return s.In(id, spec.Int) }
	if s.Size > 8 {
		typ, by = fmt.Sprintf("BINARY(%d)", s.Size), "RANGE COLUMNS (id)"
		literal = func(id integer.Words) string { return "X'" + s.In(id, spec.Hex) + "'" }
	}
	var b strings.Builder
	fmt.Fprintf(&b, `-- A table partitioned by the time of its %s IDs, in UTC. The first partition
-- also stores older IDs. The database refuses IDs that are later than the last partition.

CREATE TABLE IF NOT EXISTS %s (
  id   %s PRIMARY KEY%s,
  what VARCHAR(100) NOT NULL
) PARTITION BY %s (
`, s.Name, t.quoted("`", ""), typ, byDefault, by)
	for i, p := range all {
		comma := ","
		if i == len(all)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "  PARTITION p%s VALUES LESS THAN (%s)%s\n", p.name, literal(p.end), comma)
	}
	fmt.Fprintf(&b, `);

-- The next partition:
--
--   ALTER TABLE %[1]s ADD PARTITION (PARTITION p%[2]s VALUES LESS THAN (%[3]s));
--
-- To drop the oldest:
--
--   ALTER TABLE %[1]s DROP PARTITION p%[4]s;
--
-- A query whose bounds are literals or %[5]s_first of constants reads only the partitions of its
-- time. EXPLAIN PARTITIONS shows which ones.
`, t.quoted("`", ""), next.name, literal(next.end), all[0].name, s.Name)
	return b.String(), nil
}
