package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
)

// ErrOutput means that an input is the file that the command writes.
var ErrOutput = errors.New("is also the output, so it is not read; write to another file")

// CheckOutput fails with [ErrOutput] if a file is also the output: a command that reads what it
// writes may never end. For "-", the file is standard input. Terminals, pipes and devices are
// harmless.
func CheckOutput(c *console.Console, name string) error {
	out := infoOf(c.Out)
	if out == nil || !out.Mode().IsRegular() {
		return nil
	}
	var in fs.FileInfo
	if name == "-" {
		in, name = infoOf(c.In), "standard input"
	} else {
		in, _ = os.Stat(name)
	}
	if in == nil || !os.SameFile(in, out) {
		return nil
	}
	return fmt.Errorf("%s: %w", name, ErrOutput)
}

// infoOf returns nil if the stream is no file.
func infoOf(stream any) (info fs.FileInfo) {
	if f, ok := stream.(*os.File); ok {
		info, _ = f.Stat()
	}
	return info
}
