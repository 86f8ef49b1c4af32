package main

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
)

const (
	ids     = "0372ijojuxuhjsfkeryi2mrtm\n0372ijojv72wg67ujcqxx6g4y\n"
	trouble = -1 // 2 of scan, as of grep, and 1 of the other commands
)

// A manner is what a command does with an input that may surprise it.
type manner struct {
	name, args string
	in         string // the name of the file that is standard input; or none
	terminal   bool   // whether standard input is one
	out        string // the name of the file that is standard output
	code       int
	says       string // all of standard error
}

// An exception is what a command does instead, and why.
type exception struct {
	name, commands, why string
	code                int
	says                string
}

var manners = []manner{
	{name: "a missing file", args: "missing", code: trouble,
		says: "sortid: open missing: no such file or directory\n"},
	{name: "a secret file", args: "secret", code: trouble,
		says: "sortid: open secret: permission denied\n"},
	{name: "a folder", args: "folder", code: trouble, says: "sortid: folder: is a directory\n"},
	{name: "a folder as standard input", in: "folder", code: trouble,
		says: "sortid: standard input: is a directory\n"},
	{name: "a file", args: "ids"},
	{name: "standard input", in: "ids"},
	{name: "a hyphen", args: "-", in: "ids"},
	{name: "two hyphens", args: "- -", in: "ids"},
	{name: "gzip", in: "ids.gz"},
	{name: "UTF-16", in: "utf16"},
	{name: "lines of Windows", in: "windows"},
	{name: "cut short", in: "cut.gz", code: trouble,
		says: "sortid: standard input: the compressed data is cut short\n"},
	{name: "damaged", in: "damaged.gz", code: trouble,
		says: "sortid: standard input: cannot be decompressed: gzip: invalid header\n"},
	{name: "nothing", in: "empty"},
	{name: "no ID", in: "words", code: 1},
	{name: "zeros", in: "zeros", code: 1},
	{name: "a terminal", terminal: true, in: "ids",
		says: "sortid: reading IDs from the terminal, one in a line; Ctrl-D ends\n"},
	{name: "a quiet terminal", args: "-q", terminal: true, in: "ids"},
	{name: "the output", in: "same", out: "same", code: trouble,
		says: "sortid: standard input: is also the output, so it is not read; write to another file\n"},
	{name: "a full disk", in: "ids", out: "/dev/full", code: trouble,
		says: "sortid: write /dev/full: no space left on device\n"},
	{name: "a pipe that nobody reads", in: "ids", out: "|"},
	{name: "an unknown flag", args: "--zzz", code: 2,
		says: "sortid: unknown flag: --zzz\nRun 'sortid COMMAND --help' for help.\n"},
	{name: "an unknown format", args: "--format zzz", in: "ids", code: 2,
		says: "sortid: invalid argument \"zzz\" for \"--format\" flag: unknown format \"zzz\"; there are "},
}

const readers = "inspect convert"

var exceptions = []exception{
	{name: "a missing file", commands: readers, why: "arguments are IDs", code: 1,
		says: "sortid: argument 1: cannot tell what \"missing\" is: no format known to sortid has such IDs\n"},
	{name: "a folder", commands: readers, why: "arguments are IDs", code: 1,
		says: "sortid: argument 1: cannot tell what \"folder\" is: no format known to sortid has such IDs\n"},
	{name: "a secret file", commands: readers, why: "arguments are IDs", code: 1,
		says: "sortid: argument 1: cannot tell what \"secret\" is: no format known to sortid has such IDs\n"},
	{name: "a file", commands: readers, why: "arguments are IDs", code: 1,
		says: "sortid: argument 1: cannot tell what \"ids\" is: no format known to sortid has such IDs\n"},
	{name: "two hyphens", commands: "verify verify-unique", why: "there would be a report on nothing", code: 2,
		says: "sortid: standard input can be read only once\nRun 'sortid verify --help' for help.\n"},
	{name: "cut short", commands: "verify verify-unique", why: "the report says it", code: 1},
	{name: "nothing", commands: "scan", why: "as grep", code: 1},
	{name: "nothing", commands: "verify verify-unique", why: "nothing was tested, which must not look like success", code: 2,
		says: "sortid: standard input is empty, so there is no ID to check; "},
	{name: "no ID", commands: "sort", why: "all lines are printed",
		says: "sortid: no line has an ID, so all lines keep their order\n"},
	{name: "no ID", commands: readers, why: "they name each bad line", code: 1,
		says: "sortid: line 1: cannot tell what \"hello world\" is: no format known to sortid has such IDs\n"},
	{name: "zeros", commands: "scan", why: "as grep", code: 1,
		says: "sortid: standard input: binary file, skipped\n"},
	{name: "zeros", commands: "sort", why: "no line is lost"},
	{name: "zeros", commands: readers, why: "they name each bad line", code: 1,
		says: "sortid: line 1: cannot tell what \"a\\x00b 0372ijojuxuhjsfkeryi2mrtm\" is: other text is around "},
	{name: "a terminal", commands: "scan sort", why: "they find IDs in text",
		says: "sortid: reading text from the terminal; Ctrl-D ends\n"},
	{name: "an unknown format", commands: "verify verify-unique", why: "the format is an argument", code: 2,
		says: "sortid: unknown flag: --format"},
}

// Commands that read do the same with the same input. What differs has a reason in the table.
func TestManners(t *testing.T) {
	t.Chdir(t.TempDir())
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, ids)
	check.OK(t, z.Flush())
	cut := packed.String()
	check.OK(t, z.Close())
	utf16 := "\xff\xfe"
	for _, c := range ids {
		utf16 += string(c) + "\x00"
	}
	for name, text := range map[string]string{"ids": ids, "same": ids, "empty": "", "words": "hello world\n",
		"ids.gz": packed.String(), "cut.gz": cut, "damaged.gz": "\x1f\x8b01234567890123456789",
		"utf16": utf16, "windows": "\ufeff" + strings.ReplaceAll(ids, "\n", "\r\n"),
		"zeros": "a\x00b " + ids[:26]} {
		check.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	check.OK(t, os.Mkdir("folder", 0o700))
	check.OK(t, os.WriteFile("secret", []byte(ids), 0))
	_, forbidden := os.Open("secret") // root may open it
	commands := map[string]string{"scan": "scan", "sort": "sort", "inspect": "inspect -o short",
		"convert": "convert --to hex", "verify": "verify scru128", "verify-unique": "verify --unique scru128"}
	used := map[string]bool{}
	for _, m := range manners {
		for name, command := range commands {
			if m.args == "secret" && forbidden == nil {
				used["a secret file"+readers] = true
				continue
			}
			want := m
			if m.code == trouble {
				want.code = map[string]int{"scan": 2}[name]
				want.code = cmp.Or(want.code, 1)
			}
			for _, e := range exceptions {
				if e.name == m.name && slices.Contains(strings.Fields(e.commands), name) {
					want.code, want.says = e.code, e.says
					used[e.name+e.commands] = true
				}
			}
			code, says := m.run(t, command)
			says = strings.ReplaceAll(says, "'sortid "+strings.Fields(command)[0]+" ", "'sortid COMMAND ")
			want.says = strings.ReplaceAll(want.says, "'sortid verify ", "'sortid COMMAND ")
			if code != want.code || says != want.says &&
				(strings.HasSuffix(want.says, "\n") || want.says == "" || !strings.HasPrefix(says, want.says)) {
				t.Errorf("%s: %s: code %d and %q, want code %d and %q", m.name, command, code, says,
					want.code, want.says)
			}
		}
	}
	for _, e := range exceptions {
		if !used[e.name+e.commands] {
			t.Errorf("no manner has the exception %s of %s", e.name, e.commands)
		}
	}
}

// run runs a command, and returns its exit code and standard error.
func (m *manner) run(t *testing.T, command string) (code int, says string) {
	t.Helper()
	var stderr bytes.Buffer
	c := &console.Console{In: strings.NewReader(""), Out: io.Discard, Err: &stderr, Width: 80,
		InTerminal: m.terminal}
	if m.in != "" {
		f := check.Must(os.Open(m.in))(t)
		defer f.Close()
		c.In = f
	}
	switch m.out {
	case "":
	case "|":
		r, w, err := os.Pipe()
		check.OK(t, err)
		r.Close()
		defer w.Close()
		c.Out = w
	default:
		f, err := os.OpenFile(m.out, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil && m.out == "/dev/full" {
			return m.code, m.says // other systems have no /dev/full
		}
		check.OK(t, err)
		defer f.Close()
		c.Out = f
	}
	code = run(c, strings.Fields(command+" "+m.args))
	return code, stderr.String()
}
