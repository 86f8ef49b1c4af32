package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		ms    []float64
		fault []float64
	}{
		{title: "hello, a program in Go", args: []string{program}},
		{title: "sortid 036z951mhjikzik2gsl81gr7l", args: []string{bin, "036z951mhjikzik2gsl81gr7l"}},
		{title: "sortid new", args: []string{bin, "new"}},
	}
	for range runs {
		for i := range starts {
			s := &starts[i]
			cmd := exec.Command(s.args[0], s.args[1:]...)
			cmd.Stderr = os.Stderr
			if _, err := cmd.Output(); err != nil {
				return fmt.Errorf("%s: %w", s.title, err)
			}
			usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			s.ms = append(s.ms, cpu.Seconds()*1000)
			s.fault = append(s.fault, float64(usage.Minflt))
		}
	}
	for _, s := range starts {
		slices.Sort(s.ms)
		slices.Sort(s.fault)
		bench.Write(lines, "Start", s.title, s.ms[runs/2], "ms", s.fault[runs/2], "faults",
			float64(runs), "runs")
	}
	return nil
}
