package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

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
	describe(cmd)
	cmd.Long = markdown(cmp.Or(cmd.Long, cmd.Short)) + manSection("EXIT STATUS", exitStatus) +
		manSection("ENVIRONMENT", append(environment[pathName(cmd)], environment[""]...))
	var page bytes.Buffer
	header := doc.GenManHeader{Section: "1", Source: "sortid", Manual: "sortid"}
	if err := doc.GenMan(cmd, &header, &page); err != nil {
		return err
	}
	// Without a backslash, some systems print a minus as a dash, which cannot be pasted.
	text := strings.NewReplacer(`\-`, `\-`, "-", `\-`).Replace(page.String())
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}

// markdown marks paragraphs that begin with spaces as examples.
func markdown(text string) string {
	paragraphs := strings.Split(strings.ReplaceAll(text, "*", `\*`), "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "  ") {
			paragraphs[i] = "    " + strings.ReplaceAll(p, "\n", "\n    ")
		}
	}
	return strings.Join(paragraphs, "\n\n")
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
	fmt.Fprintf(&b, "\n\n# %s\n", title)
	for _, e := range entries {
		fmt.Fprintf(&b, "**%s**\n\t%s\n\n", e.term, e.meaning)
	}
	return b.String()
}
