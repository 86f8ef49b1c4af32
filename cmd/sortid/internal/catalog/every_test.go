package catalog_test

import (
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/sqltext"
	"github.com/sortid/sortid/internal/spec"
)

// The description of each of our formats must be complete. The packages typed, pgxid, verify and web
// have a test of the same name, because their facts stand there.
func TestEveryFormat(t *testing.T) {
	for _, f := range spec.Ours() {
		lacks := func(what string) {
			t.Helper()
			t.Errorf("internal/spec/%s.go lacks %s", f.Name, what)
		}
		if f.Maker == nil || len(f.Maker.Options) == 0 {
			lacks("a maker with options")
		} else if f.Maker.Node != "" && f.Node.Bits == 0 {
			lacks("the size of node IDs")
		}
		if f.Plan == nil || f.Plan.Choose == "" || f.Plan.Unique == "" || f.Plan.PerTick == "" {
			lacks("a text of the plan")
		}
		if f.Codec.Read == nil {
			lacks("the function Read of the codec")
		}
		if _, err := f.Usages(0); err != nil {
			t.Error(err)
		}
		if f.SQL == nil {
			lacks("types in databases")
			continue
		}
		one := []*spec.Format{f}
		if _, err := sqltext.Postgres(sqltext.DefaultSchema, one); err != nil {
			t.Error(err)
		}
		if _, err := sqltext.MySQL(one); err != nil {
			t.Error(err)
		}
		if _, err := sqltext.SQLite(one); err != nil {
			t.Error(err)
		}
		if _, err := sqltext.DuckDB(one); err != nil {
			t.Error(err)
		}
	}
}
