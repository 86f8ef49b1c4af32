// Command sortid makes, reads and converts time-sortable IDs.
//
// Results go to standard output, and everything else goes to standard error. The exit code is 0
// for success, 1 for bad input and other failures, and 2 for wrong usage. If the reader of
// standard output closes it, the command ends silently with exit code 0.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/format"
)

func main() {
	// A write to a closed pipe must return an error, and not end the process. If this process
	// ignored SIGPIPE, the programs that it starts would ignore it, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(console.New(), os.Args[1:]))
}

func run(c *console.Console, args []string) int {
	root := root(c)
	started := false // whether cobra has accepted the arguments
	before := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		started = true
		return before(cmd, args)
	}
	root.SetArgs(args)
	root.SetIn(c.In)
	out := &errWriter{w: c.Out}
	root.SetOut(out)
	root.SetErr(c.Err)
	cmd, err := root.ExecuteC()
	switch {
	case out.err != nil:
		err = out.err
	case err != nil && !started:
		err = console.UsageError(err)
	}
	code, print := console.ExitCodeOf(err)
	switch {
	case !print:
	case code == console.WrongUsage:
		c.Say("%s", flags.WithSuggestion(err))
		fmt.Fprintf(c.Err, "Run '%s --help' for help.\n", cmd.CommandPath())
	default:
		for _, err := range joined(err) {
			c.Say("%v", err)
		}
	}
	return code
}

func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok &&
		errors.Join(all.Unwrap()...).Error() == err.Error() {
		return all.Unwrap()
	}
	return []error{err}
}

// An errWriter keeps its first error, because cobra does not return errors of writing.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) Write(p []byte) (int, error) {
	if e.err == nil {
		_, e.err = e.w.Write(p)
	}
	return len(p), nil
}

func root(c *console.Console) *cobra.Command {
	root := &cobra.Command{
		Use:           "sortid",
		Short:         "make, read, convert and check time-sortable IDs",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
	}
	root.RunE = helpOrInspect(c, root)
	root.SuggestionsMinimumDistance = 2
	root.DisableAutoGenTag = true
	root.SetFlagErrorFunc(flags.Explain)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	addConsoleFlags(c, root)
	root.AddCommand(newCommand(c), inspectCommand(c), scanCommand(c), sortCommand(c),
		convertCommand(c), boundsCommand(c), formatsCommand(c), planCommand(c), verifyCommand(c),
		leaseCommand(c), serveCommand(c), sqlCommand(c), pageCommand(c), installCommand(), manCommand())
	addHelp(c, root)
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" { // cobra's own RunE ignores unknown shells
			cmd.Args = flags.NoCommand
			cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
		}
	}
	return root
}

// helpOrInspect returns what the program does without a command: it inspects its arguments. Without
// arguments it prints its help.
func helpOrInspect(c *console.Console,
	root *cobra.Command) func(cmd *cobra.Command, args []string) error {
	inspect := inspection(c, root)
	own := root.Flags()
	own.VisitAll(func(f *pflag.Flag) { f.Hidden = true }) // the help of inspect shows them
	return func(cmd *cobra.Command, args []string) error {
		changed := false
		own.VisitAll(func(f *pflag.Flag) { changed = changed || f.Changed && f.Hidden })
		switch {
		case len(args) == 0 && !changed:
			return cmd.Help()
		case len(args) > 0 && !own.Changed("format") && looksLikeCommand(args[0]):
			return console.UsageError(flags.NoCommand(cmd, args))
		}
		return inspect(cmd, args)
	}
}

// looksLikeCommand reports whether a text is more probably a misspelt command than an ID.
func looksLikeCommand(text string) bool {
	return !strings.ContainsAny(text, "0123456789") && !slices.ContainsFunc(
		format.AppendDetect(nil, text, time.Now()), func(c format.Candidate) bool { return !c.WordLike })
}

func addConsoleFlags(c *console.Console, root *cobra.Command) {
	when := flags.Choose(root, "color", "", "when to colour", "auto", "auto", "always", "never")
	root.PersistentFlags().AddFlag(root.Flags().Lookup("color"))
	root.PersistentFlags().BoolVarP(&c.Quiet, "quiet", "q", false,
		"show no progress and no notes, and do not name bad lines")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if when.Value != "auto" {
			c.Colours = when.Value == "always"
		}
		return flags.CheckExclusive(cmd)
	}
}
