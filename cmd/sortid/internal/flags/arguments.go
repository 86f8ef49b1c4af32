package flags

import (
	"fmt"
	"strings"

	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

// NoArguments checks the arguments of a command that takes flags only.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes flags only; unexpected argument %q", cmd.Name(), args[0])
	}
	return nil
}

// OneFormat checks the argument of a command that wants a format and nothing else. Lookup says
// which formats it takes.
func OneFormat(lookup func(string) (*format.Format, error)) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return fmt.Errorf("%s wants a format: %s", cmd.Name(),
				strings.Join(format.Names(), ", "))
		case 1:
			_, err := lookup(args[0])
			return err
		}
		return fmt.Errorf("%s wants one format, and nothing else; unexpected argument %q",
			cmd.Name(), args[1])
	}
}

// CompleteFormat completes the argument of a command that wants a format.
func CompleteFormat(_ *cobra.Command, args []string,
	_ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return format.Names(), cobra.ShellCompDirectiveNoFileComp
}

// Arguments checks that there are as many arguments as names. If the last name is in brackets,
// its argument may be missing.
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

// NoCommand returns an error if there are arguments: they name no command.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return fmt.Errorf("%s", msg)
}
