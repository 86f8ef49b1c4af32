package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/cmd/sortid/internal/ordered"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
)

// shared has the formats whose node ID and counter share a field.
var shared = slices.DeleteFunc(format.Ours(),
	func(s *format.Format) bool { return spec.Of(s).NodeCounter == 0 })

var sharedNames = strings.Join(catalog.Names(shared), ", ")

func inspectCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "inspect [ID...|-]",
		Short:             "show what is in IDs",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cmd.RunE = inspection(c, cmd)
	return cmd
}

// inspection adds the flags of inspect to cmd, and returns a function that inspects the arguments.
func inspection(c *console.Console,
	cmd *cobra.Command) func(cmd *cobra.Command, args []string) error {
	given := flags.ChooseFormats(cmd, "format", "FORMAT",
		"the format of all IDs (default: a guess for each)", format.All())
	own, from := flags.ChooseLayout(cmd), chooseFrom(cmd)
	output := flags.Choose(cmd, "output", "o",
		"a picture (card), a line with time, format and fields (short), or a line of JSON",
		"card", "card", "short", "json")
	layout := cmd.Flags().String("template", "", "print each ID with a `TEMPLATE`")
	cmd.MarkFlagsMutuallyExclusive("template", "output")
	size := cmd.Flags().Int("node-bits", 0,
		"the size of the node ID in `BITS`, to separate node ID and counter of "+sharedNames)

	return func(cmd *cobra.Command, args []string) (err error) {
		if given.List, err = own.Apply(given.List); err != nil {
			return err
		}
		in := inspect.Reader{Format: given.One(), From: format.Encoding(from.Value)}
		split := cmd.Flags().Changed("node-bits")
		if split {
			if err := checkNodeBits(*size, in.Format); err != nil {
				return err
			}
		}
		write := map[string]writer{"short": inspect.AppendShort, "json": appendObject,
			"card": cards(c)}[output.Value]
		if cmd.Flags().Changed("template") {
			if write, err = inspect.Template(*layout); err != nil {
				return console.UsageErrorf("--template: %w", err)
			}
		}
		if c.Quiet && !cmd.Flags().Changed("output") && !cmd.Flags().Changed("template") {
			write = func(b []byte, _ *inspect.Reading) ([]byte, error) { return b, nil }
		}
		command := cmd == cmd.Root()                 // the first argument may be a misspelt command
		inOrder := command || output.Value == "card" // a result depends on the texts before
		return input.Texts(c, args, workersOf(in, inOrder, func(b []byte, r *inspect.Reading,
			err error) ([]byte, error) {
			if command {
				if inspect.Unlike(err) {
					return b, console.UsageError(flags.NoCommand(cmd, args))
				}
				command = false
			}
			if err == nil && split {
				err = splitNode(r, *size)
			}
			if err != nil {
				return b, err
			}
			return write(b, r)
		}))
	}
}

// workersOf returns workers that read texts, each with a Reader of its own. The function appends the
// result for a reading, or for an error. If inOrder is true, there is only one worker.
func workersOf(in inspect.Reader, inOrder bool,
	result func(b []byte, r *inspect.Reading, err error) ([]byte, error)) []input.Worker {
	workers := make([]input.Worker, ordered.Workers())
	if inOrder {
		workers = workers[:1]
	}
	for i := range workers {
		own, r := in, new(inspect.Reading)
		workers[i] = input.Worker{Judge: &own.Judge, Append: func(b []byte, text string,
			now time.Time) ([]byte, error) {
			return result(b, r, own.Read(r, text, now))
		}}
	}
	return workers
}

func checkNodeBits(size int, given *format.Format) error {
	for _, s := range shared {
		if _, err := spec.Of(s).SplitNode(size); err != nil {
			return console.UsageErrorf("--node-bits: %w", err)
		}
	}
	if given != nil && spec.Of(given).NodeCounter == 0 {
		return console.UsageErrorf(
			"--node-bits is for %s, but --format is %s", sharedNames, given.Name())
	}
	return nil
}

func splitNode(r *inspect.Reading, size int) (err error) {
	if spec.Of(r.ID.Format()).NodeCounter == 0 {
		return console.UsageErrorf("--node-bits is for %s, but %s is read as %s", sharedNames,
			inspect.Quote(r.Input), r.As())
	}
	split, err := spec.Of(r.ID.Format()).SplitNode(size)
	for _, f := range split {
		r.Split = append(r.Split, format.Field{Name: f.Name, Bits: f.Bits, Low: f.Low,
			Kind: format.Kind(f.Kind), Meaning: f.Meaning})
	}
	return err
}

type writer = func(b []byte, r *inspect.Reading) ([]byte, error)

func appendObject(b []byte, r *inspect.Reading) ([]byte, error) {
	return append(r.AppendJSON(b, nil), '\n'), nil
}

func cards(c *console.Console) writer {
	first := true
	var last time.Time // of the card before
	return func(b []byte, r *inspect.Reading) ([]byte, error) {
		if !first {
			b = append(b, '\n')
		}
		first = false
		b = appendCard(c, b, r, time.Now())
		t := r.Time()
		if !last.IsZero() && !t.IsZero() {
			b = appendLine(c, b, "gap", gap(t, last)+" the ID before")
		}
		last = t
		return b, nil
	}
}
