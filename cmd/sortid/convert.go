package main

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/flags"
	"github.com/sortid/sortid/cmd/sortid/internal/input"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/textcodec"
)

func convertCommand(c *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "convert [ID...|-] --to ENCODING|FORMAT",
		Short:             "write IDs in another encoding or format",
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	given := flags.ChooseFormats(cmd, "format", "FORMAT",
		"the format of all IDs (default: a guess for each)", format.All())
	layout := flags.ChooseLayout(cmd)
	from := chooseFrom(cmd)
	var to target
	cmd.Flags().Var(&to, "to",
		"what to write: text, hex, int, uuid, base58, base62, base64, time, guid, sqlserver, java, "+
			"mysql, or the `FORMAT` to convert to")
	cmd.RegisterFlagCompletionFunc("to",
		cobra.FixedCompletions(targets(), cobra.ShellCompDirectiveNoFileComp))

	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if to.name == "" {
			return console.UsageErrorf("convert wants --to text, hex, int, uuid, time or a format")
		}
		if given.List, err = layout.Apply(given.List); err != nil {
			return err
		}
		in := inspect.Reader{Format: given.One(), From: format.Encoding(from.Value)}
		for _, encoding := range []format.Encoding{in.From, to.encoding} {
			if in.Format == nil || !slices.Contains(encodings, encoding) {
				continue
			}
			if err := spec.Of(in.Format).CheckEncoding(spec.Encoding(encoding)); err != nil {
				return console.UsageError(err)
			}
		}
		return input.Texts(c, args, workersOf(in, false, func(b []byte, r *inspect.Reading,
			err error) ([]byte, error) {
			if err == nil {
				b, err = to.append(b, r)
			}
			return append(b, '\n'), err
		}))
	}
	return cmd
}

// chooseFrom adds the flag for the encoding of the input.
func chooseFrom(cmd *cobra.Command) *flags.Choice {
	names := slices.Concat([]string{"text", "hex", "int", "uuid"}, inspect.Bases, inspect.Orders)
	return flags.Choose(cmd, "from", "", "the `ENCODING` of all IDs (default: a guess for each)", "",
		names...)
}

// A target is what to write: an encoding, the number in a base, the time or a format.
type target struct {
	name     string
	encoding format.Encoding
	base     string
	order    string // of the bytes of the encoding UUID
	format   *format.Format
}

// append appends what to write for a reading.
func (t *target) append(b []byte, r *inspect.Reading) ([]byte, error) {
	if t.name == "time" {
		return r.AppendTime(b)
	}
	if err := r.Exact(); err != nil {
		return b, err
	}
	if t.base != "" {
		text := r.InBase(t.base)
		if slices.ContainsFunc(r.Others,
			func(g inspect.Guess) bool { return g.InBase(t.base) != text }) {
			return b, r.Sure()
		}
		return append(b, text...), nil
	}
	if t.encoding != "" && len(r.Others) > 0 {
		if text := r.Agreed(t.encoding); text != "" {
			return t.reorder(append(b, text...)), nil
		}
	}
	if t.format != nil {
		return t.appendAs(b, r)
	}
	if err := r.Sure(); err != nil {
		return b, err
	}
	if !r.Given { // convert has checked the named format
		if err := spec.Of(r.ID.Format()).CheckEncoding(spec.Encoding(t.encoding)); err != nil {
			return b, err
		}
	}
	if t.encoding == format.Text {
		b = append(b, r.Prefix...)
	}
	return t.reorder(r.ID.Append(b, t.encoding)), nil
}

// reorder replaces a UUID at the end of b by its bytes in the target's order, if there is one.
func (t *target) reorder(b []byte) []byte {
	if t.order == "" {
		return b
	}
	n := len(b) - textcodec.UUIDLen
	uuid, _ := spec.UUIDBytes(string(b[n:]))
	written := spec.InOrder(t.order, uuid)
	return hex.AppendEncode(b[:n], written[:])
}

// appendAs appends the ID in the target's format. Readings that have no such ID do not matter.
func (t *target) appendAs(b []byte, r *inspect.Reading) ([]byte, error) {
	id, err := r.ID.As(t.format)
	sure := err == nil && !r.WordLike
	for i := range r.Others {
		other, otherErr := r.Others[i].ID.As(t.format)
		sure = sure && (otherErr != nil || other == id)
	}
	if !sure {
		if unsure := r.Sure(); unsure != nil {
			err = unsure
		}
	}
	if err != nil {
		return b, err
	}
	return id.Append(b, t.format.Encodings()[0]), nil
}

func (t *target) String() string { return t.name }
func (t *target) Type() string   { return "FORMAT" }
func (t *target) Set(name string) error {
	*t = target{name: strings.ToLower(name)}
	if t.name == "time" {
		return nil
	}
	if slices.Contains(inspect.Bases, t.name) {
		t.base = t.name
		return nil
	}
	if slices.Contains(inspect.Orders, t.name) {
		t.encoding, t.order = format.UUID, t.name
		return nil
	}
	if e := format.Encoding(t.name); slices.Contains(encodings, e) {
		t.encoding = e
		return nil
	}
	var err error
	if t.format, err = format.Lookup(name); err != nil {
		return flags.Unknown("encoding or format", name, targets())
	}
	return nil
}

var encodings = []format.Encoding{format.Text, format.Hex, format.Int, format.UUID}

func targets() (names []string) {
	for _, e := range encodings {
		names = append(names, string(e))
	}
	names = append(append(append(names, inspect.Bases...), inspect.Orders...), "time")
	return append(names, catalog.Names(format.All())...)
}
