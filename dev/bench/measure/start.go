package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/sortid/sortid/dev/bench"
)

const hello = `package main

import "fmt"

func main() { fmt.Println("hello") }
`

// measureStart measures the start of the command, beside the smallest useful program in Go.
func measureStart(lines io.Writer, bin, dir string, runs int) error {
	source, program := filepath.Join(dir, "hello.go"), filepath.Join(dir, "hello")
	if err := os.WriteFile(source, []byte(hello), 0o644); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, source)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	starts := []struct {
		title string
		args  []string
	}{
		{"hello, a program in Go", []string{program}},
		{"sortid 036z951mhjikzik2gsl81gr7l", []string{bin, "036z951mhjikzik2gsl81gr7l"}},
		{"sortid new", []string{bin, "new"}},
	}
	for range runs {
		for _, s := range starts {
			cmd := exec.Command(s.args[0], s.args[1:]...)
			cmd.Stderr = os.Stderr
			if _, err := cmd.Output(); err != nil {
				return fmt.Errorf("%s: %w", s.title, err)
			}
			usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			bench.Write(lines, "Start", s.title, cpu.Seconds()*1000, "ms", usage.Minflt, "faults")
		}
	}
	return nil
}
