package catalog_test

import (
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/plan"
	"github.com/sortid/sortid/cmd/sortid/internal/sqltext"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/usage"
	"github.com/sortid/sortid/lease"
)

// Each package with facts about our formats must have them for each format. The packages typed,
// pgxid, verify and web have a test of the same name, because their facts are not exported.
func TestEveryFormat(t *testing.T) {
	for _, f := range format.Ours() {
		lacks := func(file string) {
			t.Helper()
			t.Errorf("%s lacks %s", file, f.Name)
		}
		one := []*format.Format{f}
		if sqltext.FactsOf(f) == nil {
			lacks("cmd/sortid/internal/sqltext/facts.go")
		} else if _, err := sqltext.Postgres(sqltext.DefaultSchema, one); err != nil {
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
		facts := plan.FactsOf(f)
		if facts == nil {
			lacks("cmd/sortid/internal/plan/facts.go")
		} else if facts.Choose == "" || facts.Unique == "" || facts.PerTick == "" {
			t.Errorf("cmd/sortid/internal/plan/facts.go: %s lacks a text: %+v", f.Name, facts)
		}
		if generate.OptionsOf(f) == nil {
			lacks("generate/generate.go")
		}
		if _, ok := usage.FactsOf(f); !ok {
			lacks("internal/usage/usage.go")
		} else if _, err := usage.Of(f, 0); err != nil {
			t.Errorf("internal/usage/usage.go: %v", err)
		}
		if _, ok := generate.NodeOption(f); ok && lease.FormatOf(f.Name).Bits == 0 {
			lacks("lease/record.go")
		}
	}
}
