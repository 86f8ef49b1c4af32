package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/time/rate"
)

const (
	permitNone   = ""      // needs no token
	permitAny    = "any"   // any token is enough
	permitIDs    = "ids"   // make IDs
	permitAdmin  = "admin" // everything
	permitRealms = "realm" // use the store for this realm, as in "realm:orders"
)

// Tokens is a file of tokens, with a line for each:
//
//	NAME SHA256 PERMISSIONS [requests=N] [ids=N]
//
// SHA256 is the token's hash in hexadecimal. PERMISSIONS are separated by commas: "ids",
// "realm:NAME", "admin". Limits are per second; inspected lines count as IDs. Blank lines and
// lines that begin with # are skipped. Each line must end in a newline, because a line without
// one may be incomplete. Tokens is safe for concurrent use.
type Tokens struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*token // by their hashes
}

type token struct {
	name     string
	sum      [sha256.Size]byte
	permits  []string
	requests *rate.Limiter // nil: no limit
	ids      *rate.Limiter
	limits   string // as in the file; a token with unchanged limits keeps its limiters
}

// OpenTokens reads a file of tokens, and again within seconds of each change until ctx is done.
// A changed file with a mistake, or without tokens, is not used, and the log says why.
func OpenTokens(ctx context.Context, path string, log *slog.Logger) (*Tokens, error) {
	t := &Tokens{}
	if err := watchFiles(ctx, log, "file of tokens", t.use, path); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tokens) use(contents [][]byte) error {
	entries, err := parseTokens(contents[0])
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.entries
	t.entries = map[[sha256.Size]byte]*token{}
	for _, e := range entries {
		if old := before[e.sum]; old != nil && old.limits == e.limits { // keep what it has spent
			e.requests, e.ids = old.requests, old.ids
		}
		t.entries[e.sum] = e
	}
	return nil
}

func parseTokens(text []byte) (entries []*token, err error) {
	if err := checkLastLine(text); err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		fields := strings.Fields(line)
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
	if len(entries) == 0 {
		return nil, errors.New(
			"there are no tokens; \"sortid serve token NAME --tokens FILE\" adds one")
	}
	return entries, nil
}

func checkLastLine(text []byte) error {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return nil
	}
	return fmt.Errorf(
		"line %d does not end in a newline, so it may be cut off: complete or delete it, "+
			"and end the file in a newline",
		bytes.Count(text, []byte("\n"))+1)
}

func parseToken(fields []string) (*token, error) {
	if len(fields) < 3 {
		return nil, errors.New(
			"want NAME SHA256 PERMISSIONS, as \"sortid serve token\" prints them")
	}
	e := &token{name: fields[0], permits: strings.Split(fields[2], ","),
		limits: strings.Join(fields[3:], " ")}
	if n, err := hex.Decode(e.sum[:], []byte(fields[1])); err != nil || n != sha256.Size {
		return nil, fmt.Errorf("%s: the SHA-256 has %d characters, want 64 hexadecimal digits",
			e.name, len(fields[1]))
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
			return nil, fmt.Errorf("%s: %q is not a limit, want requests=N or ids=N", e.name, limit)
		}
		switch name {
		case "requests":
			e.requests = rate.NewLimiter(rate.Limit(n), n)
		case "ids": // the burst must be enough for a whole answer
			e.ids = rate.NewLimiter(rate.Limit(n), max(n, maxIDs))
		default:
			return nil, fmt.Errorf("%s: %q is not a limit, want requests=N or ids=N", e.name, limit)
		}
	}
	return e, nil
}

func checkPermission(p string) error {
	realm, ok := strings.CutPrefix(p, permitRealms+":")
	if p == permitIDs || p == permitAdmin || ok && realm != "" {
		return nil
	}
	return fmt.Errorf("%q is not a permission, want ids, realm:NAME or admin", p)
}

func (t *Tokens) of(h http.Header) *token {
	if t == nil {
		return nil
	}
	scheme, text, ok := strings.Cut(h.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return nil
	}
	return t.find(strings.TrimSpace(text))
}

// find returns a token's entry, or nil. How long it takes reveals nothing about other tokens,
// because nobody can choose a text by its hash.
func (t *Tokens) find(text string) *token {
	sum := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[sum]
}

// may reports whether the token has a permission, for the realm if that is not "".
func (e *token) may(permission, realm string) bool {
	switch {
	case permission == permitAny || slices.Contains(e.permits, permitAdmin):
		return true
	case permission == permitRealms:
		return slices.Contains(e.permits, permitRealms+":"+realm)
	}
	return slices.Contains(e.permits, permission)
}

func (e *token) mayUseStore() bool {
	return slices.ContainsFunc(e.permits, func(p string) bool {
		return p == permitAdmin || strings.HasPrefix(p, permitRealms+":")
	})
}

// NewToken returns a new token and its line for a file of tokens.
func NewToken(name string, permissions []string, requests, ids int) (text, line string, err error) {
	unfit := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if name == "" || strings.HasPrefix(name, "#") || strings.ContainsFunc(name, unfit) {
		return "", "", fmt.Errorf(
			"%q is not a name of a token: "+
				"want printable characters without spaces, the first not #",
			name)
	}
	if len(permissions) == 0 {
		return "", "", errors.New("a token without permissions: want ids, realm:NAME or admin")
	}
	for _, p := range permissions {
		if err := checkPermission(p); err != nil {
			return "", "", err
		}
		if strings.ContainsFunc(p, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			return "", "", fmt.Errorf(
				"%q has a space or a comma, which a file of tokens cannot hold", p)
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

// AppendToken appends a line of [NewToken] to a file. It makes a missing file, which only its
// owner can read. It fails if the file has a mistake, or already has the name.
func AppendToken(path, line string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if err = checkLastLine(text); err == nil {
		_, err = parseTokens(append(text, line...))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if _, err := f.WriteString(line); err != nil {
		return err
	}
	return f.Close()
}

type tokenKey struct{}

// withToken returns the request, with a valid token in the context.
func (s *Server) withToken(r *http.Request) *http.Request {
	e := s.config.Tokens.of(r.Header)
	if e == nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), tokenKey{}, e))
}

func (s *Server) tokenOf(ctx context.Context) *token {
	if s.config.Tokens == nil {
		return nil
	}
	e, _ := ctx.Value(tokenKey{}).(*token)
	return e
}

// spendLines takes inspected lines, of size bytes together, from the token's limit. If the limit is
// reached, it returns a problem.
func (s *Server) spendLines(ctx context.Context, lines, size int) error {
	e := s.tokenOf(ctx)
	if e == nil {
		return nil
	}
	if wait := take(e.ids, linesCost(lines, size)); wait > 0 {
		return tooMany(wait,
			"the token's limit of IDs a second is reached; each inspected line counts as one")
	}
	return nil
}

// waitLines is spendLines for an answer that has begun. It waits for at most lineTimeout.
func (s *Server) waitLines(ctx context.Context, lines, size int) error {
	e := s.tokenOf(ctx)
	if e == nil || e.ids == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lineTimeout)
	defer cancel()
	if err := e.ids.WaitN(ctx, linesCost(lines, size)); err != nil {
		return errLimit
	}
	return nil
}

var errLimit = errors.New("the token's limit of IDs a second is reached, so the rest was not read")

// linesCost returns how many IDs lines count as: one a line or, if that is more, one for each
// 64 bytes.
func linesCost(lines, size int) int { return max(lines, (size+63)/64) }
