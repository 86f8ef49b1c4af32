// Command sortid makes, reads and converts time-sortable IDs.
//
// Results go to standard output, everything else to standard error. The exit code is 0, 1
// for bad input and other failures, 2 for wrong usage. If the reader of standard output
// closes it, the command ends silently with exit code 0.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/sortid/sortid/format"
)

func main() {
	// So that a write to a closed pipe is an error like any other.
	signal.Ignore(syscall.SIGPIPE)
	logging.Disable() // of the Redis client, whose errors say what is wrong
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, childOut: os.Stdout,
		inTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		colours:     wantColours(),
		width:       terminalWidth(os.Stdout, 80),
		errWidth:    terminalWidth(os.Stderr, 0),
	}
	os.Exit(a.run(os.Args[1:]))
}

// An app holds what all commands use.
type app struct {
	in       io.Reader
	out, err io.Writer

	inTerminal, outTerminal, errTerminal bool

	colours bool // whether out shows colours
	width   int  // of out, in characters
	quiet   bool // whether to show no progress and no notes

	errWidth int // of err, in characters; 0 if it is no terminal

	started bool // whether cobra has accepted the arguments and run a command

	childOut *os.File // standard output of a program that "lease exec" runs
}

// The exit codes.
const (
	exitOK          = 0
	exitBad         = 1
	exitUsage       = 2
	exitInterrupted = 130
)

var (
	// errReported means that the error has been printed already.
	errReported = errors.New("reported")
	// errTrouble means that scan could not do all that it should, and has said so.
	errTrouble = errors.New("trouble")
	// errInterrupted means that the user interrupted the command.
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
	out := &errWriter{w: a.out}
	root.SetOut(out)
	root.SetErr(a.err)
	cmd, err := root.ExecuteC()
	if out.err != nil {
		err, a.started = out.err, true // not wrong usage
	}
	var usage usageError
	var exit exitError
	var ended signalError
	switch {
	case errors.As(err, &exit):
		return int(exit)
	case err == nil || closedPipe(err):
		return exitOK
	case errors.Is(err, errReported):
		return exitBad
	case errors.Is(err, errTrouble):
		return exitUsage
	case errors.As(err, &ended):
		return ended.code()
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case !a.started || errors.As(err, &usage):
		a.complain("%s", withSuggestion(err))
		fmt.Fprintf(a.err, "Run '%s --help' for help.\n", cmd.CommandPath())
		return exitUsage
	}
	for _, err := range joined(err) {
		a.complain("%v", err)
	}
	return exitBad
}

// joined returns the errors that [errors.Join] joined, or the only error.
func joined(err error) []error {
	if all, ok := err.(interface{ Unwrap() []error }); ok && errors.Join(all.Unwrap()...).Error() == err.Error() {
		return all.Unwrap()
	}
	return []error{err}
}

// An errWriter remembers the first error of a writer, since cobra ignores errors in
// writing completions, and prints those in writing help.
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

func closedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

func (a *app) root() *cobra.Command {
	cobra.AddTemplateFunc("flags", func(s interface{ FlagUsagesWrapped(int) string }) string {
		return s.FlagUsagesWrapped(max(60, min(a.width, 100)))
	})
	cobra.AddTemplateFunc("reflow", func(text string) string { return reflow(text, min(a.width, 100)) })
	names := format.Names()
	last := len(names) - 1
	formats := strings.Join(names[:last], ", ") + " and " + names[last]
	root := &cobra.Command{
		Use:   "sortid",
		Short: "make, read, convert and check time-sortable IDs",
		Long: `sortid makes, reads, converts and checks time-sortable IDs of the formats
` + formats + `. "sortid formats" helps to choose one.

Commands that read IDs take them as arguments, or one per line from standard input
if there is no argument or the argument is "-". A bad line is reported on standard
error with its number and the reason, and the command goes on with the next one.

Exit codes: 0; 1 for bad input or another failure; 2 for wrong usage.`,
		Example: `  sortid new scru128 -n 3
  sortid inspect 0372ijojuxuhjsfkeryi2mrtm
  sortid convert --to uuid 0372ijojuxuhjsfkeryi2mrtm
  sortid bounds scru128 --from -7d --to now -o sql
  tail -f app.log | sortid scan`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		// An error before this point is wrong usage.
		PersistentPreRun: func(*cobra.Command, []string) { a.started = true },
		RunE:             func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.DisableAutoGenTag = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
			var known []string
			cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
			if near := nearest(unknown.GetSpecifiedName(), known); near != "" {
				return fmt.Errorf("%w; did you mean --%s?", err, near)
			}
		}
		var invalid *pflag.InvalidValueError
		var number *strconv.NumError
		if errors.As(err, &invalid) && errors.As(err, &number) {
			want := "a whole number"
			switch kind := invalid.GetFlag().Value.Type(); {
			case errors.Is(number, strconv.ErrRange):
				want = "a smaller number"
			case strings.HasPrefix(kind, "float"):
				want = "a number"
			case kind == "bool":
				want = "true or false"
			}
			return fmt.Errorf("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), want)
		}
		if unknown != nil && strings.Contains(cmd.Use, "[ID...") && !flagLike(unknown.GetSpecifiedName()) {
			return fmt.Errorf("%w; an ID that begins with \"-\" goes after \"--\"", err)
		}
		return err
	})
	a.terminalFlags(root)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetUsageTemplate(usageTemplate)
	root.SetHelpTemplate(helpTemplate)
	root.SetHelpCommand(help())
	root.AddCommand(a.newCommand(), a.inspectCommand(), a.scanCommand(), a.convertCommand(), a.boundsCommand(),
		a.formatsCommand(), a.planCommand(), a.verifyCommand(), a.leaseCommand(), a.serveCommand(), a.sqlCommand(),
		a.pageCommand(), a.manCommand())
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" { // cobra's would ignore an unknown shell
			cmd.Args = noCommand
			cmd.RunE = func(cmd *cobra.Command, args []string) error { return cmd.Help() }
		}
	}
	return root
}

// flagLike reports whether somebody who typed the name meant a flag, and not an ID.
func flagLike(name string) bool {
	return len(name) > 1 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == ""
}

// help returns a replacement for cobra's help command, which ignores unknown commands.
func help() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "help about any command",
		Long:    "help shows what a command does, what flags it takes, and examples.",
		Example: "  sortid help new",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			if at, _, err := cmd.Root().Find(args); err == nil {
				for _, sub := range at.Commands() {
					if !sub.Hidden {
						names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
					}
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

// noCommand returns an error if there are arguments: they name no command.
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

// helpTemplate is cobra's, with paragraphs that wrap.
const helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces | reflow}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// usageTemplate is like cobra's, but wraps the descriptions of flags.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{flags .LocalFlags | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of all commands:
{{flags .InheritedFlags | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" tells more about a command.{{end}}
`

// version returns what --version prints: the released version, or in a clone the commit.
func version() string {
	v := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
