package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/time/rate"
)

// What a token may do.
const (
	permitNone   = ""      // needs no token
	permitAny    = "any"   // any token will do
	permitIDs    = "ids"   // make IDs
	permitAdmin  = "admin" // everything
	permitRealms = "realm" // use the store for the realms of the token, as in "realm:orders"
)

// Tokens is a file of tokens, with a line for each:
//
//	NAME SHA256 PERMISSIONS [requests=N] [ids=N]
//
// SHA256 is that of the token, in hexadecimal. PERMISSIONS are separated by commas: "ids",
// "realm:NAME", "admin". The limits are requests and IDs a second. Blank lines and lines
// that begin with # are skipped. The file is read again within a second of a change; if it
// is not well-formed then, the tokens stay as they were. Tokens is safe for concurrent use.
type Tokens struct {
	path string
	log  *slog.Logger

	mu      sync.Mutex
	entries []*token
	checked time.Time
	state   fileState
}

type fileState struct {
	modified time.Time
	size     int64
}

type token struct {
	name     string
	sum      [sha256.Size]byte
	permits  []string
	requests *rate.Limiter // nil: no limit
	ids      *rate.Limiter
	limits   string // as in the file, to keep the limiters where they did not change
}

// OpenTokens reads a file of tokens. Errors name the line.
func OpenTokens(path string, log *slog.Logger) (*Tokens, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	t := &Tokens{path: path, log: log}
	if err := t.reload(); err != nil {
		return nil, err
	}
	t.checked = time.Now()
	return t, nil
}

func (t *Tokens) reload() error {
	f, err := os.Open(t.path)
	if err != nil {
		return fmt.Errorf("file of tokens: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("file of tokens: %w", err)
	}
	entries, err := parseTokens(f)
	if err != nil {
		return fmt.Errorf("file of tokens %s: %w", t.path, err)
	}
	for _, e := range entries { // what a token has spent is not forgotten
		for _, old := range t.entries {
			if old.sum == e.sum && old.limits == e.limits {
				e.requests, e.ids = old.requests, old.ids
			}
		}
	}
	t.entries, t.state = entries, fileState{info.ModTime(), info.Size()}
	return nil
}

func parseTokens(r io.Reader) (entries []*token, err error) {
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		e, err := parseToken(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		for _, other := range entries {
			if other.name == e.name || other.sum == e.sum {
				return nil, fmt.Errorf("line %d: %s is already in the file", number, e.name)
			}
		}
		entries = append(entries, e)
	}
	return entries, lines.Err()
}

func parseToken(fields []string) (*token, error) {
	if len(fields) < 3 {
		return nil, errors.New("want NAME SHA256 PERMISSIONS, as \"sortid serve token\" prints them")
	}
	e := &token{name: fields[0], permits: strings.Split(fields[2], ","), limits: strings.Join(fields[3:], " ")}
	if n, err := hex.Decode(e.sum[:], []byte(fields[1])); err != nil || n != sha256.Size {
		return nil, fmt.Errorf("%s: the SHA-256 has %d characters, want 64 hexadecimal digits", e.name, len(fields[1]))
	}
	for _, p := range e.permits {
		if err := checkPermission(p); err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	for _, limit := range fields[3:] {
		name, value, _ := strings.Cut(limit, "=")
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s: %q is no limit, want requests=N or ids=N", e.name, limit)
		}
		switch name {
		case "requests":
			e.requests = rate.NewLimiter(rate.Limit(n), n)
		case "ids": // a whole answer must fit
			e.ids = rate.NewLimiter(rate.Limit(n), max(n, maxIDs))
		default:
			return nil, fmt.Errorf("%s: %q is no limit, want requests=N or ids=N", e.name, limit)
		}
	}
	return e, nil
}

func checkPermission(p string) error {
	realm, ok := strings.CutPrefix(p, permitRealms+":")
	if p == permitIDs || p == permitAdmin || ok && realm != "" {
		return nil
	}
	return fmt.Errorf("%q is no permission, want ids, realm:NAME or admin", p)
}

// compare is a variable for tests.
var compare = subtle.ConstantTimeCompare

// find returns the entry of a token that a client has sent, or nil. It takes the same time
// whichever it is, and if it is none.
func (t *Tokens) find(text string) *token {
	sum := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refresh()
	var found *token
	for _, e := range t.entries {
		if compare(e.sum[:], sum[:]) == 1 {
			found = e
		}
	}
	return found
}

// refresh reads the file again if it has changed, at most once a second.
func (t *Tokens) refresh() {
	if now := time.Now(); now.Sub(t.checked) >= time.Second {
		t.checked = now
		info, err := os.Stat(t.path)
		if err == nil && (fileState{info.ModTime(), info.Size()}) == t.state {
			return
		}
		if err == nil {
			err = t.reload()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.log.Error("the tokens stay as they were", slog.Any("error", err))
		} else if err != nil {
			t.log.Error("the file of tokens is gone; the tokens stay as they were", slog.String("path", t.path))
		} else {
			t.log.Info("read the tokens again", slog.Int("tokens", len(t.entries)))
		}
		if err != nil {
			t.state = fileState{} // said once a second until it is mended
		}
	}
}

// may reports whether the token has a permission, for a realm if that is not empty.
func (e *token) may(permission, realm string) bool {
	switch {
	case permission == permitAny || slices.Contains(e.permits, permitAdmin):
		return true
	case permission == permitRealms:
		return slices.Contains(e.permits, permitRealms+":"+realm)
	}
	return slices.Contains(e.permits, permission)
}

// mayUseStore reports whether the token permits any realm.
func (e *token) mayUseStore() bool {
	return slices.ContainsFunc(e.permits, func(p string) bool { return p == permitAdmin || strings.HasPrefix(p, permitRealms+":") })
}

// NewToken returns a new token and the line for it in a file of tokens.
func NewToken(name string, permissions []string, requests, ids int) (text, line string, err error) {
	if name == "" || strings.HasPrefix(name, "#") || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return "", "", fmt.Errorf("%q is no name of a token: want printable characters without spaces, the first not #", name)
	}
	for _, p := range permissions {
		if err := checkPermission(p); err != nil {
			return "", "", err
		}
		if strings.ContainsFunc(p, unicode.IsSpace) {
			return "", "", fmt.Errorf("%q has a space, which a file of tokens cannot hold", p)
		}
	}
	var secret [32]byte
	rand.Read(secret[:])
	text = "sortid_" + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(text))
	line = fmt.Sprintf("%s %x %s", name, sum, strings.Join(permissions, ","))
	if requests > 0 {
		line += fmt.Sprintf(" requests=%d", requests)
	}
	if ids > 0 {
		line += fmt.Sprintf(" ids=%d", ids)
	}
	return text, line + "\n", nil
}

// AppendToken appends a line of [NewToken] to a file, which only its owner can read if it
// is made. It returns an error if the file would not be one of tokens then.
func AppendToken(path, line string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	have, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if len(have) > 0 && have[len(have)-1] != '\n' {
		line = "\n" + line
	}
	if _, err := parseTokens(strings.NewReader(string(have) + line)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, err := f.WriteString(line); err != nil {
		return err
	}
	return f.Close()
}

type tokenKey struct{}

// tokenOf returns the token with which a request came, nil if none is needed.
func tokenOf(ctx context.Context) *token {
	e, _ := ctx.Value(tokenKey{}).(*token)
	return e
}
