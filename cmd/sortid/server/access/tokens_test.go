package access

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/internal/check"
)

func untilRead() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// A changed file is read without a request. A mistake is logged once for each change.
func TestTokensReread(t *testing.T) { synctest.Test(t, testTokensReread) }

func testTokensReread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	one, line1, _ := NewToken("one", []string{"ids"}, 0, 0)
	two, line2, _ := NewToken("two", []string{"ids"}, 0, 0)
	check.Write(t, path, "# tokens\n\n"+line1)
	var log check.Log
	ctx, cancel := context.WithCancel(t.Context())
	tokens := check.Must(OpenTokens(ctx, path, slog.New(slog.NewTextHandler(&log, nil))))(t)
	expect := func(what string, hasOne, hasTwo bool, logged string) {
		t.Helper()
		for range 10 {
			untilRead()
		}
		if (tokens.Find(one) != nil) != hasOne || (tokens.Find(two) != nil) != hasTwo {
			t.Errorf("%s: has one: %v, has two: %v", what, !hasOne, !hasTwo)
		}
		log.Line(t, what, logged)
	}
	after := func(text, what string, hasOne, hasTwo bool, logged string) {
		t.Helper()
		check.Write(t, path, text)
		expect(what, hasOne, hasTwo, logged)
	}
	expect("at first", true, false, "")
	after(line2, "after a change", false, true, "level=INFO")
	after(line2+"three deadbeef ids\n", "with a mistake", false, true,
		"line 2: three: the SHA-256 has 8 characters")
	after(line2+"three deadbeef ids\n", "written again with the same mistake", false, true, "")
	after(line2+"three deadbeef ads\n", "with another mistake", false, true, "level=ERROR")
	after(line2+strings.TrimSuffix(line1, "\n"), "cut off", false, true,
		"line 2 does not end in a newline")
	after("", "emptied", false, true, "there are no tokens")
	os.Remove(path)
	expect("removed", false, true, "open "+path)
	after(line1, "after it came back", true, false, "level=INFO")

	info := check.Must(os.Stat(path))(t)
	check.Write(t, path, line2)
	check.OK(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	if now, err := os.Stat(path); err != nil || now.Size() != info.Size() ||
		!now.ModTime().Equal(info.ModTime()) {
		t.Fatalf("%v: the size or the time differs", err)
	}
	expect("with the same size and time", false, true, "level=INFO")

	// Kubernetes changes secrets in this way: it replaces a link to a directory.
	dir := t.TempDir()
	for name, line := range map[string]string{"old": line2, "new": line1} {
		check.OK(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		check.Write(t, filepath.Join(dir, name, "tokens"), line)
	}
	link := func(name string) {
		t.Helper()
		next, data := filepath.Join(dir, "next"), filepath.Join(dir, "data")
		check.OK(t, errors.Join(os.Symlink(name, next), os.Rename(next, data)))
	}
	link("old")
	os.Remove(path)
	check.OK(t, os.Symlink(filepath.Join(dir, "data", "tokens"), path))
	expect("as a link to the same content", false, true, "")
	link("new")
	expect("after the link was replaced", true, false, "level=INFO")

	cancel()
	check.Write(t, path, line2)
	expect("after the end", true, false, "")
}

// When a file is read again, the used part of a token's limit stays used.
func TestSpentTokensReread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens")
		text, line, _ := NewToken("one", []string{"ids"}, 1, 0)
		check.Write(t, path, line)
		tokens := check.Must(OpenTokens(t.Context(), path, nil))(t)
		const hour = 3600
		if api.Take(tokens.Find(text).Requests, 1) > 0 {
			t.Error("the first request is not permitted")
		}
		tokens.Find(text).Requests.SetLimit(1. / hour)
		check.Write(t, path, "# a comment\n"+line)
		untilRead()
		if api.Take(tokens.Find(text).Requests, 1) == 0 {
			t.Error("a second request is permitted after a comment was added")
		}
		check.Write(t, path, strings.Replace(line, "requests=1", "requests=2", 1))
		untilRead()
		if api.Take(tokens.Find(text).Requests, 2) > 0 {
			t.Error("the old limit is used after it was changed")
		}
	})
}

// AppendToken changes only a file without mistakes, and makes none.
func TestAppendToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	_, line, _ := NewToken("one", []string{"ids"}, 0, 0)
	_, two, _ := NewToken("two", []string{"ids"}, 0, 0)
	_, again, _ := NewToken("one", []string{"ids"}, 0, 0)
	for _, c := range []struct{ have, line, want string }{
		{"# tokens\n" + line, again, "line 3: one is already in the file"},
		{strings.TrimSuffix(line, "\n"), two, "line 1 does not end in a newline"},
		{line + "# half a comm", two, "line 2 does not end in a newline"},
		{"three deadbeef ids\n", two, "line 1: three: the SHA-256"},
		{"", line, ""},
		{"# tokens\n", line, ""},
		{line, two, ""},
	} {
		check.Write(t, path, c.have)
		err := AppendToken(path, c.line)
		b := check.Must(os.ReadFile(path))(t)
		if c.want == "" {
			if err != nil || string(b) != c.have+c.line {
				t.Errorf("%q: %v, %q", c.have, err, b)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), path) || string(b) != c.have {
			t.Errorf("%q: %v, want %s; the file is %q", c.have, err, c.want, b)
		}
	}
	fresh := filepath.Join(t.TempDir(), "fresh")
	check.OK(t, AppendToken(fresh, line))
	if info, err := os.Stat(fresh); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v: others can read the file", info.Mode(), err)
	}
}

func TestAppendTokenAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked on Windows; to run this test: use another system")
	}
	path := filepath.Join(t.TempDir(), "tokens")
	_, line, _ := NewToken("one", []string{"ids"}, 0, 0)
	_, again, _ := NewToken("one", []string{"ids"}, 0, 0)
	other := check.Must(os.Create(path))(t)
	defer other.Close()
	check.OK(t, lock(other))
	appended := make(chan error)
	go func() { appended <- AppendToken(path, again) }()
	time.Sleep(100 * time.Millisecond) // long enough for an append that does not wait
	other.WriteString(line)
	other.Close()
	if err := <-appended; err == nil ||
		!strings.Contains(err.Error(), "one is already in the file") {
		t.Error(err)
	}
}

// A limit of requests does not limit the IDs.
func TestTokenLimits(t *testing.T) {
	for limits, want := range map[string][2]bool{
		"": {}, "requests=1": {true, false}, "ids=1": {false, true}, "ids=1 requests=1": {true, true},
	} {
		e := check.Must(parseToken(strings.Fields(
			"a " + strings.Repeat("ab", 32) + " ids " + limits)))(t)
		if got := [2]bool{e.Requests != nil, e.IDs != nil}; got != want {
			t.Errorf("%q limits requests and IDs: %v, want %v", limits, got, want)
		}
	}
}

func TestBadTokens(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		"name " + sum:                                  "line 1: want NAME SHA256 PERMISSIONS",
		"\nname abcd ids":                              "line 2: name: the SHA-256 has 4 characters",
		"name " + sum + " everything":                  `"everything" is not a permission`,
		"name " + sum + " realm:":                      `"realm:" is not a permission`,
		"name " + sum + " ids requests=-1":             `"requests=-1" is not a limit`,
		"name " + sum + " ids speed=3":                 `"speed=3" is not a limit`,
		"a " + sum + " ids\nb " + sum + " ids":         "line 2: b is already in the file",
		"a " + sum + " ids\na " + sum[2:] + "00 admin": "line 2: a is already in the file",
	} {
		if _, err := parseTokens([]byte(text + "\n")); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                              "there are no tokens",
		"# nobody yet\n\n":              "there are no tokens",
		"a " + sum + " ids\n# end":      "line 2 does not end in a newline",
		"a " + sum + " ids":             "line 1 does not end in a newline",
		"a " + sum + " ids requests=10": "line 1 does not end in a newline", // of 1000?
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		check.Write(t, path, text)
		if _, err := OpenTokens(t.Context(), path, nil); err == nil ||
			!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, name := range []string{"", "a b", "#a", "a\n"} {
		if _, _, err := NewToken(name, []string{"ids"}, 0, 0); err == nil {
			t.Errorf("a token for %q", name)
		}
	}
	for _, permissions := range [][]string{nil, {"realm:a b"}, {"realm:a,admin"}, {"everything"}} {
		if _, line, err := NewToken("a", permissions, 0, 0); err == nil {
			t.Errorf("a token for %q: %s", permissions, line)
		}
	}
}
