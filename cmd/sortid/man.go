package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sortid/sortid/scru64"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
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
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeManPages(cmd.Root(), args[0])
		},
	}
}

func writeManPages(cmd *cobra.Command, dir string) error {
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := writeManPages(sub, dir); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &doc.GenManHeader{Section: "1", Source: "sortid", Manual: "sortid"},
		&page); err != nil {
		return err
	}
	// EXIT STATUS and ENVIRONMENT belong before the examples.
	text, rest := page.String(), ""
	for _, section := range []string{"\n.SH EXAMPLE\n", "\n.SH SEE ALSO\n"} {
		if at := strings.Index(text, section); at >= 0 {
			text, rest = text[:at+1], text[at+1:]
			break
		}
	}
	text += manSection("EXIT STATUS", exitStatus)
	text += manSection("ENVIRONMENT", append(environment[pathName(cmd)], environment[""]...))
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), []byte(text+rest), 0o644)
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
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", e.term, strings.ReplaceAll(e.meaning, "-", `\-`))
	}
	return b.String()
}
