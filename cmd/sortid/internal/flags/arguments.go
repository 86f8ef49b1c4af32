package flags

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments; unexpected argument %q", cmd.Name(), args[0])
	}
	return nil
}

// OneFormat checks that there is one argument, and that the function lookup finds this format.
func OneFormat(lookup func(string) (*format.Format, error)) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s wants a format: %s", cmd.Name(),
				strings.Join(catalog.Names(format.Ours()), ", "))
		case 1:
			_, err := lookup(args[0])
			return err
		}
		return fmt.Errorf("%s wants one format, and nothing else; unexpected argument %q",
			cmd.Name(), args[1])
	}
}

// CompleteFormat returns a function that completes the first argument.
func CompleteFormat(formats []*format.Format) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return catalog.Names(formats), cobra.ShellCompDirectiveNoFileComp
	}
}

// Arguments checks the number of arguments. If the last name is in brackets, that argument is
// optional.
func Arguments(names ...string) cobra.PositionalArgs {
	least := len(names)
	if strings.HasPrefix(names[least-1], "[") {
		least--
	}
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return fmt.Errorf("%s wants %s", cmd.Name(), strings.Join(names, " "))
		}
		if len(args) > len(names) {
			return fmt.Errorf("%s wants %s, and nothing else; unexpected argument %q", cmd.Name(),
				strings.Join(names, " "), args[len(names)])
		}
		return nil
	}
}

// NoCommand is for commands with subcommands. An argument here is not a subcommand, so NoCommand
// returns an error.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	near := cmd.SuggestionsFor(args[0])
	if help := nearest(args[0], []string{"help"}); help != "" {
		near = append(near, help) // cobra does not suggest it
	}
	switch {
	case args[0] != "" && len(near) > 0:
		msg += fmt.Sprintf("; did you mean %q?", near[0])
	case !cmd.HasParent(): // it inspects IDs
		msg = fmt.Sprintf("%q is neither a command nor an ID of a known format; "+
			"\"sortid formats\" lists the formats", args[0])
	}
	return errors.New(msg)
}
