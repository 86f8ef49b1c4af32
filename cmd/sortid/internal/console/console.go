// Package console connects a command with its user: texts, colours, progress, questions, signals
// and exit codes.
package console

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/fatih/color"
	"github.com/muesli/reflow/wordwrap"
	"golang.org/x/term"
)

type Console struct {
	In       io.Reader
	Out, Err io.Writer

	InTerminal, OutTerminal, ErrTerminal bool

	Colours bool // whether Out shows colours
	Width   int  // of Out, in characters
	Quiet   bool // no progress, no notes

	ErrWidth int // of Err, in characters; 0 if Err is no terminal

	blocks int // how many WriteBlock has written

	mu    sync.Mutex
	drawn bool // a Progress is on the current line of Err
}

func New() *Console {
	return &Console{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		Colours:     wantColours(),
		Width:       terminalWidth(os.Stdout, 80),
		ErrWidth:    terminalWidth(os.Stderr, 0),
	}
}

// wantColours decides for "--color auto". NO_COLOR forbids colours, and CLICOLOR_FORCE demands
// them. If neither is set, a terminal gets colours if it can show them.
func wantColours() bool {
	if force := os.Getenv("CLICOLOR_FORCE"); force != "" && force != "0" &&
		os.Getenv("NO_COLOR") == "" {
		return true
	}
	return !color.NoColor
}

// terminalWidth returns a terminal's width in characters, or fallback if f is no terminal.
func terminalWidth(f *os.File, fallback int) int {
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		return w
	}
	return fallback
}

// Say writes a line to standard error, and first erases a [Progress] there. It escapes control
// characters, because the text may come from a server. It wraps the line only on a terminal, so
// that programs read whole lines.
func (c *Console) Say(format string, args ...any) {
	line := Wrap("sortid: "+Printable(fmt.Sprintf(format, args...)), c.ErrWidth, "") + "\n"
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.drawn {
		line = "\r\x1b[K" + line
	}
	c.drawn = false
	io.WriteString(c.Err, line)
}

// WriteBlock writes a block of the output. If Out is a pipe, it enlarges the pipe before the second
// block, because the output may be long.
func (c *Console) WriteBlock(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if c.blocks++; c.blocks == 2 {
		Widen(c.Out)
	}
	_, err := c.Out.Write(b)
	return err
}

// Printable escapes characters that control a terminal or the direction of text.
func Printable(s string) string {
	quoted := strconv.QuoteToGraphic(s)
	return unquoted.Replace(quoted[1 : len(quoted)-1])
}

var unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// Wrap breaks a text between words into lines of at most width characters; 0 means no limit. It
// indents all lines except the first.
func Wrap(text string, width int, indent string) string {
	if width <= 0 {
		return text
	}
	w := wordwrap.NewWriter(width)
	w.Breakpoints = nil
	w.Write([]byte(text))
	w.Close()
	return strings.ReplaceAll(w.String(), "\n", "\n"+indent)
}

// Hang wraps a text for Out, with a left margin of this width. The caller writes the margin of the
// first line. Hang writes blanks before the other lines.
func (c *Console) Hang(text string, margin int) string {
	return Wrap(text, max(c.Width-margin, 20), strings.Repeat(" ", margin))
}

// Reflow wraps a help text's paragraphs and lists. A list item is an indented line, with two or
// more blanks between its term and its text.
func Reflow(text string, width int) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var parts []string // Reflow wraps each by itself
		for line := range strings.SplitSeq(paragraph, "\n") {
			prefix, _ := cutTerm(line)
			joins := len(parts) > 0 && (prefix == "" || strings.TrimSpace(prefix) == "")
			if joins {
				parts[len(parts)-1] += " " + strings.TrimLeft(line, " ")
			} else {
				parts = append(parts, line)
			}
		}
		for i, part := range parts {
			prefix, rest := cutTerm(part)
			parts[i] = Item(prefix, rest, width)
		}
		paragraphs = append(paragraphs, strings.Join(parts, "\n"))
	}
	return strings.Join(paragraphs, "\n\n")
}

// listTerm matches the blanks at the start of a line. In a list item it also matches the term.
var listTerm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ +(\S+( \S+)*  +)?`)
})

func cutTerm(line string) (prefix, text string) {
	prefix = listTerm().FindString(line)
	return prefix, line[len(prefix):]
}

// Item wraps a list item. If there is no room beside the term, the text begins below it.
func Item(prefix, text string, width int) string {
	longest := 0
	for word := range strings.FieldsSeq(text) {
		longest = max(longest, len(word))
	}
	indent := len(prefix)
	if width > 0 && indent+longest > width {
		lead := len(prefix) - len(strings.TrimLeft(prefix, " "))
		indent = lead + 2
		prefix = strings.TrimRight(prefix, " ") + "\n" + strings.Repeat(" ", indent)
	}
	return prefix + Wrap(text, max(width-indent, 20), strings.Repeat(" ", indent))
}

var (
	Plain   = color.New()
	Strong  = color.New(color.Bold)
	Faint   = color.New(color.Faint)
	Caution = color.New(color.FgYellow)
)

func (c *Console) Paint(style *color.Color, text string) string {
	if !c.Colours || style == Plain {
		return text
	}
	style.EnableColor()
	return style.Sprint(text)
}

// CanAsk fails if a question is needed, but nobody can answer.
func (c *Console) CanAsk(command string, yes bool) error {
	if yes || c.InTerminal {
		return nil
	}
	return UsageErrorf("%s needs confirmation, but standard input is not a terminal; use --yes",
		command)
}

// Confirm asks a question, and fails if the answer is neither "y" nor "yes". If the parameter
// confirmed is true, it does nothing.
func (c *Console) Confirm(confirmed bool, format string, args ...any) error {
	if confirmed {
		return nil
	}
	fmt.Fprintf(c.Err, format+" [y/N] ", args...)
	answer, _ := bufio.NewReader(c.In).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	if answer != "y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}
