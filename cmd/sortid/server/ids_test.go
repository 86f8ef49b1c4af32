package server

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

func TestMostIDs(t *testing.T) {
	_, ts := start(t, Config{})
	for _, query := range []string{"?n=100000", "?n=%3100000"} {
		for _, accept := range []string{typeText, typeJSON} {
			a := send(t, http.MethodGet, ts.URL+"/v1/ids/scru128"+query, "", "Accept: "+accept)
			if a.StatusCode != http.StatusOK ||
				max(strings.Count(a.body, "\n"), strings.Count(a.body, `,"`)) < 100_000 {
				t.Errorf("%s as %s: %d, %d bytes", query, accept, a.StatusCode, len(a.body))
			}
		}
	}
}

// A request counts once, also if refused.
func TestCountsOnce(t *testing.T) {
	text, line, err := NewToken("one", []string{permitIDs}, 1, 0) // one request a second
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tokens")
	if err := AppendToken(file, line); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/v1/ids/euid":                 http.StatusOK,
		"/v1/ids/euid?n=%31":           http.StatusOK,
		"/v1/ids/scru64?encoding=uuid": http.StatusUnprocessableEntity,
		"/v1/ids/scru64":               http.StatusServiceUnavailable,
	} {
		tokens, err := OpenTokens(t.Context(), file, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, ts := start(t, Config{Tokens: tokens})
		if a := send(t, http.MethodGet, ts.URL+path, "", "Authorization: Bearer "+
			text); a.StatusCode != want {
			t.Errorf("%s: %d, want %d: %s", path, a.StatusCode, want, a.body)
		}
	}
}
