package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// ErrOutput means that an input is the file that the command writes.
var ErrOutput = errors.New("is also the output, so it is not read; write to another file")

// Stdin is the name of standard input, for people. Its argument is "-".
const Stdin = "standard input"

// What users type in a terminal, for [Begin].
const (
	Text = "text from the terminal"
	IDs  = "IDs from the terminal, one in a line"
)

// Begin is what each command does before it reads a file, or standard input for "-". It fails if the
// file is a folder. It fails with [ErrOutput] if the file is also the output, because a command that
// reads what it writes may never end. Terminals, pipes and devices are harmless. If the user types the
// input, Begin says what to type.
func Begin(c *console.Console, name, what string) error {
	var in fs.FileInfo
	if name == "-" {
		in, name = infoOf(c.In), Stdin
		if c.InTerminal && !c.Quiet {
			fmt.Fprintf(c.Err, "sortid: reading %s; Ctrl-D ends\n", what)
		}
	} else {
		in, _ = os.Stat(name)
	}
	if in == nil {
		return nil
	}
	if in.IsDir() {
		return Fault(name, syscall.EISDIR)
	}
	if out := infoOf(c.Out); out != nil && out.Mode().IsRegular() && os.SameFile(in, out) {
		return Fault(name, ErrOutput)
	}
	return nil
}

// Fault returns an error of reading with the name of the file, once.
func Fault(name string, err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// infoOf returns nil if the stream is no file.
func infoOf(stream any) (info fs.FileInfo) {
	if f, ok := stream.(*os.File); ok {
		info, _ = f.Stat()
	}
	return info
}
