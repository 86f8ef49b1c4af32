package nodefield

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
)

func TestBits(t *testing.T) {
	got := map[string]int{}
	for _, f := range Formats() {
		got[f.Name()] = Bits(f)
	}
	if want := map[string]int{"scru64": 23, "scru160": 16, "uid60": 9, "uuidv1": 48, "uuidv6": 48,
		"xid": 24 + 16, "objectid": 40, "orderlyid": 16, "flake": 48, "tid": 10, "threads": 13,
		"cuid": 21, "puid": 52, "snowflake-twitter": 5 + 5, "snowflake-discord": 5 + 5,
		"snowflake-instagram": 13, "sonyflake": 16, "sonyflake-v2": 16, "tsid": 10, "snowid": 10,
		"snowflake-spaceflake": 5 + 5, "snowflake-flake": 5 + 5, "snowflake-frostflake": 11,
	}; !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, f := range format.All() {
		if (Bits(f) == 0) != (LeaseFormat(f) == (lease.Format{})) {
			t.Errorf("%s: %d bits, but %+v", f.Name(), Bits(f), LeaseFormat(f))
		}
	}
}

// Leases can be had for each format with node IDs, in each size.
func TestConfig(t *testing.T) {
	for _, f := range Formats() {
		for bits := range LeaseFormat(f).Bits + 1 {
			c, err := Config(f, bits)
			if long := bits == 0 && Bits(f) > lease.MaxBits; err != nil || long {
				if !long || !errors.Is(err, sortid.ErrOption) ||
					!strings.Contains(err.Error(), "choose a size") {
					t.Errorf("%s: %d bits: %v", f.Name(), bits, err)
				}
				continue
			}
			c.Realm = f.Name()
			m := lease.NewMemory()
			if _, err := lease.Create(t.Context(), m, c); err != nil {
				t.Fatalf("%s: %d bits: %v", f.Name(), bits, err)
			}
			root, err := lease.Realm(t.Context(), m, f.Name())
			if err != nil {
				t.Fatal(err)
			}
			want := bits
			if bits == 0 && f.Name() != "scru64" {
				want = Bits(f)
			}
			tick, epoch := max(f.Tick(), time.Millisecond), f.Epoch()
			if r := root.Terms; r.Only != want || r.Format != f.Name() || r.Duration(1) != tick ||
				!r.Time(0).Equal(epoch) {
				t.Errorf("%s: %d bits: %+v", f.Name(), bits, r)
			}
			size := max(want, 1)
			l, err := lease.Acquire(t.Context(), m, lease.Config{Realm: f.Name(),
				Format: root.Terms.LeaseFormat(), NodeBits: size})
			if err != nil {
				t.Fatalf("%s: a lease of %d bits: %v", f.Name(), size, err)
			}
			l.Close(t.Context())
		}
		if _, err := Config(f, LeaseFormat(f).Bits+1); !errors.Is(err, sortid.ErrOption) ||
			!strings.Contains(err.Error(), "a node ID of "+f.Name()+" has 1 to ") {
			t.Errorf("%s: too many bits: %v", f.Name(), err)
		}
	}
	_, without := Lookup("ULID")
	_, none := Config(gencore.Must(format.Lookup("scru128")), 0)
	for _, err := range []error{without, none} {
		if !errors.Is(err, sortid.ErrOption) || !strings.Contains(err.Error(), "have no node ID") ||
			!strings.HasSuffix(err.Error(), words.List(names(), "and")) {
			t.Error(err)
		}
	}
	if _, err := Lookup("ulit"); !errors.As(err, new(*sortid.UnknownError)) {
		t.Error(err)
	}
}

// Our node IDs, and node IDs of tsid, fit into the field that also has other bits.
func TestHiddenSizes(t *testing.T) {
	for name, c := range map[string]struct {
		field string
		spare int // bits that cannot be of the node ID
	}{"scru64": {"node_ctr", 1}, "scru160": {"random16", 0}, "uid60": {"random", 0},
		"tsid": {"random", 2}} {
		f := gencore.Must(format.Lookup(name))
		i := slices.IndexFunc(f.Layout(), func(f format.Field) bool { return f.Name == c.field })
		if i < 0 || LeaseFormat(f).Bits != f.Layout()[i].Bits-c.spare || Bits(f) > LeaseFormat(f).Bits ||
			LeaseFormat(f).Name != name || LeaseFormat(f).Mixed != (spec.Of(f).NodeCounter > 0) {
			t.Errorf("%s: node IDs of %d bits, %+v", name, Bits(f), LeaseFormat(f))
		}
	}
}

func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "| Bits of the node ID | Formats |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, f := range format.All() {
		if f.Generates() {
			continue
		}
		bits := strconv.Itoa(Bits(f))
		if Bits(f) > lease.MaxBits {
			bits = "up to 24"
		}
		row := regexp.MustCompile(`(?m)^\| ` + bits + `[ ;,].*` + "`" + f.Name() + "`")
		if (Bits(f) != 0) != row.MatchString(table) || Bits(f) == 0 &&
			strings.Contains(table, "`"+f.Name()+"`") {
			t.Errorf("docs/formats.md, node IDs: %s has no row of %s bits, or a row too many", f.Name(), bits)
		}
	}
}
