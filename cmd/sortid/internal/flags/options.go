package flags

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/spf13/cobra"
)

type Options struct {
	cmd   *cobra.Command
	names []string
}

// ChooseOptions adds flags for the options of our formats.
func ChooseOptions(cmd *cobra.Command) *Options {
	options := &Options{cmd: cmd}
	usage := map[string]string{}
	for _, f := range format.Ours() {
		for _, o := range generate.OptionsOf(f) {
			if allHave(o.Name) {
				usage[o.Name] = o.Usage
			} else {
				usage[o.Name] += "; " + f.Name() + ": " + o.Usage
			}
			if cmd.Flags().Lookup(o.Name) != nil {
				continue
			}
			options.names = append(options.names, o.Name)
			if o.Value == "" {
				cmd.Flags().Bool(o.Name, false, "")
			} else {
				cmd.Flags().Var(&optionFlag{kind: o.Value}, o.Name, "")
			}
		}
	}
	for name, text := range usage {
		cmd.Flags().Lookup(name).Usage = strings.TrimPrefix(text, "; ")
	}
	cmd.RegisterFlagCompletionFunc("rollback",
		cobra.FixedCompletions([]string{"reset", "abort", "wait"},
			cobra.ShellCompDirectiveNoFileComp))
	return options
}

// allHave reports whether all our formats have the option.
func allHave(name string) bool {
	return !slices.ContainsFunc(format.Ours(), func(f *format.Format) bool {
		return !slices.ContainsFunc(generate.OptionsOf(f),
			func(o generate.Option) bool { return o.Name == name })
	})
}

// Values returns a format's options. With a lease, the node ID may be missing.
func (options *Options) Values(f *format.Format, leased bool) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range options.names {
		if flag := options.cmd.Flags().Lookup(name); flag.Changed {
			values[name] = flag.Value.String()
		}
	}
	node, _ := generate.NodeOption(f)
	for _, o := range generate.OptionsOf(f) {
		if _, given := values[o.Name]; given || o.Env == "" || leased && o.Name == node.Name {
			continue
		}
		if value, ok := os.LookupEnv(o.Env); ok {
			values[o.Name] = value
		} else if o.Needed {
			return nil, console.UsageErrorf(
				"%s needs --%s %s or the environment variable %s, or --lease URL: %s", f.Name(),
				o.Name, o.Value, o.Env, o.Usage)
		}
	}
	return values, nil
}

// OptionError returns a usage error for a wrong option, with the names of flags. It returns other
// errors unchanged.
func OptionError(err error) error {
	var wrong *sortid.OptionError
	if !errors.As(err, &wrong) {
		return err
	}
	return console.UsageErrorf("%s", wrong.Text("--"))
}

type optionFlag struct{ value, kind string }

func (f *optionFlag) String() string     { return f.value }
func (f *optionFlag) Type() string       { return f.kind }
func (f *optionFlag) Set(s string) error { f.value = s; return nil }
