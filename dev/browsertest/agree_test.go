package browsertest

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
)

type record struct {
	Format, Input, Prefix, Encoding, Text, Hex, Int, UUID, Time string

	Fields map[string]string
	Notes  []string
}

func records(t testing.TB, lines string) (all []record) {
	t.Helper()
	for line := range strings.Lines(lines) {
		all = append(all, decode[record](t, line))
	}
	return all
}

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

func TestAgree(t *testing.T) {
	tb := open(t, "")
	tb.catchCopies()
	for _, s := range format.All() {
		var ids []string
		var want []record
		for i := range 200 {
			id := random(t, s, uint(i%s.Bits())) // also small IDs
			encoding := s.Encodings()[i%len(s.Encodings())]
			text := id.In(encoding)
			if spec.Of(s).Text.Prefix != nil && encoding == format.Text {
				text = s.Example()[:strings.LastIndexByte(s.Example(), '_')+1] + text
			}
			if c, err := s.Read(text); err != nil || c.Encoding != encoding {
				encoding, text = s.Encodings()[0], id.String() // the text can be in another encoding
			}
			ids = append(ids, text)
			r := records(t, string(id.AppendJSON(nil)))[0]
			r.Input, r.Encoding, r.Text = text, string(encoding), id.String()
			if prefix, _, ok := strings.Cut(text, "_"); ok && spec.Of(s).Text.Prefix != nil &&
				encoding == format.Text {
				r.Prefix, r.Text = prefix, text
			}
			want = append(want, r)
		}
		same(t, tb.inPage(ids, s.Name()), want)
	}
}

func random(t testing.TB, s *format.Format, zeros uint) format.ID {
	t.Helper()
	for range 10_000 {
		n := check.Must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), uint(s.Bits()))))(t)
		n.Rsh(n, zeros)
		for _, f := range spec.Of(s).Layout {
			for i := range f.Bits {
				if f.Kind == spec.KindFixed || f.Kind == spec.KindZero {
					n.SetBit(n, f.Low+i, uint(f.Value>>i&1))
				}
			}
		}
		if id, err := s.FromBytes(n.FillBytes(make([]byte, s.Size()))); err == nil {
			return id
		}
		zeros = 0
	}
	t.Fatalf("%s: no random bits are an ID", s.Name())
	return format.ID{}
}

func TestAgreeUndetermined(t *testing.T) {
	tb := open(t, "")
	tb.catchCopies()
	var ids []string
	for _, s := range format.Ours() {
		for _, encoding := range s.Encodings() {
			args := []string{"new", s.Name(), "-n", "200", "-o", string(encoding)}
			if s == gencore.Must(format.Lookup("scru64")) {
				args = append(args, "--node", "42/8")
			}
			made := strings.Fields(run(t, "", args...))
			if encoding == format.Text {
				for i, prefix := range []string{"user_", "my_user_"} {
					made[i] = prefix + made[i]
				}
			}
			ids = append(ids, made...)
		}
	}
	// By chance, an ID can be a UUID of RFC 9562. The command then reads it as a UUID.
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return len(id) == 36 && strings.IndexByte("12345678", id[14]) >= 0 &&
			strings.IndexByte("89ab", id[19]) >= 0
	})
	want := records(t, run(t, strings.Join(ids, "\n"), "inspect", "-o", "json"))
	same(t, tb.inPage(ids, ""), want)
}

func TestAgreeBounds(t *testing.T) {
	tb := open(t, "#range")
	for _, s := range format.All() {
		if _, _, err := s.Bounds(s.First(), s.Last()); err != nil {
			continue
		}
		tb.set("range-format", s.Name())
		tb.set("range-type", "bytea") // in hexadecimal digits
		first, last := s.First(), s.Last()
		if spec.Of(s).Reserved { // reserved timestamps can bound ranges
			first, last = first.Add(-s.Tick()), last.Add(s.Tick())
		}
		var times [][2]string
		var want []string
		for range 1000 {
			at := func() time.Time {
				n, err := rand.Int(rand.Reader,
					big.NewInt(min(last.UnixMilli(), 253402300799999)-first.UnixMilli()))
				check.OK(t, err)
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
			times = append(times, [2]string{words.Time(from), words.Time(to)})
			want = append(want, fmt.Sprintf("%x %x", a.Bytes(), b.Bytes()))
		}
		got := eval[[]string](tb, `%s.map(([from, to]) => {
			document.getElementById("range-from").value = from;
			document.getElementById("range-to").value = to;
			document.getElementById("range-to").dispatchEvent(new Event("input", { bubbles: true }));
			return document.querySelector("#range-result .first").textContent + " " + document.querySelector("#range-result .end").textContent;
		})`, times)
		if len(want) < 900 || !slices.Equal(got, want) {
			t.Errorf("%s: of %d ranges the page and the package differ", s.Name(), len(want))
		}
	}
}

func TestAgreePlan(t *testing.T) {
	tb := open(t, "#choose")
	b := check.Must(os.ReadFile(filepath.Join("..", "..", "testdata", "plan.json")))(t)
	for _, c := range decode[[]struct {
		Asked struct {
			Rate, Burst, Years float64
			Processes, Bits    int
			Nodes              bool   `json:"can_assign_nodes"`
			From               string // the page uses today
		}
		Recommended, Command string
		Formats              []struct {
			Format  string
			Fits    bool
			Reasons []string
		}
	}](t, string(b)) {
		for id, value := range map[string]any{"rate": c.Asked.Rate, "burst": c.Asked.Burst,
			"processes": c.Asked.Processes, "years": c.Asked.Years, "bits": c.Asked.Bits} {
			tb.set("choose-"+id, fmt.Sprint(value))
		}
		tb.script(`
			document.getElementById("choose-nodes").checked = %s;
			document.getElementById("choose-form").dispatchEvent(new Event("input"));`, c.Asked.Nodes)
		is(tb, c.Command, `document.querySelector("#choose-command")?.innerText ?? ""`)
		if c.Recommended != "" {
			tb.contains("#choose-status", "Recommended: "+c.Recommended+".")
		}
		shown := eval[map[string][]string](tb, `Object.fromEntries([...document.querySelectorAll(".plan tbody tr")].
			map((r) => [...r.cells].map((c) => c.textContent)).map((row) => [row[0], row]))`)
		for _, f := range c.Formats {
			row := shown[f.Format]
			if row == nil || (row[1] == "fits") != f.Fits ||
				row[2] != strings.Join(f.Reasons, "; ") {
				t.Errorf("%+v: %q, want %+v", c.Asked, row, f)
			}
		}
	}
}
