package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gofrs "github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"go.jetify.com/typeid"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/verify"
	"github.com/sortid/sortid/verify/report"
)

func snowflakes(node uint64) func() string {
	ms, sequence := time.Now().UnixMilli()-1288834974657, uint64(0)
	return func() string {
		if sequence++; sequence == 4096 || rand.IntN(20) == 0 {
			ms, sequence = ms+1+rand.Int64N(3), 0
		}
		return fmt.Sprint(uint64(ms)<<22 | node<<12 | sequence)
	}
}

var otherGenerators = []struct {
	name, format string
	next         func() string
}{
	{"google/uuid v7", "uuidv7", func() string { return google.Must(google.NewV7()).String() }},
	{"gofrs/uuid v6", "uuidv6", func() string { return gofrs.Must(gofrs.NewV6()).String() }},
	{"google/uuid v1", "uuidv1", func() string { return google.Must(google.NewUUID()).String() }},
	{"gofrs/uuid v7", "uuidv7", func() string { return gofrs.Must(gofrs.NewV7()).String() }},
	{"oklog/ulid", "ulid", func() string { return ulid.Make().String() }},
	{"oklog/ulid random", "ulid", func() string {
		return ulid.MustNew(ulid.Now(), ulid.DefaultEntropy()).String()
	}},
	{"segmentio/ksuid", "ksuid", func() string { return ksuid.New().String() }},
	{"rs/xid", "xid", func() string { return xid.New().String() }},
	{"jetify/typeid", "typeid", func() string {
		return typeid.Must(typeid.WithPrefix("user")).String()
	}},
	{"snowflake", "snowflake-twitter", snowflakes(42)},
}

func stream(next func() string, n int, slow bool) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = next()
		if slow && i%5 == 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	return lines
}

func verifyLines(t *testing.T, format string, lines []string, o verify.Options) *report.Report {
	t.Helper()
	r, err := verify.Check(t.Context(), format, strings.NewReader(strings.Join(lines, "\n")+"\n"), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Generators of other projects pass verify, whether they make IDs fast or slowly. The slow ones
// mostly sleep, so they run in parallel. But generators that share state run one after another.
func TestVerifyOthers(t *testing.T) {
	few, many := 20_000, 100_000
	if testing.Short() {
		few, many = 5000, 20_000
	}
	byState := map[string][]int{}
	for i, g := range otherGenerators {
		library, _, _ := strings.Cut(g.name, "/")
		if library == "jetify" { // jetify uses gofrs
			library = "gofrs"
		}
		byState[library] = append(byState[library], i)
	}
	slow := make([][]string, len(otherGenerators))
	var wait sync.WaitGroup
	for _, generators := range byState {
		wait.Go(func() {
			for _, i := range generators {
				slow[i] = stream(otherGenerators[i].next, few, true)
			}
		})
	}
	wait.Wait()
	for i, g := range otherGenerators {
		for speed, lines := range map[string][]string{
			"slow": slow[i], "fast": stream(g.next, many, false)} {
			r := verifyLines(t, g.format, lines, verify.Options{})
			if r.Status != report.Pass || r.IDs != uint64(len(lines)) {
				t.Errorf("%s, %s: %d IDs, %+v %+v %v", g.name, speed, r.IDs, r.Failed(), r.Warned(), r.Facts)
			}
		}
	}
}

func TestVerifyBrokenOthers(t *testing.T) {
	testserver.Long(t, "tests many generators")
	const n = 20_000
	type change = func([]string) []string
	edit := func(edit func(u []byte, i int)) change {
		return func(lines []string) []string {
			for i, l := range lines {
				u := google.MustParse(l)
				edit(u[:], i)
				lines[i] = u.String()
			}
			return lines
		}
	}
	constant := edit(func(u []byte, _ int) { copy(u[8:], "\x80\x00\x00\x00\x12\x34\x56\x78") })
	duplicate := func(lines []string) []string { return slices.Insert(lines, 1000, lines[999]) }
	later := func(lines []string) []string { return slices.Insert(lines, 1010, lines[999]) }
	swapped := func(l []string) []string { l[500], l[501] = l[501], l[500]; return l }
	back := func(lines []string) []string { return slices.Concat(lines[n/2:], lines[:n/2]) }
	for _, c := range []struct {
		generator, fault, want string
		breaks                 change
	}{
		{"google/uuid v7", "constant", "random.rand_b.same", constant},
		{"google/uuid v7", "stuck bit", "random.rand_b.same",
			edit(func(u []byte, _ int) { u[12] &^= 4 })},
		{"google/uuid v7", "16 bits of seed", "random.rand_b.repeats", edit(func(u []byte, _ int) {
			r := rand.New(rand.NewPCG(uint64(u[15])|uint64(u[14])<<8, 1))
			for i := 9; i < 16; i++ {
				u[i] = byte(r.Uint32())
			}
		})},
		{"google/uuid v7", "version", "form.version",
			edit(func(u []byte, i int) { u[6] = u[6]&0xf | 0x40 })},
		{"google/uuid v7", "duplicate", "order.duplicate", duplicate},
		{"gofrs/uuid v7", "constant", "random.rand_b.same", constant},
		{"gofrs/uuid v7", "variant", "form.version", edit(func(u []byte, i int) { u[8] |= 0x40 })},
		{"gofrs/uuid v6", "duplicate", "order.duplicate", duplicate},
		{"google/uuid v1", "node", "rules.node",
			edit(func(u []byte, i int) { u[15] ^= byte(i / (n / 2)) })},
		{"google/uuid v1", "back", "clock.rollback", back},
		{"oklog/ulid", "swapped", "order.swapped", swapped},
		{"oklog/ulid", "duplicate", "order.duplicate", duplicate},
		{"segmentio/ksuid", "constant", "random.payload.low.same", func(lines []string) []string {
			for i, l := range lines {
				id := check.Must(ksuid.Parse(l))(t)
				copy(id[12:], "\x00\x00\x00\x00\x12\x34\x56\x78")
				lines[i] = id.String()
			}
			return lines
		}},
		{"segmentio/ksuid", "duplicate", "order.duplicate", later},
		{"segmentio/ksuid", "early", "clock.rollback", func(lines []string) []string {
			id := check.Must(ksuid.NewRandomWithTime(time.Now().Add(-time.Hour)))(t)
			return slices.Insert(lines, 1000, id.String())
		}},
		{"jetify/typeid", "constant", "random.rand_b.same", func(lines []string) []string {
			for i, l := range lines {
				lines[i] = l[:len(l)-14] + "g000000012345q"
			}
			return lines
		}},
		{"jetify/typeid", "version", "rules.version", func(lines []string) []string {
			for i := range lines {
				lines[i] = typeid.Must(typeid.FromUUIDWithPrefix("user", google.New().String())).String()
			}
			return lines
		}},
		{"jetify/typeid", "duplicate", "order.duplicate", duplicate},
		{"rs/xid", "machine", "rules.machine", func(lines []string) []string {
			for i, l := range lines[n/2:] {
				id := check.Must(xid.FromString(l))(t)
				id[4] ^= 1
				lines[n/2+i] = id.String()
			}
			return lines
		}},
		{"rs/xid", "duplicate", "order.duplicate", duplicate},
		{"snowflake", "worker", "rules.worker", func(lines []string) []string {
			return append(lines, stream(snowflakes(43), 1000, false)...)
		}},
	} {
		t.Run(c.generator+"/"+c.fault, func(t *testing.T) {
			for _, g := range otherGenerators {
				if g.name != c.generator {
					continue
				}
				r := verifyLines(t, g.format, c.breaks(stream(g.next, n, false)), verify.Options{})
				if o := r.Check(c.want); o == nil || o.Status != report.Fail {
					t.Errorf("%s does not fail: %+v %v", c.want, r.Failed(), r.Facts)
				}
			}
		})
	}
}

// In shuffled order, good IDs pass, and IDs whose random bits never change fail.
func TestVerifyUnordered(t *testing.T) {
	for _, g := range otherGenerators {
		lines := stream(g.next, 20_000, false)
		rand.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		r := verifyLines(t, g.format, lines, verify.Options{Unordered: true})
		if r.Status != report.Pass || r.IDs != uint64(len(lines)) {
			t.Errorf("%s: %d IDs, %+v %+v", g.name, r.IDs, r.Failed(), r.Warned())
		}
	}
	at := time.Now().Add(-time.Hour)
	for format, c := range map[string]struct{ want, id string }{
		"uuidv7": {"random.rand_b.same", "%08x-%04x-7%03x-8000-000012345678"},
		"typeid": {"random.rand_b.same", "%08x-%04x-7%03x-8000-000012345678"},
		"ulid":   {"random.randomness.low.same", "%08x-%04x-7%03x-8000-000012345678"},
	} {
		var lines []string
		for i := range 2000 {
			ms := at.UnixMilli() + int64(i*7%2000)
			u := google.MustParse(fmt.Sprintf(c.id, ms>>16, ms&0xffff, rand.IntN(4096)))
			line := u.String()
			switch format {
			case "typeid":
				line = typeid.Must(typeid.FromUUIDWithPrefix("user", line)).String()
			case "ulid":
				line = ulid.ULID(u).String()
			}
			lines = append(lines, line)
		}
		r := verifyLines(t, format, lines, verify.Options{Unordered: true})
		if o := r.Check(c.want); o == nil || o.Status != report.Fail {
			t.Errorf("%s: %s does not fail: %+v", format, c.want, r.Failed())
		}
	}
}

// verify finds that google/uuid 1.6.0 shifts the timestamp of version 6 by four bits.
func TestVerifyGoogleV6(t *testing.T) {
	lines := stream(func() string { return google.Must(google.NewV6()).String() }, 1000, false)
	r := verifyLines(t, "uuidv6", lines, verify.Options{})
	if r.Check("clock.epoch").Status != report.Fail {
		t.Errorf("%+v", r.Failed())
	}
}

func TestVerifyNodeBits(t *testing.T) {
	lines := stream(snowflakes(42), 20_000, false)
	for bits, fact := range map[int]string{
		10: "{node ID 42 (10 bits)}", 8: "{node ID 10 (8 bits)}"} {
		r := verifyLines(t, "snowflake-twitter", lines, verify.Options{NodeBits: bits})
		if r.Status != report.Pass || !strings.Contains(fmt.Sprint(r.Facts), fact) {
			t.Errorf("%d bits: %+v, %v", bits, r.Failed(), r.Facts)
		}
	}
	r := verifyLines(t, "snowflake-twitter", lines, verify.Options{NodeBits: 20})
	if r.Check("rules.node").Status != report.Fail {
		t.Errorf("a node ID of 20 bits: %+v", r.Failed())
	}
}
