package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

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

// A manual page names all flags. Only macros begin with a dot, and no hyphen can become a dash.
func TestManPages(t *testing.T) {
	macro := regexp.MustCompile(`^\.(nh|PP|TP|EX|EE|(TH|SH) .*)$`)
	root := root(&console.Console{})
	eachCommand(root, func(cmd *cobra.Command) {
		page := string(manPage(cmd, time.Unix(0, 0).UTC()))
		if !strings.Contains(page, `" 1 "Jan 1970" sortid sortid`) {
			t.Errorf("%s: no title with the date in %s", cmd.CommandPath(), page)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name := strings.ReplaceAll("--"+f.Name, "-", `\-`); !f.Hidden &&
				!strings.Contains(page, name) {
				t.Errorf("%s: no %s in %s", cmd.CommandPath(), name, page)
			}
		})
		for line := range strings.Lines(page) {
			line = strings.TrimSuffix(line, "\n")
			if strings.HasPrefix(line, ".") && !macro.MatchString(line) || strings.HasPrefix(line, "'") ||
				!strings.HasPrefix(line, ".TH") && strings.Contains(strings.ReplaceAll(line, `\-`, ""), "-") {
				t.Errorf("%s: line %q", cmd.CommandPath(), line)
			}
		}
	})
	for text, want := range map[string]string{
		".profile": `\&.profile`, "a\n.b\n'c": "a\n\\&.b\n\\&'c", `\d`: `\ed`, "--n": `\-\-n`,
	} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
