package scan

import (
	"strconv"
	"strings"
)

// A selection chooses lines, and prints the lines around them, like grep.
type selection struct {
	before  [][]byte // The last lines that are not printed, with their prefixes.
	after   int      // How many of the next lines to print.
	apart   bool     // Lines between the printed ones were left out.
	printed bool
}

// selects reports whether lines are chosen one by one, not only where IDs are.
func (o *Options) selects() bool {
	return o.Output == Lines && (o.Invert || o.Before > 0 || o.After > 0)
}

// note notes the line of an ID.
func (w *worker) note(m *match) {
	start := max(w.from, strings.LastIndexByte(w.text[:m.Start], '\n')+1)
	if n := len(w.matched); n == 0 || w.matched[n-1] < start {
		w.matched = append(w.matched, start)
	}
}

// selectLines prints the chosen lines of a block, and the lines around them.
func (s *scan) selectLines(w *worker) {
	c := &s.selection
	at := w.from
	for line := range strings.Lines(w.text[w.from:]) {
		matches := len(w.matched) > 0 && w.matched[0] == at
		if matches {
			w.matched = w.matched[1:]
		}
		switch {
		case matches != s.options.Invert:
			s.found, s.matching = true, s.matching+1
			if c.apart && c.printed && (s.options.Before > 0 || s.options.After > 0) {
				s.out = append(s.out, "--\n"...)
			}
			for _, line := range c.before {
				s.out = append(s.out, line...)
			}
			s.out = w.appendLine(s.out, line, ':')
			c.before, c.after, c.apart, c.printed = c.before[:0], s.options.After, false, true
		case c.after > 0:
			s.out = w.appendLine(s.out, line, '-')
			c.after--
		case s.options.Before == 0:
			c.apart = true
		default:
			var spare []byte
			if len(c.before) == s.options.Before {
				spare, c.before, c.apart = c.before[0][:0], c.before[1:], true
			}
			c.before = append(c.before, w.appendLine(spare, line, '-'))
		}
		if line[len(line)-1] == '\n' {
			w.line++
		}
		at += len(line)
	}
}

// appendLine appends a line with the file's name and the line's number, if wanted.
func (w *worker) appendLine(b []byte, line string, separator byte) []byte {
	if w.scan.names {
		b = append(append(b, w.source.name...), separator)
	}
	if w.scan.options.Numbers {
		b = append(strconv.AppendInt(b, int64(w.line), 10), separator)
	}
	b = append(b, line...)
	if line[len(line)-1] != '\n' {
		b = append(b, '\n')
	}
	return b
}
