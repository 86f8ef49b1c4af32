package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/sqltext"
	"github.com/sortid/sortid/format"
)

func sqlCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sql",
		Short: "print the SQL with which a database knows the formats",
		Args:  flags.NoCommand,
		RunE:  func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(sqlPostgresCommand(c), sqlMySQLCommand(c), sqlSQLiteCommand(c))
	return cmd
}

func sqlMySQLCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "mysql",
		Short:             "for MariaDB 10.11 and later, and MySQL 8",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	formats := chooseSQLFormats(cmd)
	table := choosePartitions(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return table.print(c, cmd, formats.List,
			func() (string, error) { return sqltext.MySQL(formats.List) }, sqltext.Table.MySQL)
	}
	return cmd
}

func sqlSQLiteCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "sqlite",
		Short:             "for SQLite 3.42 and later",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	formats := chooseSQLFormats(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		text, err := sqltext.SQLite(formats.List)
		if err == nil {
			_, err = io.WriteString(c.Out, text)
		}
		return err
	}
	return cmd
}

func sqlPostgresCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "postgres",
		Short:             "for PostgreSQL 14 and later",
		Args:              flags.NoArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	schema := cmd.Flags().String("schema", sqltext.DefaultSchema, "the `NAME` of the schema")
	formats := chooseSQLFormats(cmd)
	table := choosePartitions(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return table.print(c, cmd, formats.List,
			func() (string, error) { return sqltext.Postgres(*schema, formats.List) },
			func(t sqltext.Table) (string, error) { return t.Postgres(*schema) })
	}
	return cmd
}

func chooseSQLFormats(cmd *cobra.Command) *flags.Formats {
	f := flags.ChooseFormats(cmd, "only", "the formats to print", format.Ours())
	f.List = format.Ours()
	cmd.Flags().Lookup("only").DefValue = "all"
	return f
}

type partitions struct {
	name, from string
	months     int
	by         *flags.Choice
}

func choosePartitions(cmd *cobra.Command) *partitions {
	p := &partitions{}
	f := cmd.Flags()
	f.StringVar(&p.name, "table", "",
		"print a partitioned table of this `NAME`, with IDs of the format that --only names, else "+
			format.Preferred().Name)
	p.by = flags.Choose(cmd, "partition-by", "", "with --table: what a partition is for", "month",
		"month", "day")
	f.StringVar(&p.from, "from", "",
		"with --table: the first `MONTH`, such as 2026-01 (default this month)")
	f.IntVar(&p.months, "months", 12, "with --table: for how many months to make partitions, `N`")
	return p
}

func (p *partitions) read(cmd *cobra.Command, formats []*format.Format) (*sqltext.Table, error) {
	changed := cmd.Flags().Changed
	if !changed("table") {
		for _, name := range []string{"partition-by", "from", "months"} {
			if changed(name) {
				return nil, exit.Usagef("--%s goes with --table", name)
			}
		}
		return nil, nil
	}
	t := &sqltext.Table{Name: p.name, Format: format.Preferred(), From: time.Now(),
		Months: p.months, Daily: p.by.Value == "day"}
	if changed("only") {
		if len(formats) != 1 {
			return nil, exit.Usagef("a table has IDs of one format; --only names %d", len(formats))
		}
		t.Format = formats[0]
	}
	if p.from != "" {
		var err error
		if t.From, err = time.Parse("2006-01", p.from); err != nil {
			return nil, exit.Usagef("--from %q is no month: want one such as 2026-01", p.from)
		}
	}
	return t, nil
}

func (p *partitions) print(c *console.Console, cmd *cobra.Command, formats []*format.Format,
	all func() (string, error), one func(sqltext.Table) (string, error)) error {
	t, err := p.read(cmd, formats)
	if err != nil {
		return err
	}
	text := ""
	if t == nil {
		text, err = all()
	} else {
		text, err = one(*t)
	}
	if err != nil {
		return exit.Usage(err)
	}
	_, err = io.WriteString(c.Out, text)
	return err
}
