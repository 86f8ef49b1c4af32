package browsertest

import (
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/testids"
)

// The page reads an ID with each label before it, and in each pair of texts around it, as the command
// does; and numbers of other programs, too. Of a UUID with its bytes in another order, it says so.
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
			want[i].Input = strings.Trim(strings.TrimSpace(want[i].Input), "\ufeff")
		}
		same(t, tb.inPage(texts, format), want)
	}
	for _, id := range c.IDs {
		read(c.Alone(id.Text), "")
		read(c.Alone(id.Text), id.Format, "--format", id.Format)
	}
	var texts []string
	for _, n := range c.Numbers {
		texts = append(texts, n.Text)
	}
	read(texts, "")
	read(texts, "snowflake-twitter", "--format", "snowflake-twitter")
	tb.set("read-as", "")
	for _, o := range c.Orders {
		if tb.paste(o.Text); o.Format != "" {
			tb.contains("main", o.Format+" "+o.UUID, "--from "+o.From)
		}
	}
}
