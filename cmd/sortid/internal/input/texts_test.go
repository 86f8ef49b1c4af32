package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/judge"
)

func upper(b []byte, text string, _ time.Time) ([]byte, error) {
	if strings.HasPrefix(text, "bad") {
		return append(b, "never printed"...), errors.New("is bad")
	}
	return fmt.Appendf(b, "%s\n", strings.ToUpper(text)), nil
}

func uppers(parallel bool) []Worker {
	if parallel {
		return []Worker{{Append: upper}, {Append: upper}, {Append: upper}, {Append: upper}}
	}
	return []Worker{{Append: upper}}
}

// Several workers print the same as a loop over the lines. On a terminal, errors are between the
// results.
func TestTextsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var in, out, errs, both strings.Builder
	all, bad := 0, 0
	for i := range 10_000 {
		line := fmt.Sprintf("line %d %s", i, strings.Repeat("x", r.IntN(100)))
		switch r.IntN(400) {
		case 0, 3, 4, 5:
			line = "bad " + line
		case 1:
			line = strings.Repeat("long", maxLine/4)
		case 2:
			line = " \t"
		}
		in.WriteString(line + []string{"\n", "\r\n"}[r.IntN(2)])
		var result, message string
		switch {
		case line == " \t":
			continue
		case len(line) >= maxLine:
			message = fmt.Sprintf("sortid: line %d: %v\n", i+1, errTooLong)
		default:
			b, err := upper(nil, line, time.Time{})
			if result = string(b); err != nil {
				result, message = "", fmt.Sprintf("sortid: line %d: is bad\n", i+1)
			}
		}
		if all++; message != "" {
			bad++
		}
		out.WriteString(result)
		errs.WriteString(message)
		both.WriteString(result + message)
	}
	total := fmt.Sprintf("sortid: %d of %d,%03d IDs could not be read\n", bad, all/1000, all%1000)
	for _, parallel := range []bool{false, true} {
		var gotOut, gotErrs, terminal bytes.Buffer
		c := &console.Console{In: strings.NewReader(in.String()), Out: &gotOut, Err: &gotErrs}
		if err := Texts(c, nil, uppers(parallel)); err != console.ErrReported {
			t.Error(err)
		}
		if gotOut.String() != out.String() || gotErrs.String() != errs.String()+total {
			t.Errorf("parallel %v: %d bytes of results and %d of errors, want %d and %d, or another"+
				" order", parallel, gotOut.Len(), gotErrs.Len(), out.Len(), errs.Len()+len(total))
		}
		c = &console.Console{In: strings.NewReader(in.String()), Out: &terminal, Err: &terminal,
			OutTerminal: true}
		if err := Texts(c, []string{"-"}, uppers(parallel)); err != console.ErrReported ||
			terminal.String() != both.String()+total {
			t.Errorf("parallel %v: %v; on a terminal, results and errors are not in order", parallel,
				err)
		}
	}
}

// The result of a line does not wait for the next line.
func TestTextsPrompt(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		in, lines := io.Pipe()
		results, out := io.Pipe()
		done := make(chan error)
		go func() {
			c := &console.Console{In: in, Out: out, Err: io.Discard}
			done <- Texts(c, nil, uppers(parallel))
		}()
		expect := func(want string) {
			got := make([]byte, len(want)+1)
			if _, err := io.ReadFull(results, got); err != nil || string(got) != want+"\n" {
				t.Fatalf("%q, %v, want %s", got, err, want)
			}
		}
		for i := range 100 {
			text := fmt.Sprintf("line %d", i)
			go io.WriteString(lines, text+"\nbegin")
			expect(strings.ToUpper(text))
			go io.WriteString(lines, "\n")
			expect("BEGIN")
		}
		lines.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// After an error of writing, Texts does not wait for more input.
func TestTextsClosedOutput(t *testing.T) {
	for _, parallel := range []bool{false, true} {
		in, lines := io.Pipe()
		_, out := io.Pipe()
		out.Close()
		done := make(chan error)
		go func() {
			c := &console.Console{In: in, Out: out, Err: io.Discard}
			done <- Texts(c, nil, uppers(parallel))
		}()
		io.WriteString(lines, "a\n")
		if err := <-done; err != io.ErrClosedPipe {
			t.Errorf("parallel %v: %v", parallel, err)
		}
		lines.Close()
	}
}

// An error of reading comes after the results of all lines before it.
func TestTextsReadError(t *testing.T) {
	broken := errors.New("broken")
	in := strings.Repeat("line\n", 100_000)
	for _, parallel := range []bool{false, true} {
		var out bytes.Buffer
		c := &console.Console{Out: &out, Err: io.Discard,
			In: io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken))}
		if err := Texts(c, nil, uppers(parallel)); !errors.Is(err, broken) ||
			out.String() != strings.ToUpper(in) {
			t.Errorf("parallel %v: %v, %d bytes, want %d", parallel, err, out.Len(), len(in))
		}
	}
}

// What workers judge depends on all texts before, also on texts of other workers.
func TestTextsJudge(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var in, want strings.Builder
	var alone judge.Judge
	fmt.Fprintln(&want, alone.Accept(judge.Hash(40), true)) // the argument
	for range 50_000 {
		plausible := r.IntN(2) == 0
		fmt.Fprintln(&in, plausible)
		fmt.Fprintln(&want, alone.Accept(judge.Hash(40), plausible))
	}
	var workers []Worker
	for range 4 {
		j := new(judge.Judge)
		workers = append(workers, Worker{Judge: j, Append: func(b []byte, text string,
			_ time.Time) ([]byte, error) {
			return fmt.Appendln(b, j.Accept(judge.Hash(40), text == "true")), nil
		}})
	}
	var out bytes.Buffer
	c := &console.Console{In: strings.NewReader(in.String()), Out: &out, Err: io.Discard}
	if err := Texts(c, []string{"true", "-"}, workers); err != nil {
		t.Error(err)
	}
	if out.String() != want.String() {
		t.Errorf("%d bytes, want %d, or other answers", out.Len(), want.Len())
	}
}
