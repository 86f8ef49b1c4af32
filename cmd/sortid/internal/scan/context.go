package scan

import (
	"strconv"
	"strings"
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

// note notes the line of an ID.
func (s *selection) note(p *part, m match) {
	start := max(p.from, strings.LastIndexByte(p.text[:m.Start], '\n')+1)
	if n := len(s.matched); n == 0 || s.matched[n-1] < start {
		s.matched = append(s.matched, start)
	}
}

// selectLines prints the chosen lines of a part, and the lines around them.
func (s *scan) selectLines(p *part) {
	c := &s.selection
	at := p.from
	for line := range strings.Lines(p.text[p.from:]) {
		matches := len(c.matched) > 0 && c.matched[0] == at
		if matches {
			c.matched = c.matched[1:]
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
		at += len(line)
	}
	c.matched = c.matched[:0]
}

// appendLine appends a line with the file's name and the line's number, if wanted.
func (s *scan) appendLine(b []byte, line string, separator byte) []byte {
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
