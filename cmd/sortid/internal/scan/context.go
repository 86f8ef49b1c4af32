package scan

import (
	"bytes"
	"strconv"
)

// A selection chooses lines, and prints the lines around them, like grep.
type selection struct {
	matched []int    // Where the matched lines of the part start, in order.
	before  [][]byte // The last lines that are not printed, with their prefixes.
	after   int      // How many of the next lines to print.
	apart   bool     // Lines between the printed ones were left out.
	printed bool
}

// selects reports whether lines are chosen one by one, not only where IDs are.
func (o *Options) selects() bool {
	return o.Output == Lines && (o.Invert || o.Before > 0 || o.After > 0)
}

// note notes a line of the part text[from:], which matches at an offset.
func (s *selection) note(text []byte, from, at int) {
	start := max(from, bytes.LastIndexByte(text[:at], '\n')+1)
	if n := len(s.matched); n == 0 || s.matched[n-1] < start {
		s.matched = append(s.matched, start)
	}
}

// selectLines prints the chosen lines of text[from:], and the lines around them.
func (s *scan) selectLines(text []byte, from int) {
	c := &s.selection
	for at := from; at < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		matches := len(c.matched) > 0 && c.matched[0] == at
		if matches {
			c.matched = c.matched[1:]
		}
		line := text[at:end]
		switch {
		case matches != s.options.Invert:
			s.found, s.matching = true, s.matching+1
			if c.apart && c.printed && (s.options.Before > 0 || s.options.After > 0) {
				s.out = append(s.out, "--\n"...)
			}
			for _, line := range c.before {
				s.out = append(s.out, line...)
			}
			s.out = s.appendLine(s.out, line, ':')
			c.before, c.after, c.apart, c.printed = c.before[:0], s.options.After, false, true
		case c.after > 0:
			s.out = s.appendLine(s.out, line, '-')
			c.after--
		default:
			c.before = append(c.before, s.appendLine(nil, line, '-'))
			if len(c.before) > s.options.Before {
				c.before, c.apart = c.before[1:], true
			}
		}
		if line[len(line)-1] == '\n' {
			s.line++
		}
		at = end
	}
	c.matched = c.matched[:0]
}

// appendLine appends a line with the file's name and the line's number, if wanted.
func (s *scan) appendLine(b, line []byte, separator byte) []byte {
	if s.names {
		b = append(append(b, s.files.name...), separator)
	}
	if s.options.Numbers {
		b = append(strconv.AppendInt(b, int64(s.line), 10), separator)
	}
	b = append(b, line...)
	if line[len(line)-1] != '\n' {
		b = append(b, '\n')
	}
	return b
}
