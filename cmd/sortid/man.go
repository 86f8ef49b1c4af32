package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sortid/sortid/scru64"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write the manual pages into a folder",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("man takes one folder, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			date := time.Now()
			if epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
				date = time.Unix(epoch, 0)
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManPages(cmd.Root(), args[0], date.UTC())
		},
	}
}

func writeManPages(cmd *cobra.Command, dir string, date time.Time) error {
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := writeManPages(sub, dir, date); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, manName(cmd)+".1"), manPage(cmd, date), 0o644)
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage writes a page with the macros of man(7).
func manPage(cmd *cobra.Command, date time.Time) []byte {
	describe(cmd)
	cmd.InitDefaultHelpFlag()
	b := fmt.Appendf(nil, ".nh\n.TH %q 1 %q sortid sortid\n", strings.ToUpper(manName(cmd)),
		date.Format("Jan 2006"))
	b = fmt.Appendf(b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	b = fmt.Appendf(b, ".SH SYNOPSIS\n\\fB%s\\fP\n.SH DESCRIPTION\n", roff(cmd.UseLine()))
	for i, paragraph := range strings.Split(cmp.Or(cmd.Long, cmd.Short), "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, "  "):
			b = append(b, manExample(paragraph)...)
			continue
		case i > 0:
			b = append(b, ".PP\n"...)
		}
		b = append(b, roff(paragraph)+"\n"...)
	}
	b = append(b, manOptions("OPTIONS", cmd.NonInheritedFlags())...)
	b = append(b, manOptions("OPTIONS INHERITED FROM PARENT COMMANDS", cmd.InheritedFlags())...)
	b = append(b, manSection("EXIT STATUS", exitStatus)...)
	b = append(b, manSection("ENVIRONMENT",
		append(environment[pathName(cmd)], environment[""]...))...)
	if cmd.HasExample() {
		b = append(b, ".SH EXAMPLE\n"+manExample(cmd.Example)...)
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, manName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			others = append(others, manName(sub))
		}
	}
	for i, name := range others {
		others[i] = `\fB` + roff(name) + `\fP(1)`
	}
	return append(b, ".SH SEE ALSO\n"+strings.Join(others, ", ")+"\n"...)
}

func manOptions(title string, flags *pflag.FlagSet) string {
	var entries []manEntry
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		term := "--" + f.Name
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		value, usage := pflag.UnquoteUsage(f)
		if value != "" {
			term += " " + value
		}
		switch f.DefValue {
		case "", "0", "0s", "false", "[]":
		default:
			if !strings.Contains(usage, "(default ") {
				usage += " (default " + f.DefValue + ")"
			}
		}
		entries = append(entries, manEntry{term, usage})
	})
	if entries == nil {
		return ""
	}
	return manSection(title, entries)
}

func manExample(text string) string { return ".PP\n.EX\n" + roff(text) + "\n.EE\n" }

// roff escapes what is not text to man(7).
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

type manEntry struct{ term, meaning string }

var exitStatus = []manEntry{
	{"0", "Success, even if a reader closes standard output early."},
	{"1", "Bad input, a failed check, or another failure. " +
		"The command prints the number of each bad line to standard error, and continues."},
	{"2", "Wrong usage."},
	{"129, 130, 143", "Ended by SIGHUP, SIGINT or SIGTERM. A leased node ID was given back."},
}

// environment has the variables of each command. The key "" has the variables of all commands.
var environment = map[string][]manEntry{
	"": {
		{"NO_COLOR", "If it is not empty, the output has no colours."},
		{"CLICOLOR_FORCE",
			"If it is neither empty nor 0, output to files and pipes also has colours. " +
				"NO_COLOR overrides it."},
	},
	"new": {{scru64.NodeSpecVar,
		"The node ID of scru64, such as 42/8. --node and --lease override it."}},
	"verify": {{"TMPDIR", "The folder for temporary files."}},
	"sort":   {{"TMPDIR", "The folder for temporary files."}},
	"man":    {{"SOURCE_DATE_EPOCH", "The date of the pages, in seconds since 1970."}},
}

func manSection(title string, entries []manEntry) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".SH %s\n", title)
	for _, e := range entries {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", roff(e.term), roff(e.meaning))
	}
	return b.String()
}
