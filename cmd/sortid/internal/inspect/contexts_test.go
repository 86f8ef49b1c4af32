package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testids"
)

// An ID is read with each label before it, and with each pair of texts around it, whether or not its
// format is given.
func TestContexts(t *testing.T) {
	c := testids.ReadContexts(t)
	for _, id := range c.IDs {
		f := check.Must(format.Lookup(id.Format))(t)
		bare := check.Must(f.Read(cmp.Or(id.ID, id.Text)))(t)
		_, own, typed := strings.Cut(id.Text, "user_")
		if !typed {
			own = id.Text
		}
		for _, label := range append(c.Labels, "") {
			prefix := label + strings.TrimSuffix(id.Text, own)
			for _, around := range c.Around {
				text := around[0] + label + id.Text + around[1]
				for _, in := range []Reader{{}, {Format: f}} {
					var r Reading
					err := in.Read(&r, text, c.Now)
					if err != nil || r.ID != bare.ID || r.Prefix != prefix || r.Exact() != nil {
						t.Errorf("%q is %v with the prefix %q, %v; want %s %v", text, r.ID, r.Prefix,
							err, id.Format, bare.ID)
					}
				}
			}
		}
	}
}

// A number of another program is read as its integer. If that may not be the ID, a note says so.
func TestNumbers(t *testing.T) {
	c := testids.ReadContexts(t)
	f := check.Must(format.Lookup("snowflake-twitter"))(t)
	for _, n := range c.Numbers {
		for _, in := range []Reader{{}, {Format: f}} {
			var r Reading
			if err := in.Read(&r, n.Text, c.Now); err != nil || r.ID.In(format.Int) != n.Int {
				t.Errorf("%q is %v, %v; want %s", n.Text, r.ID, err, n.Int)
				continue
			}
			exact := r.Exact()
			if (exact == nil) != (n.Note == "") || strings.Join(r.Notes(), "") != n.Note ||
				n.Note != "" && (!strings.Contains(exact.Error(), n.Note) || !r.Doubtful()) {
				t.Errorf("%q: the notes are %q and the error %v; want %q", n.Text, r.Notes(), exact, n.Note)
			}
			if in.Format != nil && FormatTime(r.Time()) != n.Time {
				t.Errorf("%q has the time %v, want %s", n.Text, r.Time(), n.Time)
			}
			if twitter := append([]Guess{r.Guess}, r.Others...); !slices.ContainsFunc(twitter,
				func(g Guess) bool { return g.ID.Format() == f }) && n.Time > "2011" {
				t.Errorf("%q is not among the readings %v", n.Text, twitter)
			}
		}
	}
	for _, n := range c.NoNumbers {
		var r Reading
		err := new(Reader).Read(&r, n.Text, c.Now)
		if err == nil || !strings.Contains(err.Error(), n.Says) ||
			n.Says == "" && strings.Contains(err.Error(), "unsigned") {
			t.Errorf("%q: %v, %v; want an error with %q", n.Text, r.ID, err, n.Says)
		}
	}
}

// A UUID is read in the order of bytes that is named. Without a name, the error says which order makes
// it a UUID with a plausible time.
func TestOrders(t *testing.T) {
	c := testids.ReadContexts(t)
	f := check.Must(format.Lookup("ulid"))(t) // every UUID can be a ULID
	for _, o := range c.Orders {
		var r Reading
		in := Reader{Format: f, From: format.Encoding(o.From)}
		if err := in.Read(&r, o.Text, c.Now); err != nil || r.ID.In(format.UUID) != o.UUID {
			t.Errorf("%q from %s is %v, %v; want %s", o.Text, o.From, r.ID, err, o.UUID)
		}
		err := new(Reader).Read(&r, o.Text, c.Now)
		want := o.Format + " " + o.UUID
		said := fmt.Sprint(err, r.note())
		if says := strings.Contains(said, want) && strings.Contains(said, "--from "+o.From+" "); says !=
			(o.Format != "") {
			t.Errorf("%q: %v, want %q: %v", o.Text, said, want, o.Format != "")
		}
		guess := Reader{From: format.Encoding(o.From)}
		if err := guess.Read(&r, o.Text, c.Now); o.Format != "" && (err != nil || r.Name() != o.Format ||
			r.Input != o.Text) {
			t.Errorf("%q from %s is %v, %v; want %s", o.Text, o.From, r.As(), err, o.Format)
		}
	}
	var r Reading
	for _, text := range []string{"", "x", "00112233445566778899aabbccddeef", "AAAA"} {
		if err := (&Reader{From: "guid"}).Read(&r, text, c.Now); err == nil {
			t.Errorf("%q is %v", text, r.ID)
		}
	}
}
