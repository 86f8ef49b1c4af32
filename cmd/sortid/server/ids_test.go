package server

import (
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
)

// A query in its plain spelling is answered as the same one with characters escaped, for
// which the quick way is not taken.
func TestQuickAnswers(t *testing.T) {
	s, ts := start(t, Config{Store: lease.NewMemory()})
	waitReady(t, s)
	queries := []struct{ plain, escaped string }{
		{"?n=1", "?%6E=1"},
		{"?n=25", "?n=%325"},
		{"?n=4097", "?n=%34097"}, // more than are made at a time
		{"?n=100001", "?n=%3100001"},
		{"?n=0", "?n=%30"},
		{"?n=-1", "?n=%2D1"},
		{"?n=x", "?n=%78"},
		{"?form=int", "?form=%69nt"},
		{"?form=hex&n=3", "?form=%68ex&n=%33"},
		{"?n=3&form=uuid", "?n=3&form=u%75id"},
		{"?form=base64", "?form=%62ase64"},
		{"?count=3", "?c%6Funt=3"},
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, sch := range append(format.Ours(), &format.Format{Name: "ulid"}) {
			for _, accept := range []string{"*/*", "application/json", "image/png"} {
				for _, q := range queries {
					var got [2]answer
					for i, query := range []string{q.plain, q.escaped} {
						got[i] = send(t, method, ts.URL+"/v1/ids/"+sch.Name+query, "", "Accept: "+accept)
					}
					plain, escaped := got[0], got[1]
					if plain.StatusCode != escaped.StatusCode ||
						!slices.Equal(slices.Sorted(maps.Keys(plain.Header)), slices.Sorted(maps.Keys(escaped.Header))) ||
						plain.Header.Get("Content-Type") != escaped.Header.Get("Content-Type") ||
						plain.Header.Get("Cache-Control") != escaped.Header.Get("Cache-Control") {
						t.Errorf("%s %s as %s, %s: %v\n%s: %v", method, sch.Name, accept, q.plain, plain.Response, q.escaped, escaped.Response)
					}
					if plain.StatusCode != http.StatusOK && plain.body != escaped.body {
						t.Errorf("%s %s%s: %s\n%s", method, sch.Name, q.plain, plain.body, escaped.body)
					}
					if strings.Count(plain.body, "\n") != strings.Count(escaped.body, "\n") || strings.Count(plain.body, `"`) != strings.Count(escaped.body, `"`) {
						t.Errorf("%s %s%s: as many IDs: %.100q\n%.100q", method, sch.Name, q.plain, plain.body, escaped.body)
					}
				}
			}
		}
	}
}

// As many as there may be.
func TestMostIDs(t *testing.T) {
	_, ts := start(t, Config{})
	for _, query := range []string{"?n=100000", "?n=%3100000"} {
		for _, accept := range []string{typeText, typeJSON} {
			a := send(t, http.MethodGet, ts.URL+"/v1/ids/scru128"+query, "", "Accept: "+accept)
			if a.StatusCode != http.StatusOK || max(strings.Count(a.body, "\n"), strings.Count(a.body, `,"`)) < 100_000 {
				t.Errorf("%s as %s: %d, %d bytes", query, accept, a.StatusCode, len(a.body))
			}
		}
	}
}

// A request that the quick way leaves to the other counts once for its token's limit.
func TestQuickCounts(t *testing.T) {
	text, line, err := NewToken("one", []string{permitIDs}, 1, 0) // one request a second
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tokens")
	if err := AppendToken(file, line); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/v1/ids/euid":             http.StatusOK,
		"/v1/ids/euid?n=%31":       http.StatusOK,
		"/v1/ids/scru64?form=uuid": http.StatusUnprocessableEntity,
		"/v1/ids/scru64":           http.StatusServiceUnavailable,
	} {
		tokens, err := OpenTokens(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, ts := start(t, Config{Tokens: tokens})
		if a := send(t, http.MethodGet, ts.URL+path, "", "Authorization: Bearer "+text); a.StatusCode != want {
			t.Errorf("%s: %d, want %d: %s", path, a.StatusCode, want, a.body)
		}
	}
}
