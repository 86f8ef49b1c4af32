package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

type logText struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *logText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(b)
}

// check checks that the log has one line, with want, or that it is empty if want is.
func (l *logText) check(t *testing.T, what, want string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if got := l.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != min(len(want),
		1) {
		t.Errorf("%s: want one line with %q, got %q", what, want, got)
	}
	l.Reset()
}

func untilRead() {
	time.Sleep(watchInterval)
	synctest.Wait()
}

// A changed file is read without a request. A mistake is logged once for each change.
func TestTokensReread(t *testing.T) { synctest.Test(t, testTokensReread) }

func testTokensReread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	one, line1, _ := NewToken("one", []string{"ids"}, 0, 0)
	two, line2, _ := NewToken("two", []string{"ids"}, 0, 0)
	write(t, path, "# tokens\n\n"+line1)
	var log logText
	ctx, cancel := context.WithCancel(t.Context())
	tokens, err := OpenTokens(ctx, path, slog.New(slog.NewTextHandler(&log, nil)))
	must(t, err)
	check := func(what string, hasOne, hasTwo bool, logged string) {
		t.Helper()
		for range 10 {
			untilRead()
		}
		if (tokens.find(one) != nil) != hasOne || (tokens.find(two) != nil) != hasTwo {
			t.Errorf("%s: has one: %v, has two: %v", what, !hasOne, !hasTwo)
		}
		log.check(t, what, logged)
	}
	check("at first", true, false, "")
	write(t, path, line2)
	check("after a change", false, true, "level=INFO")
	write(t, path, line2+"three deadbeef ids\n")
	check("with a mistake", false, true, "line 2: three: the SHA-256 has 8 characters")
	write(t, path, line2+"three deadbeef ids\n")
	check("written again with the same mistake", false, true, "")
	write(t, path, line2+"three deadbeef ads\n")
	check("with another mistake", false, true, "level=ERROR")
	write(t, path, line2+strings.TrimSuffix(line1, "\n"))
	check("cut off", false, true, "line 2 does not end in a newline")
	write(t, path, "")
	check("emptied", false, true, "there are no tokens")
	os.Remove(path)
	check("removed", false, true, "open "+path)
	write(t, path, line1)
	check("after it came back", true, false, "level=INFO")

	info, err := os.Stat(path)
	must(t, err)
	write(t, path, line2)
	must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	if now, err := os.Stat(path); err != nil || now.Size() != info.Size() ||
		!now.ModTime().Equal(info.ModTime()) {
		t.Fatalf("%v: the size or the time differs", err)
	}
	check("with the same size and time", false, true, "level=INFO")

	// Kubernetes changes secrets in this way: it replaces a link to a directory.
	dir := t.TempDir()
	for name, line := range map[string]string{"old": line2, "new": line1} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		write(t, filepath.Join(dir, name, "tokens"), line)
	}
	link := func(name string) {
		t.Helper()
		next, data := filepath.Join(dir, "next"), filepath.Join(dir, "data")
		must(t, errors.Join(os.Symlink(name, next), os.Rename(next, data)))
	}
	link("old")
	os.Remove(path)
	must(t, os.Symlink(filepath.Join(dir, "data", "tokens"), path))
	check("as a link to the same content", false, true, "")
	link("new")
	check("after the link was replaced", true, false, "level=INFO")

	cancel()
	write(t, path, line2)
	check("after the end", true, false, "")
}

// Tokens keep what they have spent.
func TestSpentTokensReread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens")
		text, line, _ := NewToken("one", []string{"ids"}, 1, 0)
		write(t, path, line)
		tokens, err := OpenTokens(t.Context(), path, nil)
		must(t, err)
		const hour = 3600
		if take(tokens.find(text).requests, 1) > 0 {
			t.Error("the first request is not permitted")
		}
		tokens.find(text).requests.SetLimit(1. / hour)
		write(t, path, "# a comment\n"+line)
		untilRead()
		if take(tokens.find(text).requests, 1) == 0 {
			t.Error("a second request is permitted after a comment was added")
		}
		write(t, path, strings.Replace(line, "requests=1", "requests=2", 1))
		untilRead()
		if take(tokens.find(text).requests, 2) > 0 {
			t.Error("the old limit is used after it was changed")
		}
	})
}

// A token is appended only if the file has no mistake before and after.
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
		write(t, path, c.have)
		err := AppendToken(path, c.line)
		b, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
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
	must(t, AppendToken(fresh, line))
	if info, err := os.Stat(fresh); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v: others can read the file", info.Mode(), err)
	}
}

func TestAppendTokenAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked on this system")
	}
	path := filepath.Join(t.TempDir(), "tokens")
	_, line, _ := NewToken("one", []string{"ids"}, 0, 0)
	_, again, _ := NewToken("one", []string{"ids"}, 0, 0)
	other, err := os.Create(path)
	if err == nil {
		err = lock(other)
	}
	must(t, err)
	defer other.Close()
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

func TestInspectedLines(t *testing.T) { synctest.Test(t, testInspectedLines) }

func testInspectedLines(t *testing.T) {
	for _, c := range []struct{ lines, size, want int }{
		{1, 0, 1}, {1, 64, 1}, {1, 65, 2}, {1, 64 << 10, 1024}, {1000, 26_000, 1000},
		{1000, 100_000, 1563},
	} {
		if got := linesCost(c.lines, c.size); got != c.want {
			t.Errorf("%d lines of %d bytes cost %d, want %d", c.lines, c.size, got, c.want)
		}
	}

	s := &Server{config: Config{Tokens: &Tokens{}}}
	ctx := func(limits string) context.Context {
		e, err := parseToken(strings.Fields("one " + strings.Repeat("ab", 32) + " ids " + limits))
		must(t, err)
		return context.WithValue(t.Context(), tokenKey{}, e)
	}
	begin := time.Now()
	for _, free := range []context.Context{t.Context(), ctx(""), ctx("requests=1")} {
		for range 10 {
			must(t, errors.Join(s.spendLines(free, maxIDs, 64*maxIDs),
				s.waitLines(free, maxIDs, 64*maxIDs)))
		}
	}
	limited := ctx("ids=100")
	must(t, s.spendLines(limited, maxIDs-1, 0))
	must(t, s.waitLines(limited, 1, 64))
	if took := time.Since(begin); took > 0 {
		t.Errorf("below the limit it waits for %v", took)
	}
	// 64 KiB are 1024 IDs: 10.24 s.
	var problem huma.HeadersError
	if err := s.spendLines(limited, 1, 64<<10); !errors.As(err, &problem) ||
		problem.GetHeaders().Get("Retry-After") != "11" {
		t.Errorf("above the limit: %v", err)
	}
	var status huma.StatusError
	if err := s.spendLines(limited, 1, 0); !errors.As(err, &status) ||
		status.GetStatus() != http.StatusTooManyRequests {
		t.Errorf("above the limit: %v", err)
	}
	if err := s.waitLines(limited, 1, 64<<10); err != nil ||
		time.Since(begin) != 10240*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	begin = time.Now()
	if err := s.waitLines(limited, 4000, 0); err == nil || time.Since(begin) > 0 {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	gone, cancel := context.WithCancel(limited)
	cancel()
	if err := s.waitLines(gone, 1, 0); err == nil {
		t.Error("it waits for a client that has left")
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
		"a " + sum + " ids requests=10": "line 1 does not end in a newline", // maybe of 1000
	} {
		path := filepath.Join(t.TempDir(), "tokens")
		write(t, path, text)
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
