package scan

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testids"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/internal/textcodec"
	"github.com/sortid/sortid/internal/words"
)

func find(f *finder, text string) (found []match) {
	for m := range f.find(text, 0) {
		found = append(found, *m)
	}
	return found
}

func TestCases(t *testing.T) {
	b := check.Must(os.ReadFile("../../../../testdata/scan.json"))(t)
	type id struct {
		Start, End                   int
		Format, Encoding, Time, Text string
	}
	var file struct {
		Now   time.Time
		Cases []struct {
			Note, Text string
			Formats    []string
			IDs        []id
		}
	}
	if err := json.Unmarshal(b, &file); err != nil || len(file.Cases) < 50 {
		t.Fatal(len(file.Cases), err)
	}
	for _, c := range file.Cases {
		var formats []*spec.Format
		for _, name := range c.Formats {
			s := check.Must(spec.Lookup(name))(t)
			formats = append(formats, s)
		}
		var got []id
		for _, m := range find(newFinder(file.Now, formats...), c.Text) {
			time := ""
			if m.timed != nil {
				time = words.Time(m.time())
			}
			got = append(got, id{m.Start, m.End, m.Format.Name, string(m.Encoding), time,
				c.Text[m.Start:m.End]})
		}
		if !slices.Equal(got, c.IDs) {
			t.Errorf("%s: %q:\n%v, want\n%v", c.Note, c.Text, got, c.IDs)
		}
	}
}

// TestContexts finds each ID alone between each text before and each text after.
func TestContexts(t *testing.T) {
	file := testids.ReadContexts(t)
	for _, id := range file.IDs {
		var formats []*spec.Format
		if id.Named {
			formats = []*spec.Format{check.Must(spec.Lookup(id.Format))(t)}
		}
		f := newFinder(file.Now, formats...)
		want := id.Format + " " + cmp.Or(id.ID, id.Text)
		for _, before := range file.Before {
			for _, after := range file.After {
				text := before + id.Text + after
				got := ""
				for _, m := range find(f, text) {
					got += m.Format.Name + " " + text[m.Start:m.End]
					if prefix := m.prefix(text); id.ID != "" && prefix+id.ID != id.Text {
						t.Errorf("in %q: the prefix %q", text, prefix)
					}
				}
				if got != want {
					t.Errorf("in %q: %q, want %q", text, got, want)
				}
			}
		}
	}
	for _, c := range file.Nothing {
		var formats []*spec.Format
		if c.Named != "" {
			formats = []*spec.Format{check.Must(spec.Lookup(c.Named))(t)}
		}
		if found := find(newFinder(file.Now, formats...), c.Text); len(found) > 0 {
			t.Errorf("in %q: %v, want nothing", c.Text, found)
		}
	}
}

func public(s *spec.Format) *format.Format { return (*format.Format)(s.Opaque()) }

func idOf(m match) format.ID { return gencore.Must(public(m.Format).FromWords(m.Words.Array())) }

// generated returns IDs of a whole year, because UID60 texts of a few hours share letters.
func generated(t testing.TB, s *spec.Format, n int) (ids []format.ID) {
	t.Helper()
	o := generate.Options{}
	if s == gencore.Must(spec.Lookup("scru64")) {
		o.Values = map[string]string{"node": "42/8"}
	}
	now := time.Now()
	for i := range n {
		o.At = now.AddDate(-1, 0, 0).Add(365 * 24 * time.Hour / time.Duration(n) * time.Duration(i))
		g := check.Must(generate.New(public(s), o))(t)
		id := check.Must(g.Next(context.Background()))(t)
		ids = append(ids, id)
	}
	return ids
}

// A finder finds each encoding between characters that do not belong to words. It skips texts in
// one case without a digit.
func TestComplete(t *testing.T) {
	around := []string{" ", "\n", `"`, "'", ",", ":", "=", "/", "(", "[", "{", "<", ";", "|", "\t",
		"&", "é", "."}
	for _, s := range spec.Ours() {
		for _, encoding := range []spec.Encoding{spec.Text, spec.Hex, spec.UUID} {
			if !slices.Contains(s.Encodings, encoding) {
				continue
			}
			var named []*spec.Format
			if s.Search.WordLike {
				named = append(named, s)
			}
			f := newFinder(time.Now(), named...)
			missed := 0
			for i, id := range generated(t, s, 2000) {
				text := id.In(format.Encoding(encoding))
				before, after := around[i%len(around)], around[i/len(around)%len(around)]
				line := strings.Repeat("x", i%17) + before + text + after + strings.Repeat("y",
					i%13)
				found := find(f, line)
				if len(found) != 1 || line[found[0].Start:found[0].End] != text ||
					idOf(found[0]) != id && found[0].Format.Generates && s.Size != 8 {
					missed++
					// The first UUIDs may have the bits of RFC 9562.
					if !s.Search.WordLike && (encoding != spec.UUID || i >= 20) {
						t.Errorf("%s %s: %q: %v", s.Name, encoding, line, found)
					}
				}
			}
			if missed > 20 {
				t.Errorf("%s %s: %d of 2000 missed", s.Name, encoding, missed)
			}
		}
	}
}

// A finder finds IDs that are easy to tell from other text, and IDs of named formats.
func TestOthers(t *testing.T) {
	b := check.Must(os.ReadFile("../../../../testdata/formats.json"))(t)
	var file struct {
		Formats []struct {
			Format string
			Valid  []struct{ Note, Text string }
		}
	}
	if err := json.Unmarshal(b, &file); err != nil || len(file.Formats) < 40 {
		t.Fatal(len(file.Formats), err)
	}
	sure := strings.Fields("uuidv1 uuidv6 uuidv7 ulid ksuid xid objectid typeid datadog-trace")
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range file.Formats {
		s := check.Must(spec.Lookup(c.Format))(t)
		tested := 0
		all, named := newFinder(now), newFinder(now, s)
		for _, v := range c.Valid {
			id, err := public(s).Parse(v.Text)
			if err != nil || !id.Plausible(now) {
				continue
			}
			if s.Name == "typeid" && (id.Time().IsZero() || !strings.Contains(v.Text, "_")) ||
				strings.ContainsAny(v.Text, "+/") {
				continue // found only if typeid is named; a text of words has no + or /
			}
			line := "a line with id=" + v.Text + ", and more"
			found := find(all, line)
			if slices.Contains(sure, s.Name) {
				if len(found) != 1 || idOf(found[0]) != id ||
					line[found[0].Start:found[0].End] != v.Text {
					t.Errorf("%s: %s: %v", s.Name, v.Text, found)
				}
			} else if len(found) > 0 && s.Name != "julid" { // which looks like a ULID
				t.Errorf("%s: %s is found as %s", s.Name, v.Text, found[0].Format.Name)
			}
			tested++
			found = find(named, line)
			if len(found) == 1 && idOf(found[0]) == id && line[found[0].Start:found[0].End] == v.Text {
				continue
			}
			if !s.Search.Mixed {
				t.Errorf("%s where it is named: %s: %v", s.Name, v.Text, found)
			} else if textcodec.Mixed(id.String()) {
				t.Errorf("%s where it is named: %s: %v", s.Name, v.Text, found)
			}
		}
		if tested < 8 && s.Name != "uuid-nil" && s.Name != "uuid-max" {
			t.Errorf("%s: %d IDs", s.Name, tested)
		}
	}
}

// A finder finds a plausible UUID of version 4 only after UUIDs that can only be our IDs.
func TestVersion4(t *testing.T) {
	const v4, own = "017fef39-c264-4ba5-8a94-83188841e05a", "017fef39-c264-0ba5-0a94-83188841e05a"
	f := newFinder(time.Now())
	for i, c := range []struct {
		text string
		want int
	}{{v4, 0}, {v4 + " " + v4, 0}, {own, 1}, {v4, 1}, {own + " " + v4, 2}} {
		if got := find(f, c.text); len(got) != c.want {
			t.Errorf("%d: %d IDs in %s, want %d", i, len(got), c.text, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	var text []byte
	ids := slices.DeleteFunc(generated(t, gencore.Must(spec.Lookup("scru128")), 400), func(id format.ID) bool {
		return len(find(newFinder(time.Now()), id.In(format.UUID))) == 0 // a UUID without a time
	})
	for i, id := range ids {
		text = append(id.Append(text, []format.Encoding{format.Text, format.UUID, format.Hex}[i%3]),
			" -_/\n"[i%5])
	}
	whole := find(newFinder(time.Now()), string(text))
	if len(whole) != len(ids) {
		t.Fatal(len(whole))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		f := newFinder(time.Now())
		var parts []match
		for from := 0; from < len(text); {
			end := from + rng.IntN(200)
			for end < len(text) && (end == 0 || inWord[text[end-1]]) {
				end++
			}
			end = min(end, len(text))
			context := max(0, from-contextSize)
			for m := range f.find(string(text[context:end]), from-context) {
				m.Start, m.End = m.Start+context, m.End+context
				parts = append(parts, *m)
			}
			from = end
		}
		if !slices.Equal(parts, whole) {
			t.Fatalf("%d in parts, %d in all", len(parts), len(whole))
		}
	}
}

func TestAllocates(t *testing.T) {
	var line []byte
	for _, s := range spec.Ours() {
		for _, id := range generated(t, s, 2) {
			line = append(append(line, " id="...), id.String()...)
			line = append(append(line, " id="...), id.In(format.Hex)...)
		}
	}
	text := string(line)
	for _, f := range []*finder{newFinder(time.Now()), newFinder(time.Now(), spec.Ours()...)} {
		n := 0
		if a := testing.AllocsPerRun(100, func() {
			for range f.find(text, 0) {
				n++
			}
		}); a != 0 || n < 8*101 {
			t.Errorf("%v allocations, %d IDs", a, n)
		}
	}
}

// A finder finds at most one false ID in 100 MB of code, English, Base64 and Git logs.
func TestFalse(t *testing.T) {
	const mega = 1 << 20
	part := 8 * mega
	if testserver.Soak(t) > 0 {
		part = 100 * mega
	}
	rng := rand.NewChaCha8([32]byte{1})
	f := newFinder(time.Now())
	var false, total int
	look := func(kind string, text []byte) {
		total += len(text)
		for m := range f.find(string(text), 0) {
			false++
			t.Logf("%s: %s as %s of %v", kind, text[m.Start:m.End], m.Format.Name,
				m.Format.Time(&m.Words))
		}
	}
	repeat := func(kind string, write func(*bytes.Buffer)) {
		var text bytes.Buffer
		for text.Len() < part {
			write(&text)
		}
		look(kind, text.Bytes())
	}
	lookAtSource(t, part, look)
	words, pick := documentWords(t), rand.New(rng)
	repeat("English", func(b *bytes.Buffer) {
		b.WriteString(words[pick.IntN(len(words))] + " ")
	})
	random := make([]byte, part/4*3)
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		rng.Read(random)
		encoded := encoding.AppendEncode(nil, random)
		look("Base64", encoded)
		look("Base64 in lines", bytes.Join(slices.Collect(slices.Chunk(encoded, 76)), []byte("\n")))
	}
	var sum [64]byte
	repeat("Git", func(b *bytes.Buffer) {
		rng.Read(sum[:])
		fmt.Fprintf(b, "commit %x\nMerge: %x %x\nDate: Sat Nov 21 12:00:00 2026\n\n    change\n\n"+
			"index %x..%x 100644\n", sum[:20], sum[20:26], sum[26:32], sum[32:40], sum[40:60])
	})
	repeat("sums and UUIDs", func(b *bytes.Buffer) {
		rng.Read(sum[:])
		fmt.Fprintf(b, "%x  file\n", sum[:16])
		sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80
		fmt.Fprintf(b, "request %x-%x-%x-%x-%x\n", sum[:4], sum[4:6], sum[6:8], sum[8:10],
			sum[10:16])
	})

	t.Logf("%d false IDs in %d MB", false, total>>20)
	if limit := max(1, total/(100*mega)); false > limit {
		t.Errorf("%d false IDs in %d MB, want at most %d", false, total>>20, limit)
	}
}

// Go's source has hashes, tables, test vectors and English.
func lookAtSource(t *testing.T, part int, look func(kind string, text []byte)) {
	root := check.Must(exec.Command("go", "env", "GOROOT").Output())(t)
	source := 0
	filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"),
		func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || source > 4*part {
				return nil
			}
			b, err := os.ReadFile(path)
			if err == nil && bytes.IndexByte(b[:min(len(b), 8<<10)], 0) < 0 {
				source += len(b)
				look("source", b)
			}
			return nil
		})
	if source < part {
		t.Fatalf("%d bytes of source code in %s", source, root)
	}
}

func documentWords(t *testing.T) (words []string) {
	docs, _ := filepath.Glob("../../../../docs/*.md")
	for _, doc := range docs {
		for word := range strings.FieldsSeq(string(check.Must(os.ReadFile(doc))(t))) {
			if strings.Trim(word,
				"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,;:()-'`*") == "" {
				words = append(words, word)
			}
		}
	}
	if len(words) < 1000 {
		t.Fatalf("%d words in the documents", len(words))
	}
	return words
}

func FuzzFind(f *testing.F) {
	for _, s := range spec.Ours() {
		f.Add("x " + s.Example + " 0x" + gencore.Must(public(s).Parse(s.Example)).In(format.Hex))
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, m := range find(newFinder(time.Now(), spec.Ours()...), text) {
			if m.Start < end || m.End > len(text) {
				t.Fatalf("%q: %v", text, m)
			}
			end = m.End
			if w, err := m.Format.ParseAs(m.Encoding, text[m.Start:m.End]); err != nil ||
				w != m.Words || !m.Format.Plausible(&w, time.Now()) {
				t.Fatalf("%q: %v, %v", text, m, err)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	var text []byte
	for i, id := range generated(b, gencore.Must(spec.Lookup("scru128")), 1000) {
		text = fmt.Appendf(text, "2026-11-21T12:00:00.%03dZ INFO http: request served method=GET "+
			"path=/v1/orders/%s status=200 duration=12.4ms\n"+
			"2026-11-21T12:00:00.%03dZ DEBUG cache: lookup key=user:%d hit=true shard=7 "+
			"took=0.3ms worker=pool-3\n", i, id, i, i)
	}
	f := newFinder(time.Now())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for range f.find(string(text), 0) {
		}
	}
}

// A rule excludes no ID with a plausible time.
func TestHexRule(t *testing.T) {
	now := time.Now()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, s := range spec.All() {
		rule := newHexRule(s, now)
		from, to := s.PlausibleRange(now)
		edges := []integer.Words{}
		if first, end, err := s.Bounds(from, to); err == nil {
			edges = append(edges, first, end)
		}
		ones := integer.Ones(s.Bits)
		excluded := 0
		for i := range 20_000 {
			w := integer.FromArray([3]uint64{rng.Uint64(), rng.Uint64(), rng.Uint64()}).And(ones)
			if len(edges) > 0 && i%2 == 0 { // near the first and the last plausible ID
				w = edges[i/2%2]
				w = w.Or(integer.Words{Low: rng.Uint64()}.And(integer.Ones(rng.IntN(64))).And(ones))
			}
			if !rule.excludes(&w) {
				continue
			}
			excluded++
			if s.Has(w) && s.Plausible(&w, now) {
				t.Fatalf("%s: %x is excluded", s.Name, w)
			}
		}
		if s.Generates && excluded == 0 {
			t.Errorf("%s: nothing is excluded", s.Name)
		}
	}
}
