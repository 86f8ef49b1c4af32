package main

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/sqltext"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func (a *app) sqlCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "print the SQL with which a database knows the formats",
		Long: `sql prints functions that a database then has: to show an ID as its text and to
read it, to take the time out of it, to find the IDs of a time range, to make IDs.`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.sqlPostgresCommand(), a.sqlMySQLCommand(), a.sqlSQLiteCommand())
	return cmd
}

func (a *app) sqlMySQLCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mysql",
		Short: "for MariaDB 10.11 and later, and MySQL 8",
		Long: `mysql prints a file that the clients mariadb and mysql take, again and again. It
makes functions in the current database. Its comments have tables to learn from.

With --table it prints a table instead, partitioned by the time of its IDs.`,
		Example: `  sortid sql mysql | mariadb mydatabase
  sortid sql mysql --only scru128 > scru128.sql
  sortid sql mysql --table events --only scru64 --from 2026-01 --months 24`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	formats := chooseFormats(cmd)
	table := choosePartitions(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		t, err := table.read(cmd, formats)
		if err != nil {
			return err
		}
		text := sqltext.MySQL(formats.names())
		if t != nil {
			if text, err = t.MySQL(); err != nil {
				return usageError{err}
			}
		}
		_, err = io.WriteString(a.out, text)
		return err
	}
	return cmd
}

func (a *app) sqlSQLiteCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sqlite",
		Short: "for SQLite 3.42 and later",
		Long: `sqlite prints tables and views to learn from, as SQLite has no functions of its
users: the CHECK and the DEFAULT of an ID, columns and views that show its time
and its text.`,
		Example: `  sortid sql sqlite --only scru128
  sortid sql sqlite | sqlite3 example.db`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	formats := chooseFormats(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		_, err := io.WriteString(a.out, sqltext.SQLite(formats.names()))
		return err
	}
	return cmd
}

func (a *app) sqlPostgresCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "postgres",
		Short: "for PostgreSQL 14 and later",
		Long: `postgres prints a file that psql takes, again and again. It makes a schema with
functions, domains and the state of generators, without an extension and without
the rights of a superuser. The comments on the functions explain them: \df+ sortid.*

With --table it prints a table instead, partitioned by the time of its IDs.`,
		Example: `  sortid sql postgres | psql -v ON_ERROR_STOP=1 -1
  sortid sql postgres --schema ids --only scru64,scru128
  sortid sql postgres --table events --partition-by month --from 2026-01 --months 24`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	schema := cmd.Flags().String("schema", sqltext.DefaultSchema, "the `NAME` of the schema")
	formats := chooseFormats(cmd)
	table := choosePartitions(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		t, err := table.read(cmd, formats)
		if err != nil {
			return err
		}
		var text string
		if t != nil {
			text, err = t.Postgres(*schema)
		} else {
			text, err = sqltext.Postgres(*schema, formats.names())
		}
		if err != nil {
			return usageError{err}
		}
		_, err = io.WriteString(a.out, text)
		return err
	}
	return cmd
}

// A formatList is a flag that names formats, separated by commas.
type formatList []string

func (l *formatList) Type() string   { return "FORMAT,..." }
func (l *formatList) String() string { return strings.Join(*l, ",") }

func (l *formatList) Set(s string) error {
	*l = nil
	for name := range strings.SplitSeq(s, ",") {
		s, err := format.Lookup(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		*l = append(*l, s.Name)
	}
	return nil
}

// names returns the formats of the list in the order of all, each once.
func (l *formatList) names() []string {
	return slices.DeleteFunc(format.Names(), func(name string) bool { return !slices.Contains(*l, name) })
}

func chooseFormats(cmd *cobra.Command) *formatList {
	l := formatList(format.Names())
	cmd.Flags().Var(&l, "only", "the formats to print")
	cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(format.Names(), cobra.ShellCompDirectiveNoFileComp))
	return &l
}

// partitions are the flags of a partitioned table.
type partitions struct {
	name, from string
	months     int
	by         *choice
}

func choosePartitions(cmd *cobra.Command) *partitions {
	p := &partitions{}
	f := cmd.Flags()
	f.StringVar(&p.name, "table", "", "print a partitioned table of this `NAME`, with IDs of the format that --only names, else scru128")
	p.by = choose(cmd, "partition-by", "", "with --table: what a partition is for", "month", "month", "day")
	f.StringVar(&p.from, "from", "", "with --table: the first `MONTH`, such as 2026-01 (default this month)")
	f.IntVar(&p.months, "months", 12, "with --table: how many months to make partitions for")
	return p
}

// read returns the table, or nil if none was asked for.
func (p *partitions) read(cmd *cobra.Command, formats *formatList) (*sqltext.Table, error) {
	changed := cmd.Flags().Changed
	if !changed("table") {
		for _, name := range []string{"partition-by", "from", "months"} {
			if changed(name) {
				return nil, usagef("--%s goes with --table", name)
			}
		}
		return nil, nil
	}
	t := &sqltext.Table{Name: p.name, Format: format.SCRU128.Name, From: time.Now(), Months: p.months, Daily: p.by.value == "day"}
	if changed("only") {
		names := formats.names()
		if len(names) != 1 {
			return nil, usagef("a table has IDs of one format; --only names %d", len(names))
		}
		t.Format = names[0]
	}
	if p.from != "" {
		var err error
		if t.From, err = time.Parse("2006-01", p.from); err != nil {
			return nil, usagef("--from %q is no month: want one such as 2026-01", p.from)
		}
	}
	return t, nil
}
