package verify

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/verify/internal/controls"
)

func TestDetect(t *testing.T) {
	for _, f := range format.Ours() {
		formatName := f.Name()
		if got := Detect([]byte("# IDs\r\n\n" +
			controls.Text(controls.Sample(formatName, 3)))); got.Format != formatName {
			t.Errorf("%s: %+v", formatName, got)
		}
	}
	for want, lines := range map[string]string{
		"uuidv7": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n017f22e2-79b1-7cc3-98c4-dc0c0c07398f\n",
		// scru128 IDs in the form of UUIDs
		"scru128": "017f22e2-79b0-7cc3-98c4-dc0c0c07398f\n017f22e2-79b1-1cc3-08c4-dc0c0c07398f\n",
		"ulid":    "01HJ3QZ8XG5ZJ9V3B2N4K6M8P0\n",
	} {
		if got := Detect([]byte(lines)); got.Format != want {
			t.Errorf("%s: %+v, want %q", lines, got, want)
		}
	}
	for lines, near := range map[string]string{
		"175928847299117063\n": "snowflake-discord",
		"what\nis\nthis\n":     "uid60",
		"507f1f77bcf86cd79943901\n507f1f77bcf86cd79943902\n": "objectid",
		"01ARZ3NDEKTSV4RRFFQ69G5F\n":                         "ulid",
		"user_01h455vb4pex5vsknk084sn02\n":                   "typeid",
		"":                                                   "",
	} {
		got := Detect([]byte(lines))
		if got.Format != "" || len(got.Nearest) != 3 || got.Reason == "" ||
			near != "" && !slices.Contains(got.Nearest, near) {
			t.Errorf("%q: %+v, want no format, and %s near", lines, got, near)
		}
	}
}

// Detect knows the streams of all formats, or names the format among the nearest.
func TestDetectStreams(t *testing.T) {
	doubles := map[string]string{"julid": "ulid"} // the format reads texts only if named
	for _, d := range controls.Ideals {
		f, _ := format.Lookup(d.Format)
		want := d.Format
		if double := doubles[want]; double != "" {
			want = double
		}
		for _, rate := range []float64{1, 1000, 100_000} {
			got := Detect([]byte(controls.Text(d.Make(1, rate, 2000))))
			if got.Format != want && (spec.Of(f).Encodings[0] != spec.Int || got.Format != "") {
				t.Errorf("%s %s, %g/s: %+v", want, d.Name, rate, got)
			}
		}
	}
}

// UUIDv4s without hyphens look like hashes, but their version shows. Hashes are no IDs, although some
// have a plausible time.
func TestDetectHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for want, change := range map[string]func(b []byte){
		"":       func([]byte) {},
		"uuidv4": func(b []byte) { b[6], b[8] = b[6]&15|0x40, b[8]&63|0x80 },
	} {
		var lines strings.Builder
		for range 2000 {
			b := binary.BigEndian.AppendUint64(nil, r.Uint64())
			b = binary.BigEndian.AppendUint64(b, r.Uint64())
			change(b)
			fmt.Fprintf(&lines, "%x\n", b)
		}
		if got := Detect([]byte(lines.String())); got.Format != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// All SCRU128 IDs of a second, and all EUIDs of a millisecond, can look like UUIDs of one version.
func TestDetectUUIDs(t *testing.T) {
	testserver.Long(t, "makes many streams")
	for _, name := range []string{"scru128", "euid"} {
		f, err := format.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		looks := map[string]int{}
		for seed := range uint64(300) {
			pace := []float64{1, 0.1, 0.01, 0.002}[seed%4]
			var lines []string
			for _, text := range controls.Find(name, "").Make(controls.New(seed, "", 10_000, pace)) {
				id, err := f.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, id.In(format.UUID))
			}
			looks[Detect([]byte(lines[0])).Format]++
			if got := Detect([]byte(controls.Text(lines))); got.Format != name || got.Open {
				t.Errorf("seed %d, pace %g: %+v; the first is %s", seed, pace, got, lines[0])
			}
			if got := Detect([]byte(controls.Text(lines[:30]))); got.Format != name && !got.Open &&
				pace < 0.03 {
				t.Errorf("seed %d, pace %g, 30 lines: %+v; the first is %s", seed, pace, got, lines[0])
			}
		}
		if len(looks) < 5 {
			t.Errorf("the first lines look only like %v", looks)
		}
	}
}
