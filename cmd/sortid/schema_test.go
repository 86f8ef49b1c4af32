//go:build !race

// With the race detector, jsonschema would slow down each command of the scripts.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func schemaOf(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	path := check.Must(filepath.Abs(filepath.Join("../../docs/schemas", name+".json")))(t)
	s := check.Must(jsonschema.NewCompiler().Compile(path))(t)
	return s
}

// fits returns the object in a line. The schema must accept it, but no wrong value or additional
// member.
func fits(t *testing.T, s *jsonschema.Schema, line string) (object map[string]any) {
	t.Helper()
	v := check.Must(jsonschema.UnmarshalJSON(strings.NewReader(line)))(t)
	if err := s.Validate(v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	object = v.(map[string]any)
	for _, name := range append(slices.Collect(maps.Keys(object)), "else") {
		value, present := object[name]
		object[name] = map[string]any{"wrong": json.Number("1")}
		if s.Validate(v) == nil {
			t.Fatalf("the schema accepts any value of %s in %s", name, line)
		}
		if object[name] = value; !present {
			delete(object, name)
		}
	}
	return object
}

// The JSON that commands print fits docs/schemas.
func TestSchemas(t *testing.T) {
	var input strings.Builder
	for _, s := range format.All() {
		fmt.Fprintln(&input, s.Example())
		if !s.Generates() {
			continue
		}
		for _, encoding := range s.Encodings() {
			id, _ := s.Parse(s.Example())
			fmt.Fprintln(&input, `"`+id.In(encoding)+`",`)
		}
	}
	for _, text := range []string{"018bcfe5-68b1-7a5c-92d1-0123456789ab",
		"919108f7-52d1-4320-9bac-f847db4148a8", "01ARZ3NDEKTSV4RRFFQ69G5FAV",
		"0ujtsYcgvSTl8PAuAdqWYSMnLOv", "9m4e2mr0ui3e8a215n4g", "507f1f77bcf86cd799439011",
		"user_01h455vb4pex5vsknk084sn02q",
		"1541815603606036480", "0x0186a7aa022a4155",
		" {017fef39-c264-1ba5-6a94-83188841e05a} ", "C8EE934-SR007G5-Q94QKKX-FRFV8B"} {
		fmt.Fprintln(&input, text)
	}
	lines := strings.Count(input.String(), "\n")
	db := "bolt:" + filepath.Join(t.TempDir(), "leases.db")
	for _, args := range []string{"lease create DB --realm orders --format scru64",
		"lease create DB --realm fenced --format scru64", "lease fence DB --realm fenced --yes",
		"new scru64 -n 1 --lease DB --realm orders --node-bits 3"} {
		sortid(t, "", strings.Fields(strings.ReplaceAll(args, "DB", db))...)
	}
	held := check.Must(store.Open(t.Context(), db))(t)
	defer held.Close()
	l := check.Must(lease.Acquire(t.Context(), held, lease.Config{Realm: "held",
		Format: lease.SCRU64(), NodeBits: 3}))(t)
	defer l.Close(context.Background())
	url := startServer(t, "--store", db, "--leases-only")
	for _, c := range []struct {
		schema, args string
		lines        int
	}{
		{"id", "new scru64 --node 42/8 -n 3 -o json", 3}, {"id", "new scru128 -n 3 -o json", 3},
		{"id", "new scru160 -n 3 -o json", 3},
		{"id", "new euid --ext 5/8 -n 3 -o json", 3}, {"id", "new uid60 -n 3 -o json", 3},
		{"inspect", "inspect -o json", lines},
		{"inspect", "inspect -o json --format uid60 AAAA", 1},
		{"inspect", "inspect -o json --node-bits 8 0u2pf62ji4b9", 1},
		{"scan", "scan -o json", 0},
		{"scan", "scan -o json --format uid60,scru64", 0},
		{"bounds", "bounds scru64 --from -1h -o json", 1},
		{"bounds", "bounds uid60 --on 2026-11-17 -o json", 1},
		{"bounds", "bounds uuidv7 --on 2026-11-17 -o json", 1},
		{"bounds", "bounds unix-s --on 2026-11-17 -o json", 1},
		{"formats", "formats -o json", len(format.All())},
		{"plan", "plan --rate 5000 -o json", 1},
		{"plan", "plan --rate 1e9 --burst 1e6 --processes 1000 --bits 64 -o json", 1},
		{"lease", "lease list DB --realm orders --all -o json", 0},
		{"lease", "lease show DB 0/3 --realm orders -o json", 1},
		{"lease", "lease show DB 7/3 --realm orders -o json", 1},
		{"realm", "lease show DB --realm orders -o json", 1},
		{"realm", "lease show DB --realm fenced -o json", 1},
		{"lease", "lease list SERVER --realm held -o json", 1},
		{"lease", "lease show SERVER 7/3 --realm held -o json", 0},
		{"realm", "lease show SERVER --realm fenced -o json", 1},
	} {
		schema := schemaOf(t, c.schema)
		out := sortid(t, input.String(),
			strings.Fields(strings.NewReplacer("DB", db, "SERVER", url).Replace(c.args))...)
		n := 0
		for line := range strings.Lines(out) {
			n++
			object := fits(t, schema, line)
			if name, _ := object["format"].(string); object["fields"] != nil {
				if f := check.Must(format.Lookup(name))(t); f.Generates() {
					for _, member := range []string{"text", "hex", "int", "time"} {
						if object[member] == nil {
							t.Errorf("%s: %s has no %s", c.args, line, member)
						}
					}
				}
			}
		}
		if c.lines != 0 && n != c.lines || n == 0 {
			t.Errorf("%s: %d lines, want %d", c.args, n, c.lines)
		}
	}
}

func TestVerifySchema(t *testing.T) {
	schema := schemaOf(t, "verify")
	dir := t.TempDir()
	file := func(name string, args ...string) string {
		ids := sortid(t, "", append([]string{"new"}, args...)...)
		name = filepath.Join(dir, name)
		check.OK(t, os.WriteFile(name, []byte(ids+"bad\n"), 0o600))
		return name
	}
	euid, node := file("euid", "euid", "-n", "2000"), file("node", "scru64", "--node", "42/8", "-n",
		"2000")
	empty := filepath.Join(dir, "empty")
	check.OK(t, os.WriteFile(empty, nil, 0o600))
	kinds := map[string]bool{}
	for _, args := range [][]string{
		{"verify", "-o", "json", euid, node},
		{"verify", "-o", "json", "euid", euid, empty, "--live"},
		{"verify", "-o", "json", "--unique", node, node},
	} {
		var out bytes.Buffer
		if code, stderr := start(nil, &out, args...); code != console.Failure || stderr != "" {
			t.Errorf("%v: code %d, %s", args, code, stderr)
		}
		for line := range strings.Lines(out.String()) {
			object := fits(t, schema, line)
			for _, kind := range []string{"checks", "places", "clashes"} {
				if object[kind] != nil {
					kinds[kind] = true
				}
			}
		}
	}
	if len(kinds) != 3 {
		t.Errorf("there were only lines with %v", kinds)
	}
}
