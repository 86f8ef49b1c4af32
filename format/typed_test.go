package format

import (
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/conformance"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/typed"
)

func TestTyped(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	detected := 0
	for _, f := range Ours() {
		cases := conformance.VectorsOf(t, f.Name()).Typed
		for _, v := range cases.Valid {
			inner := gencore.Must(f.Parse(v.Inner))
			prefix := strings.TrimSuffix(v.Text, v.Inner)
			if c, err := f.Read(v.Text); err != nil || c.ID != inner || c.Prefix != prefix ||
				c.Encoding != Text {
				t.Errorf("%s: %v with the prefix %q, %v", v.Text, c.ID, c.Prefix, err)
			}
			if !inner.Plausible(now) || !inner.spec.Generated(&inner.words) {
				continue
			}
			detected++
			if all := AppendDetect(nil, v.Text, now); len(all) == 0 || all[0].ID != inner ||
				all[0].Prefix != prefix || all[0].text() != v.Text {
				t.Errorf("%s: detected as %v", v.Text, all)
			}
		}
		for _, v := range cases.Invalid {
			if v.Want != "" && v.Reason == "prefix" || v.Text == "user_" && f == UID60 {
				continue // any prefix is valid, and user_ itself is a uid60
			}
			c, err := f.Read(v.Text)
			if label := strings.TrimSuffix(c.Prefix, "_"); err == nil &&
				(!spec.IsLabel(label) || typed.CheckPrefix(label) == nil || f == UID60) {
				t.Errorf("%s: %s is %v with the prefix %q", v.Note, v.Text, c.ID, c.Prefix)
			}
		}
	}
	if detected < 50 {
		t.Errorf("%d vectors were plausible", detected)
	}
}
