package access

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
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/server/api"
)

// Permissions that an endpoint can need.
const (
	PermitNone    = ""        // Needs no token.
	PermitAny     = "any"     // Any token is enough.
	PermitIDs     = "ids"     // Make IDs.
	PermitMetrics = "metrics" // Read the metrics.
	PermitAdmin   = "admin"   // Everything.
	PermitRealms  = "realm"   // Use at least one realm. See PermitRealm.
	permitLeases  = "lease"   // See PermitLease.
)

// Tokens is a file of tokens, with a line for each:
//
//	NAME SHA256 PERMISSIONS [requests=N] [ids=N]
//
// SHA256 is the token's hash in hexadecimal. PERMISSIONS are separated by commas: "ids",
// "realm:NAME", "lease:NAME", "metrics", "admin". Limits are per second; inspected lines count as
// IDs. Blank lines and lines that begin with # are skipped. Each line must end in a newline, because
// a line without a newline can be incomplete.
//
// A nil Tokens lets everybody do everything. Tokens is safe for concurrent use.
type Tokens struct {
	mu      sync.Mutex
	entries map[[sha256.Size]byte]*Token // by the tokens' hashes
}

// A Token is a line of the file.
type Token struct {
	// Requests and IDs are the limits; nil means no limit.
	Requests, IDs *rate.Limiter

	name    string
	sum     [sha256.Size]byte
	permits []string
	limits  string // text of the limits in the file
}

// OpenTokens reads a file of tokens. Until ctx is done, it reads the file again within seconds of
// each change. If a changed file has a mistake, the previous tokens stay in use, and the log says
// why.
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
	t.entries = map[[sha256.Size]byte]*Token{}
	for _, e := range entries {
		if old := before[e.sum]; old != nil && old.limits == e.limits {
			e.Requests, e.IDs = old.Requests, old.IDs // a reload does not refill the limits
		}
		t.entries[e.sum] = e
	}
	return nil
}

func parseTokens(text []byte) (entries []*Token, err error) {
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
	return fmt.Errorf("line %d does not end in a newline, so it may be cut off: complete or "+
		"delete it, and end the file in a newline", bytes.Count(text, []byte("\n"))+1)
}

func parseToken(fields []string) (*Token, error) {
	if len(fields) < 3 {
		return nil, errors.New(
			"want NAME SHA256 PERMISSIONS, as \"sortid serve token\" prints them")
	}
	e := &Token{name: fields[0], permits: strings.Split(fields[2], ","),
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
	for _, field := range fields[3:] {
		name, value, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(value)
		valid := err == nil && n >= 1
		switch {
		case valid && name == "requests":
			e.Requests = rate.NewLimiter(rate.Limit(n), n)
		case valid && name == "ids": // the burst must be enough for the largest answer
			e.IDs = rate.NewLimiter(rate.Limit(n), max(n, api.MaxIDs))
		default:
			return nil, fmt.Errorf("%s: %q is not a limit, want requests=N or ids=N", e.name, field)
		}
	}
	return e, nil
}

const permissionNames = "ids, realm:NAME, lease:NAME, metrics or admin"

func checkPermission(p string) error {
	kind, realm, _ := strings.Cut(p, ":")
	if p == PermitIDs || p == PermitMetrics || p == PermitAdmin ||
		(kind == PermitRealms || kind == permitLeases) && realm != "" {
		return nil
	}
	return fmt.Errorf("%q is not a permission, want %s", p, permissionNames)
}

// Find returns the token with this text, or nil. It looks up the text's hash. Nobody can find a
// text with a given hash. So the time that Find takes does not help to guess tokens.
func (t *Tokens) Find(text string) *Token {
	sum := sha256.Sum256([]byte(text))
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entries[sum]
}

// hasPermission reports whether the token has a permission. A token that permits at least one realm
// has [PermitRealms]. A token that permits to use a realm permits to lease from it.
func (e *Token) hasPermission(permission string) bool {
	return permission == PermitAny || slices.ContainsFunc(e.permits, func(p string) bool {
		kind, realm, named := strings.Cut(p, ":")
		return p == PermitAdmin || p == permission || named && permission == PermitRealms ||
			kind == PermitRealms && permission == PermitLease(realm)
	})
}

// NewToken returns a new token and its line for a file of tokens.
func NewToken(name string, permissions []string, requests, ids int) (text, line string, err error) {
	unfit := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	if name == "" || strings.HasPrefix(name, "#") || strings.ContainsFunc(name, unfit) {
		return "", "", fmt.Errorf("%q is not a name of a token: "+
			"want printable characters without spaces, and no # at the start", name)
	}
	if len(permissions) == 0 {
		return "", "", errors.New("a token without permissions: want " + permissionNames)
	}
	for _, p := range permissions {
		if err := checkPermission(p); err != nil {
			return "", "", err
		}
		if strings.ContainsFunc(p, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
			return "", "", fmt.Errorf(
				"%q has a space or a comma, which a file of tokens cannot contain", p)
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

// AppendToken appends a line from [NewToken] to a file. If the file is missing, it makes one that
// only its owner can read. It fails if the file has a mistake, or a token of the same name.
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
