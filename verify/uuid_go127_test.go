//go:build go1.27

package verify

import (
	"slices"
	"strings"
	"testing"
	"uuid"

	"github.com/sortid/sortid/verify/report"
)

func TestStandardUUID(t *testing.T) {
	const n = 20_000
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.NewV7()
	}
	check := func(edit func(ids []uuid.UUID), o Options) *report.Report {
		edited := slices.Clone(ids)
		edit(edited)
		var text strings.Builder
		for _, id := range edited {
			text.WriteString(id.String() + "\n")
		}
		r, err := Check(t.Context(), "uuidv7", strings.NewReader(text.String()), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	sound := func([]uuid.UUID) {}
	for _, o := range []Options{{}, {Unordered: true}} {
		if r := check(sound, o); r.Status != report.Pass || r.IDs != n {
			t.Errorf("%+v: %+v %+v %v", o, r.Failed(), r.Warned(), r.Facts)
		}
	}
	for want, edit := range map[string]func(ids []uuid.UUID){
		"random.rand_b.same": func(ids []uuid.UUID) {
			for i := range ids {
				copy(ids[i][8:], "\x80\x00\x00\x00\x12\x34\x56\x78")
			}
		},
		"order.duplicate": func(ids []uuid.UUID) { ids[n/2] = ids[n/2-1] },
		"order.swapped":   func(ids []uuid.UUID) { ids[500], ids[501] = ids[501], ids[500] },
		"form.version":    func(ids []uuid.UUID) { ids[n/2][6] ^= 0x30 },
	} {
		if o := check(edit, Options{}).Check(want); o == nil || o.Status != report.Fail {
			t.Errorf("%s does not fail", want)
		}
	}
}
