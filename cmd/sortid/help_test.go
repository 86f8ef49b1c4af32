package main

import (
	"bytes"
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
		if cmd.Long == "" && !cmd.Hidden {
			t.Errorf("%s has no text in the folder help", cmd.CommandPath())
		}
		var out bytes.Buffer
		cmd.SetOut(&out)
		cmd.InitDefaultHelpFlag()
		check.OK(t, cmd.Help())
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if len(line) > width && !strings.Contains(cmd.Example, line) &&
				!strings.Contains(line, cmd.CommandPath()) {
				t.Errorf("%s: %d characters: %s", cmd.CommandPath(), len(line), line)
			}
		}
	})
}
