package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, do)
	}
}

func TestPlaceholders(t *testing.T) {
	eachCommand(root(&console.Console{}), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, _ := pflag.UnquoteUsage(f); name != strings.ToUpper(name) {
				t.Errorf("%s: --%s %s", cmd.CommandPath(), f.Name, name)
			}
		})
	})
}

// Help fits in 60 columns, except for lines that users copy.
func TestHelpWidth(t *testing.T) {
	const width = 60
	c := &console.Console{Width: width}
	root := root(c)
	eachCommand(root, func(cmd *cobra.Command) {
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.InitDefaultHelpFlag()
		check.OK(t, cmd.Help())
		if cmd.Long == "" && !cmd.Hidden {
			t.Errorf("%s has no text in the folder help", cmd.CommandPath())
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if len(line) > width && !strings.Contains(cmd.Example, line) &&
				!strings.Contains(line, cmd.CommandPath()) {
				t.Errorf("%s: %d characters: %s", cmd.CommandPath(), len(line), line)
			}
		}
	})
}

// A manual page names all flags, and no hyphen of a flag can become a dash. Examples keep their
// lines.
func TestManPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	dir := t.TempDir()
	root := root(&console.Console{})
	root.SetArgs([]string{"man", dir})
	check.OK(t, root.Execute())
	eachCommand(root, func(cmd *cobra.Command) {
		if !cmd.IsAvailableCommand() && cmd.HasParent() {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page := string(check.Must(os.ReadFile(filepath.Join(dir, name+".1")))(t))
		if !strings.Contains(page, `"1" "Jan 1970" "sortid" "sortid"`) {
			t.Errorf("%s: no title with the date in %s", name, page)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			flag := strings.ReplaceAll("--"+f.Name, "-", `\-`)
			if !f.Hidden && !strings.Contains(page, flag) {
				t.Errorf("%s: no %s in %s", name, flag, page)
			}
		})
		for line := range strings.Lines(cmd.Example) {
			line = strings.ReplaceAll(strings.ReplaceAll(line, `\`, `\\`), "-", `\-`)
			if !strings.Contains(page, line) {
				t.Errorf("%s: no line %q in %s", name, line, page)
			}
		}
	})
}

func TestMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"a *b*\n- c\n  d":     "a \\*b\\*\n- c\n  d",
		"a:\n\n  b\n  c\n\nd": "a:\n\n      b\n      c\n\nd",
	} {
		if got := markdown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
