package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/muesli/reflow/wordwrap"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Rules of terminals. Colours: --color decides; else NO_COLOR forbids them, CLICOLOR_FORCE
// asks for them, and else standard output has them if it is a terminal that can show them.
// Width: on a terminal, what people read wraps to its width at the ends of words; in files
// and pipes an error is one line, however long, so that other programs find it.

// terminalFlags adds the flags that all commands have.
func (a *app) terminalFlags(root *cobra.Command) {
	when := &choice{value: "auto", of: []string{"auto", "always", "never"}}
	root.PersistentFlags().Var(when, "color", "when to colour: auto, always or never")
	root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(when.of, cobra.ShellCompDirectiveNoFileComp))
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "show no progress and no notes, and do not name bad lines")
	before := root.PersistentPreRun
	root.PersistentPreRun = func(cmd *cobra.Command, args []string) {
		before(cmd, args)
		switch when.value {
		case "always":
			a.colours = true
		case "never":
			a.colours = false
		}
	}
}

// wantColours reports whether standard output shows colours unless a flag decides.
func wantColours() bool {
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" && os.Getenv("NO_COLOR") == "" {
		return true
	}
	return !color.NoColor
}

// terminalWidth returns the width of a terminal in characters, or otherwise if f is none.
func terminalWidth(f *os.File, otherwise int) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return otherwise
}

// complain tells on standard error what is wrong. The text may come from a server, so it is
// one line that does nothing to a terminal.
func (a *app) complain(format string, args ...any) {
	fmt.Fprintln(a.err, wrap("sortid: "+printable(fmt.Sprintf(format, args...)), a.errWidth, ""))
}

// printable shows as escapes what could do things to a terminal: control characters and
// those that change the direction of text.
func printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsGraphic(r) && (r != utf8.RuneError || strings.HasPrefix(s[i:], string(r))) {
			b.WriteRune(r)
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		quoted := strconv.Quote(s[i : i+size])
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// wrap breaks a text between words into lines of at most width characters, of which the
// second and later begin with indent. A width of 0 means no limit.
func wrap(text string, width int, indent string) string {
	if width <= 0 {
		return text
	}
	w := wordwrap.NewWriter(width)
	w.Breakpoints = nil
	w.Write([]byte(text))
	w.Close()
	return strings.ReplaceAll(w.String(), "\n", "\n"+indent)
}

// reflow wraps the paragraphs of a help text to a width. Lines that are indented, and those
// of lists, stay as they are.
func reflow(text string, width int) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(paragraph, " ") && !strings.Contains(paragraph, "\n ") {
			paragraph = wrap(strings.ReplaceAll(paragraph, "\n", " "), width, "")
		}
		paragraphs = append(paragraphs, paragraph)
	}
	return strings.Join(paragraphs, "\n\n")
}
