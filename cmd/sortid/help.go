package main

import (
	"embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"text/template"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/cmd/sortid/internal/supervise"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/store"
)

func addHelp(c *console.Console, root *cobra.Command) {
	width := func() int { return min(c.Width, 100) }
	functions := template.FuncMap{
		"flags": func(s interface{ FlagUsagesWrapped(int) string }) string {
			return trimRight(s.FlagUsagesWrapped(max(60, width())))
		},
		"reflow": func(text string) string { return console.Reflow(trimRight(text), width()) },
		"row": func(name string, padding int, text string) string {
			return console.Item(fmt.Sprintf("  %-*s ", padding, name), text, width())
		},
	}
	// Most runs print no help, so templates and texts are read only when one does.
	execute := func(w io.Writer, text string, cmd *cobra.Command) error {
		describe(cmd)
		return template.Must(template.New("").Funcs(functions).Parse(text)).Execute(w, cmd)
	}
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		return execute(cmd.OutOrStderr(), usageTemplate, cmd)
	})
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if err := execute(cmd.OutOrStdout(), helpTemplate, cmd); err != nil {
			cmd.PrintErrln(err)
		}
	})
	root.SetHelpCommand(helpCommand())
}

func trimRight(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

//go:embed help/*.txt
var texts embed.FS

// values replaces the placeholders in the texts.
var values = sync.OnceValue(func() *strings.Replacer {
	names := catalog.Names(format.Ours())
	last := len(names) - 1
	return strings.NewReplacer("{formats}", strings.Join(names[:last], ", ")+" and "+names[last],
		"{unnamed}", strings.Join(unnamed(), ", "), "{times}", flags.Times, "{urls}\n", storeURLs(),
		"{windows}\n", supervise.Table(), "{window}", nodeid.UsualPace.Window.String())
})

// describe sets the text and the examples of cmd.
func describe(cmd *cobra.Command) {
	b, err := texts.ReadFile("help/" + pathName(cmd) + ".txt")
	if err != nil {
		return // cobra describes its own commands
	}
	text, examples, _ := strings.Cut(values().Replace(string(b)), "\nExamples:\n")
	cmd.Long, cmd.Example = strings.TrimSuffix(text, "\n"), strings.TrimSuffix(examples, "\n")
}

// pathName returns a command's path without the program's name, as in "lease-exec".
func pathName(cmd *cobra.Command) string {
	path := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	return strings.TrimPrefix(path, cmd.Root().Name()+"-")
}

// unnamed returns the formats that scan finds without --format.
func unnamed() (names []string) {
	for _, f := range format.All() {
		if !spec.Of(f).Search.WordLike && !spec.Of(f).Search.Named {
			names = append(names, f.Name())
		}
	}
	return names
}

func storeURLs() string {
	var b strings.Builder
	forms, kinds := store.Forms()
	for i := range forms {
		fmt.Fprintf(&b, "    %-18s%s\n", kinds[i], forms[i])
	}
	return b.String()
}

// helpCommand replaces cobra's help command, which ignores unknown commands.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "help about any command",
		Long:    "help shows what a command does, its flags, and examples.",
		Example: "  sortid help new",
		ValidArgsFunction: func(cmd *cobra.Command, args []string,
			_ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
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
				err = flags.NoCommand(about, rest)
			}
			if err != nil {
				return console.UsageError(err)
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

// helpTemplate is cobra's template, but wraps paragraphs.
const helpTemplate = `{{with (or .Long .Short)}}{{reflow .}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

// usageTemplate is cobra's template, but wraps descriptions of flags.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
{{row .Name .NamePadding .Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{flags .LocalFlags}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of all commands:
{{flags .InheritedFlags}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" describes a command.{{end}}
`

// version returns the versions of sortid and Go, and the system.
func version() string {
	return fmt.Sprintf("%s, %s %s/%s", release(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release returns the version of sortid alone.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
