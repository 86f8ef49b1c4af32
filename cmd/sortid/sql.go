package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/plan"
	"github.com/sortid/sortid/cmd/sortid/internal/sqltext"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
)

func sqlCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "print SQL functions for a database",
		Args:  flags.NoCommand,
		RunE:  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	schema := ""
	postgres := sqlDialect(c, "postgres", "for PostgreSQL 14 and later",
		func(of []*spec.Format) (string, error) { return sqltext.Postgres(schema, of) },
		func(t sqltext.Table) (string, error) { return t.Postgres(schema) })
	postgres.Flags().StringVar(&schema, "schema", sqltext.DefaultSchema, "the `NAME` of the schema")
	cmd.AddCommand(postgres,
		sqlDialect(c, "mysql", "for MariaDB 10.11 and later, and MySQL 8", sqltext.MySQL,
			sqltext.Table.MySQL),
		sqlDialect(c, "sqlite", "for SQLite 3.42 and later", sqltext.SQLite, nil),
		sqlDialect(c, "duckdb", "for DuckDB 1.3 and later", sqltext.DuckDB, nil))
	return cmd
}

// sqlDialect returns the command for a database. If the function table is nil, the command has no
// --table.
func sqlDialect(c *console.Console, name, short string,
	all func([]*spec.Format) (string, error),
	table func(sqltext.Table) (string, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use:               name,
		Short:             short,
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	formats := flags.ChooseFormats(cmd, "formats", "FORMAT,...",
		"the formats to print, also formats of other projects whose IDs have a time", format.All())
	cmd.Flags().Lookup("formats").DefValue = "all"
	layout := flags.ChooseLayout(cmd)
	p := &partitions{}
	if table != nil {
		p.addFlags(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		chosen, err := layout.Apply(formats.List)
		if err != nil {
			return err
		}
		list := spec.OfAll(chosen)
		t, err := p.read(cmd, list)
		if err != nil {
			return err
		}
		if chosen == nil {
			list = sqltext.WithOthers(all)
		}
		text := ""
		if t == nil {
			text, err = all(list)
		} else {
			text, err = table(*t)
		}
		if err != nil {
			return console.UsageError(err)
		}
		_, err = io.WriteString(c.Out, text)
		return err
	}
	return cmd
}

type partitions struct {
	name, from string
	months     int
	by         *flags.Choice
}

func (p *partitions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.name, "table", "",
		"print a partitioned table with this `NAME`, for IDs of the format in --formats, by default "+
			plan.Preferred().Name)
	p.by = flags.Choose(cmd, "partition-by", "", "with --table: the length of a partition", "month",
		"month", "day")
	f.StringVar(&p.from, "from", "",
		"with --table: the first `MONTH`, such as 2026-01 (default this month)")
	f.IntVar(&p.months, "months", 12, "with --table: for how many months to make partitions, `N`")
}

func (p *partitions) read(cmd *cobra.Command, formats []*spec.Format) (*sqltext.Table, error) {
	changed := cmd.Flags().Changed
	if !changed("table") {
		for _, name := range []string{"partition-by", "from", "months"} {
			if changed(name) {
				return nil, console.UsageErrorf("--%s needs --table", name)
			}
		}
		return nil, nil
	}
	t := &sqltext.Table{Name: p.name, Format: plan.Preferred(), From: time.Now(),
		Months: p.months, Daily: p.by.Value == "day"}
	if len(formats) > 0 {
		if len(formats) != 1 {
			return nil, console.UsageErrorf(
				"a table has IDs of one format; --formats names %d", len(formats))
		}
		t.Format = formats[0]
	}
	if p.from != "" {
		var err error
		if t.From, err = time.Parse("2006-01", p.from); err != nil {
			return nil, console.UsageErrorf(
				"--from %q is not a month: want one such as 2026-01", p.from)
		}
	}
	return t, nil
}
