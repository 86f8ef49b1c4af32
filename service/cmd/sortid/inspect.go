package main

import (
	"time"

	"github.com/sortid/sortid/scheme"
	"github.com/spf13/cobra"
)

func (a *app) inspectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect [ID...|-]",
		Short: "show what is in IDs",
		Long: `inspect shows the bits, the fields and the time of IDs, and their other forms.

The format is found out by length, alphabet, check symbols and a plausible time,
from the format's own text, a UUID, a hexadecimal number at full width or a
decimal integer; inspect says why, and lists other readings. --scheme tells it,
and takes IDs of any time.

An ID that begins with "-", as some of uid60 do, goes after the argument "--".`,
		Example: `  sortid inspect 0372ijojuxuhjsfkeryi2mrtm
  sortid inspect --scheme scru64 --node-size 8 0u2pf62ji4b9
  sortid inspect 017fef39-c264-1ba5-6a94-83188841e05a
  sortid inspect -- -inaS8QBh
  tail -f ids.txt | sortid inspect -o json`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	given := chooseScheme(cmd, "the scheme of all the IDs, instead of finding out")
	output := choose(cmd, "output", "o", "a picture of each ID, or a JSON object in a line", "card", "card", "json")
	size := cmd.Flags().Int("node-size", 0, "the size of the node ID in `BITS`, to tell node ID and counter of scru64 apart")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var r scheme.Reading
		if cmd.Flags().Changed("node-size") {
			var err error
			if r.Split, err = scheme.SplitNode(*size); err != nil {
				return usagef("--node-size: %w", err)
			}
			if given.Scheme != nil && given.Scheme != scheme.SCRU64 {
				return usagef("--node-size is for scru64, and --scheme says %s", given.Name)
			}
		}
		first := true
		return a.texts(args, func(b []byte, text string) ([]byte, error) {
			if err := r.Inspect(given.Scheme, text); err != nil {
				return b, err
			}
			if output.value == "json" {
				return append(r.AppendJSON(b), '\n'), nil
			}
			if !first {
				b = append(b, '\n')
			}
			first = false
			return a.card(b, &r, time.Now()), nil
		})
	}
	return cmd
}

func (a *app) convertCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "convert [ID...|-] --to FORM",
		Short: "write IDs in another form",
		Long: `convert writes IDs in another form: the format's own text, a hexadecimal number at
full width, a decimal integer, or a UUID (for IDs of 128 bits).

Scheme and form are found out as "sortid inspect" does, unless --scheme and --from
tell them. An ID that begins with "-" goes after the argument "--".`,
		Example: `  sortid convert --to uuid 0372ijojuxuhjsfkeryi2mrtm
  sortid convert --scheme scru64 --from int --to text 109959589539758421
  sortid new scru128 -n 5 | sortid convert --to hex`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	given := chooseScheme(cmd, "the scheme of all the IDs, instead of finding out")
	forms := []string{"text", "hex", "int", "uuid"}
	from := choose(cmd, "from", "", "the form that the IDs are in, instead of finding out", "", forms...)
	to := choose(cmd, "to", "", "the form to write", "", forms...)

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to.value == "" {
			return usagef("convert wants --to text, hex, int or uuid")
		}
		if given.Scheme != nil {
			for _, form := range []string{from.value, to.value} {
				if form == "" {
					continue
				}
				if err := given.CheckForm(scheme.Form(form)); err != nil {
					return usageError{err}
				}
			}
		}
		var r scheme.Reading
		return a.texts(args, func(b []byte, text string) ([]byte, error) {
			id, err := read(&r, given.Scheme, scheme.Form(from.value), text)
			if err == nil {
				err = id.Scheme().CheckForm(scheme.Form(to.value))
			}
			if err != nil {
				return b, err
			}
			return append(id.Append(b, scheme.Form(to.value)), '\n'), nil
		})
	}
	return cmd
}

// read reads a text, given the scheme or nil, and the form or none.
func read(r *scheme.Reading, s *scheme.Scheme, from scheme.Form, text string) (scheme.ID, error) {
	if s != nil && from != "" {
		return s.ParseAs(from, text)
	}
	if err := r.Inspect(s, text); err != nil {
		return scheme.ID{}, err
	}
	if from == "" || r.Form == from {
		return r.ID, nil
	}
	for _, c := range r.Others {
		if c.Form == from {
			return c.ID, nil
		}
	}
	return scheme.ID{}, &formError{text, from, r.Candidate}
}

// A formError is a text that is not of the form that it should be of.
type formError struct {
	text  string
	form  scheme.Form
	found scheme.Candidate
}

func (e *formError) Error() string {
	return "no scheme reads " + e.text + " as " + string(e.form) + " with a plausible time, but " +
		e.found.ID.Scheme().Name + " as " + string(e.found.Form) + "; --scheme tells which to use"
}
