package format

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
)

func TestNodeBits(t *testing.T) {
	got := map[string]int{}
	for _, f := range WithNode() {
		got[f.Name] = f.NodeBits
	}
	if want := map[string]int{"scru64": 23, "scru160": 16, "uid60": 9, "uuidv1": 48, "uuidv6": 48,
		"xid": 24 + 16, "objectid": 40, "orderlyid": 16, "flake": 48, "tid": 10, "threads": 13,
		"cuid": 21, "puid": 52, "snowflake-twitter": 5 + 5, "snowflake-discord": 5 + 5,
		"snowflake-instagram": 13, "sonyflake": 16, "tsid": 10, "snowid": 10,
		"snowflake-spaceflake": 5 + 5, "snowflake-flake": 5 + 5, "snowflake-frostflake": 11,
	}; !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, f := range All() {
		if (f.NodeBits == 0) != (f.Lease == (lease.Format{})) {
			t.Errorf("%s: %d bits, but %+v", f.Name, f.NodeBits, f.Lease)
		}
	}
}

// Leases can be had for each format with node IDs, in each size.
func TestLeaseConfig(t *testing.T) {
	for _, f := range WithNode() {
		for bits := range f.Lease.Bits + 1 {
			c, err := f.LeaseConfig(bits)
			if long := bits == 0 && f.NodeBits > lease.MaxBits; err != nil || long {
				if !long || !errors.Is(err, sortid.ErrOption) || !strings.Contains(err.Error(), "choose a size") {
					t.Errorf("%s: %d bits: %v", f.Name, bits, err)
				}
				continue
			}
			c.Realm = f.Name
			m := lease.NewMemory()
			if _, err := lease.Create(t.Context(), m, c); err != nil {
				t.Fatalf("%s: %d bits: %v", f.Name, bits, err)
			}
			root, err := lease.Realm(t.Context(), m, f.Name)
			if err != nil {
				t.Fatal(err)
			}
			want := bits
			if bits == 0 && f != SCRU64 {
				want = f.NodeBits
			}
			tick, epoch := max(f.Tick, time.Millisecond), f.Epoch
			if r := root.Terms; r.Only != want || r.Format != f.Name || r.Duration(1) != tick ||
				!r.Time(0).Equal(epoch) {
				t.Errorf("%s: %d bits: %+v", f.Name, bits, r)
			}
			size := max(want, 1)
			l, err := lease.Acquire(t.Context(), m, lease.Config{Realm: f.Name,
				Format: root.Terms.LeaseFormat(), NodeBits: size})
			if err != nil {
				t.Fatalf("%s: a lease of %d bits: %v", f.Name, size, err)
			}
			l.Close(t.Context())
		}
		if _, err := f.LeaseConfig(f.Lease.Bits + 1); !errors.Is(err, sortid.ErrOption) ||
			!strings.Contains(err.Error(), "a node ID of "+f.Name+" has 1 to ") {
			t.Errorf("%s: too many bits: %v", f.Name, err)
		}
	}
	_, without := LookupWithNode("ULID")
	_, none := SCRU128.LeaseConfig(0)
	for _, err := range []error{without, none} {
		if !errors.Is(err, sortid.ErrOption) || !strings.Contains(err.Error(), "have no node ID") ||
			!strings.HasSuffix(err.Error(), words.List(namesOf(WithNode()), "and")) {
			t.Error(err)
		}
	}
	if _, err := LookupWithNode("ulit"); !errors.As(err, new(*sortid.UnknownError)) {
		t.Error(err)
	}
}

func TestNodeDocument(t *testing.T) {
	b, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "| Bits of the node ID | Formats |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for _, f := range others {
		bits := strconv.Itoa(f.NodeBits)
		if f.NodeBits > lease.MaxBits {
			bits = "up to 24"
		}
		row := regexp.MustCompile(`(?m)^\| ` + bits + `[ ;,].*` + "`" + f.Name + "`")
		if (f.NodeBits != 0) != row.MatchString(table) || f.NodeBits == 0 &&
			strings.Contains(table, "`"+f.Name+"`") {
			t.Errorf("%s: no row of %s bits, or a row too many", f.Name, bits)
		}
	}
}
