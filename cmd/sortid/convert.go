package main

import (
	"fmt"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

func (a *app) convertCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "convert [ID...|-] --to ENCODING",
		Short: "write IDs in another encoding",
		Long: `convert writes IDs in another encoding: the format's own text, a hexadecimal number at
full width, a decimal integer, a UUID (for IDs of 128 bits), or the time alone.

Format and encoding are found out as "sortid inspect" does, unless --format and --from
tell them. Where that is not sure, because a text can be read in several ways or
looks like a uid60, as many words do, convert asks for --format. ` + plausibility + `

An ID that begins with "-" goes after the argument "--".`,
		Example: `  sortid convert --to uuid 0372ijojuxuhjsfkeryi2mrtm
  sortid convert --format scru64 --from int --to text 109959589539758421
  sortid convert --to time 01ARZ3NDEKTSV4RRFFQ69G5FAV
  sortid new scru128 -n 5 | sortid convert --to hex`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	given := chooseFormat(cmd, "the format of all the IDs, instead of finding out")
	encodings := []string{"text", "hex", "int", "uuid"}
	from := choose(cmd, "from", "", "the `ENCODING` that the IDs are in, instead of finding out", "", encodings...)
	to := choose(cmd, "to", "", "the `ENCODING` to write", "", append(encodings[:len(encodings):len(encodings)], "time")...)

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to.value == "" {
			return usagef("convert wants --to text, hex, int, uuid or time")
		}
		if given.Format != nil {
			for _, encoding := range []string{from.value, to.value} {
				if encoding == "" || encoding == "time" {
					continue
				}
				if err := given.CheckEncoding(format.Encoding(encoding)); err != nil {
					return usageError{err}
				}
			}
		}
		in := reader{format: given.Format}
		return a.texts(args, func(b []byte, text string) ([]byte, error) {
			r, err := in.readAs(format.Encoding(from.value), text)
			switch {
			case err != nil:
				return b, err
			case to.value == "time":
				return r.appendTime(b)
			}
			if err := r.sure(); err != nil {
				return b, err
			}
			if !r.ours() {
				return b, fmt.Errorf("%s is of the format %s, of which convert writes the time only: --to time", quote(text), r.name())
			}
			encoding := format.Encoding(to.value)
			if err := r.ID.Format().CheckEncoding(encoding); err != nil {
				return b, err
			}
			return append(r.ID.Append(b, encoding), '\n'), nil
		})
	}
	return cmd
}

// readAs reads a text in an encoding, or in any if from is empty.
func (in *reader) readAs(from format.Encoding, text string) (reading, error) {
	if s := in.format; s != nil && from != "" {
		bare := text
		id, err := s.ParseAs(from, text)
		if err != nil {
			bare, _ = strip(text)
			id, err = s.ParseAs(from, bare)
		}
		return reading{input: text, now: time.Now(), guess: guess{Candidate: format.Candidate{ID: id, Encoding: from}}, given: true}, err
	}
	r, err := in.read(text)
	if err != nil || from == "" || r.given && r.Encoding == from {
		return r, err
	}
	found := r
	var fit []guess
	for _, g := range append([]guess{r.guess}, r.others...) {
		if g.ours() && g.Encoding == from {
			fit = append(fit, g)
		}
	}
	if len(fit) == 0 {
		return r, fmt.Errorf("no format reads %s as %s with a plausible time, but as %s; --format tells which to use", quote(text), from, found.as())
	}
	r.guess, r.others = fit[0], fit[1:]
	return r, nil
}

// appendTime appends the time in a line, of which all readings must be.
func (r *reading) appendTime(b []byte) ([]byte, error) {
	t := r.time()
	same := true
	for i := range r.others {
		same = same && r.others[i].time().Equal(t)
	}
	if !same || len(r.others) == 0 {
		if err := r.sure(); err != nil {
			return b, err
		}
	}
	if t.IsZero() {
		return b, fmt.Errorf("%s is %s, which has no time in it", quote(r.input), r.as())
	}
	return append(append(b, formatTime(t)...), '\n'), nil
}
