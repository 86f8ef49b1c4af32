package input

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func read(r io.Reader) (all []string, err error) {
	in := newBlockReader(r)
	for {
		b, err := in.next()
		switch {
		case err == io.EOF:
			return all, nil
		case err != nil:
			return all, err
		case b.long:
			all = append(all, fmt.Sprintf("%d:too long", b.first))
		}
		b.lines(func(number int, line string) {
			all = append(all, fmt.Sprintf("%d:%s", number, line))
		})
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"blank", "\n\r\n \t \n", nil},
		{"one", "a\n", []string{"1:a"}},
		{"no end", "a\nb", []string{"1:a", "2:b"}},
		{"only spaces at the end", "a\n  ", []string{"1:a"}},
		{"Windows", "a\r\n\r\nb\r\n", []string{"1:a", "3:b"}},
		{"spaces", "  a b  \n\t\tc\v\n", []string{"1:  a b  ", "2:\t\tc\v"}},
		{"byte-order mark", "\ufeffa\n\ufeffb\n", []string{"1:a", "2:\ufeffb"}},
		{"just fits", long[1:] + "\na\n", []string{"1:" + long[1:], "2:a"}},
		{"one too many", long + "\na\n", []string{"1:too long", "2:a"}},
		{"long without end", "a\n" + long + long + long, []string{"1:a", "2:too long"}},
		{"long of spaces", strings.Repeat(" ", 3*maxLine) + "\na", []string{"1:too long", "2:a"}},
		{"two long", long + long + "\n" + long + "y\nb\n", []string{"1:too long", "2:too long",
			"3:b"}},
		{"bytes", "\x00\xff\nb", []string{"1:\x00\xff", "2:b"}},
	} {
		for how, r := range map[string]io.Reader{
			"whole":     strings.NewReader(c.in),
			"in halves": iotest.HalfReader(strings.NewReader(c.in)),
			"by bytes":  iotest.OneByteReader(strings.NewReader(c.in)),
			"end early": iotest.DataErrReader(strings.NewReader(c.in)),
		} {
			if got, err := read(r); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %.200q, %v, want %.200q", c.name, how, got, err, c.want)
			}
		}
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "a\n", "a\nb", strings.Repeat("x", 2*maxLine)} {
		want, _ := read(strings.NewReader(in))
		for _, end := range []io.Reader{iotest.ErrReader(broken),
			io.MultiReader(iotest.ErrReader(broken), strings.NewReader("more\n"))} {
			got, err := read(io.MultiReader(strings.NewReader(in), end))
			if err != broken || !slices.Equal(got, want) {
				t.Errorf("%.20q and an error: %.100q, %v, want %.100q", in, got, err, want)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\r\n\n b \nc", 3)
	f.Fuzz(func(t *testing.T, in string, size int) {
		in = strings.Repeat(in, 1+(size&0xff))
		if strings.HasPrefix(in, "\xff\xfe") || strings.HasPrefix(in, "\xfe\xff") {
			return
		}
		var want []string
		for i, line := range strings.SplitAfter(in, "\n") {
			if len(line) > maxLine || len(line) == maxLine && !strings.HasSuffix(line, "\n") {
				want = append(want, fmt.Sprintf("%d:too long", i+1))
				continue
			}
			if i == 0 {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
				want = append(want, fmt.Sprintf("%d:%s", i+1, line))
			}
		}
		got, err := read(strings.NewReader(in))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%.200q, %v, want %.200q", got, err, want)
		}
	})
}
