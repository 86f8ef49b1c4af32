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
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/exit"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
)

func main() {
	// A write to a closed pipe must return an error, and not end the process.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(console.New(), os.Args[1:]))
}

func run(c *console.Console, args []string) int {
	root := root(c)
	started := false // whether cobra has accepted the arguments
	before := root.PersistentPreRun
	root.PersistentPreRun = func(cmd *cobra.Command, args []string) {
		started = true
		before(cmd, args)
	}
	root.SetArgs(withInspect(root, args))
	root.SetIn(c.In)
	out := &errWriter{w: c.Out}
	root.SetOut(out)
	root.SetErr(c.Err)
	cmd, err := root.ExecuteC()
	switch {
	case out.err != nil:
		err = out.err
	case err != nil && !started:
		err = exit.Usage(err)
	}
	code, print := exit.Code(err)
	switch {
	case !print:
	case code == exit.WrongUsage:
		c.Say("%s", flags.WithSuggestion(err))
		fmt.Fprintf(c.Err, "Run '%s --help' for help.\n", cmd.CommandPath())
	default:
		for _, err := range joined(err) {
			c.Say("%v", err)
		}
	}
	return code
}

// withInspect puts "inspect" before the arguments if the first argument is an ID, or nearly an ID.
// An argument without a digit is more probably a misspelt command.
func withInspect(root *cobra.Command, args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") ||
		!strings.ContainsAny(args[0], "0123456789") {
		return args
	}
	if cmd, _, err := root.Find(args); err != nil || cmd != root {
		return args
	}
	_, err := new(inspect.Reader).Read(args[0])
	if e := (*format.ReadError)(nil); errors.As(err, &e) &&
		(e.Problem == format.Unknown || e.Problem == format.Empty) {
		return args
	}
	return append([]string{"inspect"}, args...)
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
		Args:          flags.NoCommand,
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.DisableAutoGenTag = true
	root.SetFlagErrorFunc(flags.Explain)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	addConsoleFlags(c, root)
	root.AddCommand(newCommand(c), inspectCommand(c), scanCommand(c), sortCommand(c),
		convertCommand(c), boundsCommand(c), formatsCommand(c), planCommand(c), verifyCommand(c),
		leaseCommand(c), serveCommand(c), sqlCommand(c), pageCommand(c), manCommand())
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

func addConsoleFlags(c *console.Console, root *cobra.Command) {
	when := flags.Choose(root, "color", "", "when to colour", "auto", "auto", "always", "never")
	root.PersistentFlags().AddFlag(root.Flags().Lookup("color"))
	root.PersistentFlags().BoolVarP(&c.Quiet, "quiet", "q", false,
		"show no progress and no notes, and do not name bad lines")
	root.PersistentPreRun = func(*cobra.Command, []string) {
		if when.Value != "auto" {
			c.Colours = when.Value == "always"
		}
	}
}
