package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/sortid/sortid/internal/spec"
)

// Each line of the table describes a format.
func TestTable(t *testing.T) {
	lines := bytes.Split(bytes.TrimSpace(Table()), []byte{'\n'})
	if len(lines) != len(spec.All()) {
		t.Fatalf("%d lines for %d formats", len(lines), len(spec.All()))
	}
	for i, f := range spec.All() {
		var got row
		if err := json.Unmarshal(lines[i], &got); err != nil || got.Name != f.Name ||
			got.Generates != f.Generates || got.Text.Symbols != f.Text.Symbols ||
			!slices.Equal(got.Text.Lengths, f.Text.Lengths) ||
			!slices.EqualFunc(got.Layout, f.Layout, sameBits) {
			t.Errorf("%s: %s, %v", f.Name, lines[i], err)
		}
		if (got.Time != nil) != (f.Tick != 0) || got.Time != nil &&
			got.Time.TickNanos != int64(f.Tick) {
			t.Errorf("%s: the time is %+v", f.Name, got.Time)
		}
	}
}

func sameBits(a, b spec.Field) bool {
	return a.Name == b.Name && a.Bits == b.Bits && a.Low == b.Low && a.Kind == b.Kind &&
		a.Value == b.Value && a.Shift == b.Shift && a.Usual == b.Usual
}
