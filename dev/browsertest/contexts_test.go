package browsertest

import (
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/testids"
)

// The page reads an ID with each label before it, and in each pair of texts around it, as the command
// does; and numbers of other programs, too.
func TestContexts(t *testing.T) {
	c := testids.ReadContexts(t)
	tb := open(t, "")
	tb.catchCopies()
	read := func(texts []string, format string, args ...string) {
		t.Helper()
		want := records(t, run(t, strings.Join(texts, "\n"),
			append([]string{"inspect", "-o", "json"}, args...)...))
		if len(want) != len(texts) {
			t.Errorf("the command reads %d of %d", len(want), len(texts))
		}
		for i := range want { // the page trims what it shows
			want[i].Input = strings.TrimSpace(want[i].Input)
		}
		same(t, tb.inPage(texts, format), want)
	}
	for i, id := range c.IDs {
		read(c.Alone(i), "")
		read(c.Alone(i), id.Format, "--format", id.Format)
	}
	var texts []string
	for _, n := range c.Numbers {
		texts = append(texts, n.Text)
	}
	read(texts, "")
	read(texts, "snowflake-twitter", "--format", "snowflake-twitter")
}
