package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/cmd/sortid/internal/ordered"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/spec"
	"github.com/spf13/cobra"
)

func newCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "new [FORMAT]",
		Short:             "make IDs",
		ValidArgsFunction: flags.CompleteFormat(format.Ours()),
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return flags.OneFormat(lookUpGenerator)(cmd, args)
	}
	m := &making{console: c, cmd: cmd, count: 1}
	f := cmd.Flags()
	f.VarP(&m.count, "count", "n", "how many IDs")
	f.BoolVar(&m.forever, "forever", false, "make IDs without end")
	f.Var(&m.rate, "rate",
		"IDs a second, on average since the start (default: as many as possible)")
	f.Lookup("rate").DefValue = "0"
	m.output = flags.Choose(cmd, "output", "o", "the `ENCODING` of the IDs", "text", "text", "hex",
		"int", "uuid", "json")
	f.StringVar(&m.at, "at", "", "make IDs of this `TIME` (see sortid bounds --help), "+
		"or with - an ID for each line of standard input, which is a time")
	f.StringVar(&m.lease.URL, "lease", "",
		"lease the node ID from the store or the server at this `URL`, such as bolt:PATH "+
			"(see sortid lease --help)")
	m.lease.AddFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("forever", "count")
	m.options = flags.ChooseOptions(cmd)

	cmd.RunE = func(_ *cobra.Command, args []string) (err error) {
		if len(args) == 0 {
			args = []string{"scru128"}
		}
		if m.format, err = generate.Lookup(args[0]); err != nil {
			return err
		}
		return m.run()
	}
	return cmd
}

// lookUpGenerator returns a format that the command makes. If it only reads the format, the error
// says which format to use instead.
func lookUpGenerator(name string) (*format.Format, error) {
	f, err := generate.Lookup(name)
	if err == nil {
		return f, nil
	}
	other, known := format.Lookup(name)
	if known != nil {
		return nil, err
	}
	instead := "scru128"
	switch {
	case slices.Contains(other.Encodings(), format.UUID):
		instead += " -o uuid"
	case other.Bits() <= 64:
		instead = "scru64 or uid60"
	}
	return nil, fmt.Errorf("sortid reads %s, but does not make it; use %s, "+
		"or a generator that follows %s", other.Name(), instead, other.Source())
}

type making struct {
	console *console.Console
	cmd     *cobra.Command
	format  *format.Format

	count   flags.Count
	rate    flags.Rate
	forever bool
	output  *flags.Choice
	at      string
	lease   nodeid.Options
	options *flags.Options
}

// run checks all flags before it leases a node ID.
func (m *making) run() error {
	if m.at == "-" {
		return m.runTimes()
	}
	how, err := m.how()
	if err != nil {
		return err
	}
	options, holder, err := m.generatorOptions()
	if err != nil {
		return err
	}
	g, err := generate.New(m.format, options)
	if err != nil {
		return console.UsageError(flags.OptionError(err))
	}
	how.Paced = !options.At.IsZero()
	ctx, stop := console.UntilSignal()
	defer stop()
	if holder != nil {
		if err := holder.Acquire(ctx); err != nil {
			return console.Cause(ctx, err)
		}
		defer holder.Release()
		holder.Watch(ctx)
	}
	last, err := produce(ctx, m.console, g, how)
	node, _ := generate.NodeOption(m.format)
	if _, own := options.Values[node.Name]; own && options.At.IsZero() && last.Format() != nil {
		m.settle(last)
	}
	return console.Cause(ctx, err)
}

// runTimes makes an ID for each time in standard input.
func (m *making) runTimes() error {
	for _, name := range []string{"count", "forever", "rate", "lease"} {
		if m.cmd.Flags().Changed(name) {
			return console.UsageErrorf("--at - makes one ID for each line, so --%s has no use", name)
		}
	}
	if err := generate.CheckAt(m.format); err != nil {
		return console.UsageError(err)
	}
	appendID, err := m.encoder()
	if err != nil {
		return err
	}
	var o generate.Options
	if o.Values, err = m.options.Values(m.format, false); err != nil {
		return err
	}
	g, err := generate.New(m.format, o)
	if err != nil {
		return console.UsageError(flags.OptionError(err))
	}
	workers := make([]input.Worker, ordered.Workers())
	for i := range workers {
		workers[i].Append = func(b []byte, text string, now time.Time) ([]byte, error) {
			at, err := flags.ReadTime(text, now)
			if err != nil {
				return b, err
			}
			id, err := g.NextAt(at)
			if err != nil {
				return b, err
			}
			return append(appendID(b, id), '\n'), nil
		}
	}
	return input.Texts(m.console, nil, workers)
}

// encoder returns the function that appends an ID in the chosen encoding.
func (m *making) encoder() (func([]byte, format.ID) []byte, error) {
	if m.output.Value == "json" {
		return func(b []byte, id format.ID) []byte { return id.AppendJSON(b) }, nil
	}
	encoding := format.Encoding(m.output.Value)
	if err := spec.Of(m.format).CheckEncoding(spec.Encoding(encoding)); err != nil {
		return nil, console.UsageError(err)
	}
	return func(b []byte, id format.ID) []byte { return id.Append(b, encoding) }, nil
}

func (m *making) how() (how productionOptions, err error) {
	how = productionOptions{Encode: generate.Batch.AppendJSON, Count: uint64(m.count),
		Rate: float64(m.rate)}
	if m.forever {
		how.Count = math.MaxUint64
	}
	if m.output.Value != "json" {
		encoding := format.Encoding(m.output.Value)
		if err := spec.Of(m.format).CheckEncoding(spec.Encoding(encoding)); err != nil {
			return how, console.UsageError(err)
		}
		how.Encode = func(batch generate.Batch, b []byte, sep byte) []byte {
			return batch.Append(b, encoding, sep)
		}
	}
	return how, nil
}

// generatorOptions returns the options. For a leased node ID, it also returns the lease's holder.
func (m *making) generatorOptions() (o generate.Options, holder *nodeid.Holder, err error) {
	if o.At, err = flags.TimeOf("at", m.at, time.Now()); err != nil {
		return o, nil, err
	}
	leased, err := m.lease.Wanted(m.cmd)
	if err != nil {
		return o, nil, err
	}
	if o.Values, err = m.options.Values(m.format, leased); err != nil || !leased {
		return o, nil, err
	}
	if _, ok := generate.NodeOption(m.format); ok {
		err = m.lease.CheckBits(m.format)
	}
	holder = nodeid.NewHolder(m.console, &m.lease, m.format)
	o.Lease = holder
	return o, holder, err
}

// settle waits for the end of the last ID's tick. Before this end, another run with the same node
// ID could repeat IDs. A signal ends the wait.
func (m *making) settle(last format.ID) {
	wait := time.Until(last.Time().Add(m.format.Tick()))
	if wait > time.Second && !m.console.Quiet {
		fmt.Fprintf(m.console.Err, "sortid: waiting for %v until the clock has passed the last ID, "+
			"so that no later run makes that ID again\n", wait.Round(100*time.Millisecond))
	}
	ctx, stop := console.UntilSignal()
	defer stop()
	console.Sleep(ctx, wait)
}
