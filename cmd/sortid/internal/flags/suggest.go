package flags

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/sortid/sortid"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Unknown returns the error of a value that is not one of the known names.
func Unknown(what, name string, known []string) error {
	return &sortid.UnknownError{What: what, Name: name, Known: known}
}

// nearest returns the known name that the user probably means, or "".
func nearest(name string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), k); d < least && d < len(k) {
			best, least = k, d
		}
	}
	return best
}

// WithSuggestion extends an error about an unknown name by the name that the user probably means.
func WithSuggestion(err error) string {
	var unknown *sortid.UnknownError
	if errors.As(err, &unknown) && len(unknown.Name) < 64 {
		if near := nearest(unknown.Name, unknown.Known); near != "" {
			return fmt.Sprintf("%v; did you mean %q?", err, near)
		}
	}
	return err.Error()
}

// synonyms are names that users probably try instead of a flag's name.
var synonyms = map[string]string{"encoding": "output", "node-size": "node-bits"}

// Explain adds a hint to an error of pflag: what the user probably means, or what the flag accepts.
func Explain(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		near := synonyms[unknown.GetSpecifiedName()]
		if !slices.Contains(known, near) {
			near = nearest(unknown.GetSpecifiedName(), known)
		}
		if near != "" {
			return fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && strings.Contains(invalid.GetValue(), "{{") &&
		cmd.Flags().Lookup("template") != nil {
		return fmt.Errorf("%w; use --template for a template", err)
	}
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
	if unknown != nil && strings.Contains(cmd.Use, "[ID...") &&
		!flagLike(unknown.GetSpecifiedName()) {
		return fmt.Errorf("%w; put an ID that begins with \"-\" after \"--\"", err)
	}
	return err
}

// CheckExclusive returns an error if flags exclude each other. Cobra makes the same check later,
// with an error that is harder to read.
func CheckExclusive(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, group := range f.Annotations["cobra_annotation_mutually_exclusive"] {
			given := slices.DeleteFunc(strings.Fields(group),
				func(name string) bool { return !cmd.Flags().Changed(name) })
			if len(given) > 1 {
				err = console.UsageErrorf("--%s exclude each other", strings.Join(given, " and --"))
			}
		}
	})
	return err
}

func flagLike(name string) bool {
	return len(name) > 1 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") == ""
}
