package browsertest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
)

// A record is what both the page and the command say of an ID.
type record struct {
	Format, Input, Encoding, Text, Hex, Int, UUID, Time string

	Fields map[string]string
	Notes  []string
}

func records(t testing.TB, lines string) (all []record) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

// inPage returns what the page says of IDs.
func (tb *tab) inPage(ids []string, format string) []record {
	tb.Helper()
	tb.set("read-as", format)
	tb.paste(strings.Join(ids, "\n"))
	tb.click("#copy-json")
	return records(tb, eval[string](tb, `window.copied`))
}

func same(t testing.TB, got, want []record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("the page reads %d IDs, the command %d", len(got), len(want))
	}
	for i := range want {
		if g, w := fmt.Sprintf("%+v", got[i]), fmt.Sprintf("%+v", want[i]); g != w {
			t.Fatalf("the page says\n%s\nand the command\n%s", g, w)
		}
	}
}

// A thousand random IDs of each format, of all times, in all encodings.
func TestAgree(t *testing.T) {
	tb := open(t, "")
	tb.catchCopies()
	for _, s := range format.Ours() {
		var ids []string
		for i := range 1000 {
			n, err := rand.Int(rand.Reader, new(big.Int).Add(s.Max().Big(), big.NewInt(1)))
			if err != nil {
				t.Fatal(err)
			}
			n.Rsh(n, uint(i%s.Bits)) // small ones, too
			id, err := s.ParseAs(format.Int, n.String())
			if err != nil {
				t.Fatal(err)
			}
			text := id.In(s.Encodings[i%len(s.Encodings)])
			if _, encoding, err := s.ParseAny(text); err != nil || encoding != s.Encodings[i%len(s.Encodings)] {
				text = id.String() // an integer as long as another encoding is read as that
			}
			ids = append(ids, text)
		}
		want := records(t, run(t, strings.Join(ids, "\n"), "inspect", "--format", s.Name, "-o", "json"))
		same(t, tb.inPage(ids, s.Name), want)
	}
}

// New IDs of all formats and encodings, whose format is found out.
func TestAgreeUndetermined(t *testing.T) {
	tb := open(t, "")
	tb.catchCopies()
	var ids []string
	for _, s := range format.Ours() {
		for _, encoding := range s.Encodings {
			args := []string{"new", s.Name, "-n", "200", "-o", string(encoding)}
			if s == format.SCRU64 {
				args = append(args, "--node", "42/8")
			}
			ids = append(ids, strings.Fields(run(t, "", args...))...)
		}
	}
	// By chance an ID has the variant and a version of RFC 9562, and then is read as such a UUID.
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return len(id) == 36 && strings.IndexByte("12345678", id[14]) >= 0 && strings.IndexByte("89ab", id[19]) >= 0
	})
	want := records(t, run(t, strings.Join(ids, "\n"), "inspect", "-o", "json"))
	same(t, tb.inPage(ids, ""), want)
}

// The smallest IDs of a thousand random times of each format.
func TestAgreeBounds(t *testing.T) {
	tb := open(t, "#range")
	for _, s := range format.Ours() {
		tb.set("range-format", s.Name)
		tb.set("range-type", "hex")
		first, last := s.Range()
		var times [][2]string
		var want []string
		for range 1000 {
			at := func() time.Time {
				n, err := rand.Int(rand.Reader, big.NewInt(min(last.UnixMilli(), 253402300799999)-first.UnixMilli()))
				if err != nil {
					t.Fatal(err)
				}
				return time.UnixMilli(first.UnixMilli() + n.Int64()).UTC()
			}
			from, to := at(), at()
			if to.Before(from) {
				from, to = to, from
			}
			a, b, err := s.Bounds(from, to)
			if err != nil {
				continue
			}
			times = append(times, [2]string{format.FormatTime(from), format.FormatTime(to)})
			want = append(want, a.In(format.Hex)+" "+b.In(format.Hex))
		}
		got := eval[[]string](tb, `%s.map(([from, to]) => {
			document.getElementById("range-from").value = from;
			document.getElementById("range-to").value = to;
			document.getElementById("range-to").dispatchEvent(new Event("input", { bubbles: true }));
			return document.querySelector("#range-result .first").textContent + " " + document.querySelector("#range-result .end").textContent;
		})`, times)
		if len(want) < 900 || !slices.Equal(got, want) {
			t.Errorf("%s: of %d ranges the page and the package differ", s.Name, len(want))
		}
	}
}

// The planner's figures, as the page shows them, in all shared cases.
func TestAgreePlan(t *testing.T) {
	tb := open(t, "#choose")
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Asked struct {
			Rate, Burst, Years float64
			Processes, Bits    int
			Nodes              bool   `json:"can_assign_nodes"`
			From               string // the page takes today
		}
		Recommended, Command string
		Formats              []struct {
			Format  string
			Fits    bool
			Reasons []string
		}
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		for id, value := range map[string]any{"rate": c.Asked.Rate, "burst": c.Asked.Burst, "processes": c.Asked.Processes, "years": c.Asked.Years, "bits": c.Asked.Bits} {
			tb.set("choose-"+id, fmt.Sprint(value))
		}
		eval[bool](tb, `(() => {
			document.getElementById("choose-nodes").checked = %s;
			document.getElementById("choose-form").dispatchEvent(new Event("input"));
			return true;
		})()`, c.Asked.Nodes)
		if got := tb.text("#choose-command"); got != c.Command && (c.Command != "" || got != "nothing there") {
			t.Errorf("%+v: the command is %q, want %q", c.Asked, got, c.Command)
		}
		rows := eval[[][]string](tb, `[...document.querySelectorAll(".plan tbody tr")].map((r) => [...r.cells].map((c) => c.textContent))`)
		for i, f := range c.Formats {
			if rows[i][0] != f.Format || (rows[i][1] == "fits") != f.Fits || rows[i][2] != strings.Join(f.Reasons, "; ") {
				t.Errorf("%+v: %q, want %+v", c.Asked, rows[i], f)
			}
		}
	}
}
