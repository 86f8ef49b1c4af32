package http

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
)

// A Store is a [lease.Store] that a server, "sortid serve", lets clients use.
type Store struct {
	client     *http.Client
	address    string // without /v1/store/
	token      string
	conditions []string
}

// Open opens the store at a URL; see the package comment. It fails if the server has no store or
// refuses the token.
func Open(ctx context.Context, url string) (*Store, error) {
	s, err := parse(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf(
			"http: the URL: %w; want https://host:8420?token=env:NAME", err))
	}
	var answer ConditionsAnswer
	if _, err := connect.Retry(ctx, s.address, connect.NoResult(func(ctx context.Context) error {
		return s.call(ctx, "conditions", struct{}{}, &answer)
	})); err != nil {
		s.Close()
		return nil, err
	}
	s.conditions = answer.Conditions
	return s, nil
}

func parse(url string) (*Store, error) {
	u, err := kv.ParseURL(url, "", append([]string{"token"}, kv.TLS...)...)
	if err != nil {
		return nil, err
	}
	config, err := u.TLS("http")
	switch {
	case err != nil:
		return nil, err
	case len(u.Hosts) > 1:
		return nil, errors.New("there are several hosts; put them behind one address")
	case u.User+u.Password != "":
		return nil, errors.New(
			"there is a user or a password; the server needs a token, in the parameter token")
	}
	token := u.Param("token")
	if name, ok := strings.CutPrefix(token, "env:"); ok {
		if token = os.Getenv(name); token == "" {
			return nil, fmt.Errorf(
				"the parameter token names the environment variable %.40s, which is not set", name)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = config
	transport.MaxIdleConnsPerHost = 4
	s := &Store{
		client: &http.Client{
			Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
		},
		token: token,
	}
	s.address = u.Scheme + "://" + strings.TrimSuffix(u.Hosts[0], ":") +
		strings.TrimSuffix("/"+u.Path, "/")
	return s, nil
}

func (s *Store) String() string { return s.address }

func (s *Store) Conditions() []string { return s.conditions }

func (s *Store) Get(ctx context.Context, realm string, b lease.Block) (lease.Record, error) {
	records, err := s.GetMany(ctx, realm, []lease.Block{b})
	if err != nil {
		return lease.Record{}, err
	}
	return records[0], nil
}

func (s *Store) GetMany(ctx context.Context, realm string,
	blocks []lease.Block) ([]lease.Record, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	var answer GetAnswer
	if err := s.read(ctx, "get", GetRequest{realm, blocks}, &answer); err != nil {
		return nil, err
	}
	if len(answer.Records) != len(blocks) {
		return nil, fmt.Errorf("http: the server answered with %d records, want %d",
			len(answer.Records), len(blocks))
	}
	for i, r := range answer.Records {
		if r.Realm != realm || r.Block != blocks[i] {
			return nil, fmt.Errorf("http: the server answered with the record of %v of realm %q, "+
				"want %v of %q", r.Block, r.Realm, blocks[i], realm)
		}
	}
	return answer.Records, nil
}

func (s *Store) CompareAndSet(ctx context.Context, prev, next lease.Record) (bool, error) {
	return s.CompareAndSetMany(ctx, []lease.Change{{Prev: prev, Next: next}})
}

// CompareAndSetMany sends one request. If the server's store refuses a change, earlier changes may
// already be made.
func (s *Store) CompareAndSetMany(ctx context.Context, changes []lease.Change) (bool, error) {
	if len(changes) == 0 {
		return true, nil
	}
	request := CompareAndSetRequest{make([]Change, len(changes))}
	for i, c := range changes {
		request.Changes[i] = Change(c)
	}
	var answer CompareAndSetAnswer
	err := s.call(ctx, "compare-and-set", request, &answer)
	return answer.Stored && err == nil, err
}

func (s *Store) List(ctx context.Context, realm string) ([]lease.Record, error) {
	var answer ListAnswer
	err := s.read(ctx, "list", ListRequest{realm}, &answer)
	return answer.Records, err
}

// Realms returns the realms that the token permits.
func (s *Store) Realms(ctx context.Context) ([]string, error) {
	var answer RealmsAnswer
	err := s.read(ctx, "realms", struct{}{}, &answer)
	return answer.Realms, err
}

func (s *Store) Time(ctx context.Context) (time.Time, error) {
	var answer TimeAnswer
	err := s.read(ctx, "time", struct{}{}, &answer)
	return answer.Time, err
}

func (s *Store) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

func (s *Store) read(ctx context.Context, operation string, request, answer any) error {
	_, err := connect.Read(ctx, connect.NoResult(func(ctx context.Context) error {
		return s.call(ctx, operation, request, answer)
	}))
	return err
}

// call sends a request once, and reads the answer. If no answer comes in time, the next request
// uses another connection.
func (s *Store) call(ctx context.Context, operation string, request, answer any) error {
	_, err := connect.Ask(ctx, connect.NoResult(func(ctx context.Context) error {
		return s.send(ctx, operation, request, answer)
	}))
	if errors.Is(err, context.DeadlineExceeded) {
		s.client.CloseIdleConnections()
		err = fmt.Errorf("http: %s: %w", operation, err)
	}
	return err
}

func (s *Store) send(ctx context.Context, operation string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/v1/store/"+operation,
		bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	// Without GetBody, the transport never sends the body again. Sending it again would be safe,
	// because the server ignores incomplete requests. But one attempt is easier to understand.
	r.GetBody = nil
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return fmt.Errorf("http: %w", err)
	}
	defer resp.Body.Close()
	const largest = lease.MaxRecords * 4 << 10 // in bytes: a record has less than 4 KiB
	in := io.LimitReader(resp.Body, largest)
	if resp.StatusCode != http.StatusOK {
		return s.problem(operation, resp, in)
	}
	if err := json.NewDecoder(in).Decode(answer); err != nil {
		return fmt.Errorf("http: the server's answer to %s: %w", operation, err)
	}
	io.Copy(io.Discard, in) // so that the connection can be used again
	return nil
}

// ErrAccess means that the server refuses the token, or that the token does not permit the realm.
var ErrAccess = errors.New("http: the server permits no access")

func (s *Store) problem(operation string, resp *http.Response, body io.Reader) error {
	text, _ := io.ReadAll(io.LimitReader(body, 64<<10))
	var p Problem
	json.Unmarshal(text, &p)
	detail := printable(cmp.Or(p.Detail, p.Title, resp.Status))
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %s", ErrAccess, detail)
	case http.StatusNotImplemented:
		return lease.ErrNoTime
	case http.StatusNotFound:
		return fmt.Errorf("http: %s has no store for leases, or is no sortid server: %s",
			s.address, detail)
	}
	for _, e := range p.Errors {
		detail += ": " + printable(e.Location) + ": " + printable(e.Message)
	}
	err := fmt.Errorf("http: the server answered %s with %d: %s", operation, resp.StatusCode,
		detail)
	switch resp.StatusCode {
	case http.StatusUnprocessableEntity:
		if operation == "compare-and-set" {
			return fmt.Errorf("%w: %w", lease.ErrIllegal, err)
		}
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout:
		return connect.Temporary(err)
	}
	return err
}

// printable quotes a server's text if it has characters that could affect a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(s)
	}
	return s
}
