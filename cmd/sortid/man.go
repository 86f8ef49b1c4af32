package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
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
			if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
				seconds, err := strconv.ParseInt(epoch, 10, 64)
				if err != nil {
					return fmt.Errorf("SOURCE_DATE_EPOCH is %q, want seconds since 1970", epoch)
				}
				date = time.Unix(seconds, 0)
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManPages(cmd.Root(), args[0], date.UTC().Format("Jan 2006"))
		},
	}
}

func writeManPages(cmd *cobra.Command, dir, date string) error {
	describe(cmd)
	cmd.InitDefaultHelpFlag()
	p := manPage{Command: cmd, Name: pageName(cmd), Date: date, Sections: []manSection{
		{"OPTIONS", optionEntries(cmd.LocalFlags())},
		{"OPTIONS OF ALL COMMANDS", optionEntries(cmd.InheritedFlags())},
		{"EXIT STATUS", exitStatus},
		{"ENVIRONMENT", append(environment[pathName(cmd)], environment[""]...)},
	}}
	if cmd.HasParent() {
		p.Related = append(p.Related, pageName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		p.Related = append(p.Related, pageName(sub))
		if err := writeManPages(sub, dir, date); err != nil {
			return err
		}
	}
	var b bytes.Buffer
	err := template.Must(template.New("").Funcs(template.FuncMap{
		"roff": roff, "paragraphs": roffParagraphs,
	}).Parse(manTemplate)).Execute(&b, p)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, p.Name+".1"), b.Bytes(), 0o644)
}

type (
	manPage struct {
		*cobra.Command
		Name, Date string
		Sections   []manSection
		Related    []string
	}
	manSection struct {
		Title   string
		Entries []manEntry
	}
	manEntry struct{ Term, Meaning string }
)

const manTemplate = `.nh
.TH "{{roff .Name}}" "1" "{{.Date}}" "sortid" "sortid"
.SH NAME
{{roff .Name}} \- {{roff .Short}}
.SH SYNOPSIS
\fB{{roff .UseLine}}\fP
.SH DESCRIPTION
{{paragraphs (or .Long .Short)}}
{{- range .Sections}}{{if .Entries}}.SH {{.Title}}
{{range .Entries}}.TP
\fB{{roff .Term}}\fP
{{roff .Meaning}}
{{end}}{{end}}{{end}}
{{- with .Example}}.SH EXAMPLES
.EX
{{roff .}}
.EE
{{end}}.SH SEE ALSO
{{range $i, $name := .Related}}{{if $i}}, {{end}}\fB{{roff $name}}\fP(1){{end}}
`

// pageName returns a command's path, as in "sortid-lease-exec".
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// roff escapes the characters that roff does not print as they are. It would print - as a dash.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`,
		"~", `\(ti`, "\n.", "\n\\&.").Replace(text)
}

// roffParagraphs returns paragraphs. A paragraph that begins with spaces keeps its lines.
func roffParagraphs(text string) string {
	var b strings.Builder
	for p := range strings.SplitSeq(text, "\n\n") {
		form := ".PP%s\n"
		if strings.HasPrefix(p, "  ") {
			form = ".PP\n.EX%s\n.EE\n"
		}
		fmt.Fprintf(&b, form, roff("\n"+p))
	}
	return b.String()
}

// optionEntries describes flags as the help does.
func optionEntries(flags *pflag.FlagSet) (entries []manEntry) {
	flags.VisitAll(func(f *pflag.Flag) {
		one := pflag.NewFlagSet("", pflag.ContinueOnError)
		one.AddFlag(f)
		if term, meaning, ok := strings.Cut(strings.TrimSpace(one.FlagUsages()), "   "); ok {
			entries = append(entries, manEntry{term, meaning})
		}
	})
	return entries
}

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
