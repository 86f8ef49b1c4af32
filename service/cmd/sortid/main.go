// Command sortid makes, reads and converts time-sortable IDs of five formats.
//
// Payload goes to standard output, everything else to standard error. The exit code is
// 0, 1 for bad input and other failures, 2 for wrong usage. A reader that closes the
// pipe has had enough: that ends the command without a word and with 0.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/fatih/color"
	"github.com/redis/go-redis/v9/logging"
	"github.com/sortid/sortid/scheme"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

func main() {
	// So that a write to a closed pipe is an error like any other.
	signal.Ignore(syscall.SIGPIPE)
	logging.Disable() // Redis: what is wrong there is in the errors
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		colours:     !color.NoColor,
		width:       80,
	}
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && w > 0 {
		a.width = w
	}
	os.Exit(a.run(os.Args[1:]))
}

// An app is what the commands work with.
type app struct {
	in       io.Reader
	out, err io.Writer

	inTerminal, outTerminal, errTerminal bool

	colours bool // whether out shows colours
	width   int  // of out, in characters

	started bool // whether cobra found the arguments good enough to run a command
}

// The exit codes.
const (
	exitOK          = 0
	exitBad         = 1
	exitUsage       = 2
	exitInterrupted = 130
)

var (
	// errReported: what was wrong has been said already.
	errReported = errors.New("reported")
	// errInterrupted: the user wants no more.
	errInterrupted = errors.New("interrupted")
)

// A usageError is a mistake in the arguments.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run runs the command and returns the exit code.
func (a *app) run(args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteC()
	var usage usageError
	switch {
	case err == nil || closedPipe(err):
		return exitOK
	case errors.Is(err, errReported):
		return exitBad
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case !a.started || errors.As(err, &usage):
		fmt.Fprintf(a.err, "sortid: %v\n", err)
		fmt.Fprintf(a.err, "Run '%s --help' for help.\n", cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(a.err, "sortid: %v\n", err)
	return exitBad
}

func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

func (a *app) root() *cobra.Command {
	cobra.AddTemplateFunc("flags", func(s interface{ FlagUsagesWrapped(int) string }) string {
		return s.FlagUsagesWrapped(max(60, min(a.width, 100)))
	})
	root := &cobra.Command{
		Use:   "sortid",
		Short: "make, read, convert and check time-sortable IDs",
		Long: `sortid makes, reads, converts and checks time-sortable IDs of five formats: scru64,
scru128, scru160, euid and uid60. "sortid schemes" helps to choose one.

Commands that read IDs take them as arguments, or from standard input, one in a
line, where there is no argument or the argument "-". A bad line is named with
its number and the reason on standard error, and the rest goes on.

Exit codes: 0; 1 for bad input or another failure; 2 for wrong usage.`,
		Example: `  sortid new scru128 -n 3
  sortid inspect 0372ijojuxuhjsfkeryi2mrtm
  sortid convert --to uuid 0372ijojuxuhjsfkeryi2mrtm
  sortid bounds scru128 --from -7d --to now -o sql
  tail -f ids.txt | sortid inspect -o json`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		// What fails before this is wrong usage.
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
		RunE:             func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.DisableAutoGenTag = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
			e := scheme.UnknownError{What: "flag", Name: unknown.GetSpecifiedName()}
			cmd.Flags().VisitAll(func(f *pflag.Flag) { e.Known = append(e.Known, f.Name) })
			if near := e.Suggestion(); near != "" {
				return fmt.Errorf("%w; did you mean --%s?", err, near)
			}
		}
		if cmd.Flags().Lookup("scheme") != nil {
			return fmt.Errorf("%w; an ID that begins with \"-\" goes after \"--\"", err)
		}
		return err
	})
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpCommand(help())
	root.AddCommand(a.newCommand(), a.inspectCommand(), a.convertCommand(), a.boundsCommand(),
		a.schemesCommand(), a.verifyCommand(), a.leaseCommand(), a.manCommand())
	return root
}

// help is cobra's command help, but for a command that does not exist, which is an error.
func help() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "help about any command",
		Long:    "help shows what a command does, what flags it takes, and examples.",
		Example: "  sortid help new",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if at, _, err := cmd.Root().Find(args); err == nil {
				for _, sub := range at.Commands() {
					names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err == nil && about.HasSubCommands() {
				err = noCommand(about, rest)
			}
			if err != nil {
				return usageError{err}
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// noCommand checks the arguments of a command that wants a command after it.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return errors.New(msg)
}

// usageTemplate is cobra's, with flags that wrap.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{flags .LocalFlags | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" tells more about a command.{{end}}
`

func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
