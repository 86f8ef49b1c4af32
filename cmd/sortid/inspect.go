package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/spf13/cobra"
)

// plausibility is the rule by which a format is guessed, as help texts state it.
const plausibility = `A guess counts only if the ID's time is plausible: from 2010 (uid60: from 2018-04)
to a year from now.`

// shared are the formats in which node ID and counter share a field.
var shared = slices.DeleteFunc(format.Ours(), func(s *format.Format) bool { return s.NodeCounter == 0 })

var sharedNames = strings.Join(format.NamesOf(shared), ", ")

func (a *app) inspectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect [ID...|-]",
		Short: "show what is in IDs",
		Long: `inspect shows the bits, the fields and the time of IDs, and their other encodings.

The format is found out by length, alphabet, check symbols and time, from the
format's own text, a UUID, a hexadecimal number at full width or a decimal
integer; inspect says why, and lists other readings. ` + plausibility + `
--format tells the format, and takes IDs of any time.

IDs of other formats are named, with their time: UUIDs of RFC 9562, ULID, KSUID,
xid, ObjectID, TypeID and Snowflakes.

Quotes, brackets, braces, a comma at the end, urn:uuid:, 0x, blanks, and hyphens in
an EUID are taken off first. An ID that begins with "-", as some of uid60 do, goes
after the argument "--".

--template is a template of Go's text/template with .Input, .Format, .Encoding, .Text,
.Hex, .Int, .UUID, .Time (.Time.Unix and so on, too), .Fields.NAME, .Plausible,
.Foreign (true for other formats) and .Reason.`,
		Example: `  sortid inspect 0372ijojuxuhjsfkeryi2mrtm
  sortid inspect --format scru64 --node-bits 8 0u2pf62ji4b9
  sortid inspect 017fef39-c264-1ba5-6a94-83188841e05a
  sortid inspect --template '{{.Time}} {{.Format}} {{.Fields.timestamp}}' 0u2pf62ji4b9
  sortid inspect -- -inaS8QBh
  tail -f ids.txt | sortid inspect -o json`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	given := chooseFormat(cmd, "the format of all the IDs, instead of finding out")
	output := choose(cmd, "output", "o", "a picture of each ID, its time, format and fields in a line, or a JSON object in a line", "card", "card", "short", "json")
	layout := cmd.Flags().String("template", "", "print each ID by a `TEMPLATE`")
	size := cmd.Flags().Int("node-bits", 0, "the size of the node ID in `BITS`, to tell node ID and counter of "+sharedNames+" apart")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		split := cmd.Flags().Changed("node-bits")
		if split {
			for _, s := range shared {
				if _, err := s.SplitNode(*size); err != nil {
					return usagef("--node-bits: %w", err)
				}
			}
			if given.Format != nil && given.NodeCounter == 0 {
				return usagef("--node-bits is for %s, and --format says %s", sharedNames, given.Name)
			}
		}
		write := map[string]func(b []byte, r *reading) ([]byte, error){
			"short": appendShort,
			"json": func(b []byte, r *reading) ([]byte, error) {
				b, err := r.appendJSON(b)
				return append(b, '\n'), err
			},
			"card": a.cards(),
		}[output.value]
		if cmd.Flags().Changed("template") {
			if cmd.Flags().Changed("output") {
				return usagef("--template and --output exclude each other")
			}
			var err error
			if write, err = formatter(*layout); err != nil {
				return usagef("--template: %w", err)
			}
		}
		in := reader{format: given.Format}
		return a.texts(args, func(b []byte, text string) ([]byte, error) {
			r, err := in.read(text)
			if err != nil {
				return b, err
			}
			if split {
				if r.ID.Format().NodeCounter == 0 {
					return b, usagef("--node-bits is for %s, and %s is read as %s", sharedNames, quote(text), r.as())
				}
				if r.split, err = r.ID.Format().SplitNode(*size); err != nil {
					return b, usagef("--node-bits: %w", err)
				}
			}
			return write(b, &r)
		})
	}
	return cmd
}

// cards returns a function that appends one card after another.
func (a *app) cards() func(b []byte, r *reading) ([]byte, error) {
	first := true
	return func(b []byte, r *reading) ([]byte, error) {
		if !first {
			b = append(b, '\n')
		}
		first = false
		return a.card(b, r, time.Now()), nil
	}
}

// appendShort appends time, format and fields in a line.
func appendShort(b []byte, r *reading) ([]byte, error) {
	t := formatTime(r.time())
	if t == "" {
		t = "-"
	}
	if !r.ours() {
		return fmt.Appendf(b, "%s %s\n", t, r.name()), nil
	}
	b = fmt.Appendf(b, "%s %s", t, r.name())
	for _, v := range r.fields() {
		b = fmt.Appendf(b, " %s=%s", v.Name, v)
	}
	return append(b, '\n'), nil
}

// fields returns the named fields of the ID, with node ID and counter instead of the field that
// they share if they are to be shown.
func (r *reading) fields() []format.Value {
	values := r.ID.Fields()
	if r.split != nil {
		values = values[:1]
		for _, f := range r.split {
			values = append(values, f.Of(r.ID))
		}
	}
	return values
}

// A stamp is a time that prints as IDs' times do.
type stamp struct{ time.Time }

func (s stamp) String() string { return formatTime(s.Time) }

// templateData is what a template of --template can print.
type templateData struct {
	Input, Format, Encoding, Text, Hex, Int, UUID, Reason string

	Time               stamp
	Fields             map[string]string
	Plausible, Foreign bool
}

// formatter returns a function that prints readings by a template.
func formatter(layout string) (func(b []byte, r *reading) ([]byte, error), error) {
	t, err := template.New("template").Option("missingkey=zero").Parse(layout)
	if err != nil {
		return nil, plainTemplateError(err)
	}
	if err := t.Execute(io.Discard, templateData{}); err != nil {
		return nil, plainTemplateError(err)
	}
	return func(b []byte, r *reading) ([]byte, error) {
		d := templateData{
			Input: r.input, Format: r.name(), Encoding: string(r.encoding()), Text: r.text(), Reason: r.reason(),
			Time: stamp{r.time()}, Plausible: r.plausible(), Foreign: !r.ours(), Fields: map[string]string{},
		}
		if r.ours() {
			d.Hex, d.Int = r.ID.In(format.Hex), r.ID.In(format.Int)
			if r.ID.Format().HasEncoding(format.UUID) {
				d.UUID = r.ID.In(format.UUID)
			}
			for _, v := range r.ID.Fields() {
				d.Fields[v.Name] = v.String()
			}
			for _, v := range r.fields() {
				d.Fields[v.Name] = v.String()
			}
		}
		var line strings.Builder
		if err := t.Execute(&line, d); err != nil {
			return b, plainTemplateError(err)
		}
		return append(append(b, line.String()...), '\n'), nil
	}, nil
}

// plainTemplateError rids a template's error of the names of this program's types.
func plainTemplateError(err error) error {
	msg := strings.TrimPrefix(err.Error(), "template: format:")
	msg = strings.ReplaceAll(msg, "in type main.templateData", "")
	return fmt.Errorf("the template: %s", strings.TrimSpace(msg))
}
