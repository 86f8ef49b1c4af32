package http

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
)

// A Client leases node IDs from a server, and manages the server's realms. It is safe for
// concurrent use.
type Client struct {
	client     *http.Client
	address    string // without /v1/
	token      string
	conditions atomic.Pointer[[]string]
}

var _ lease.Lessor = (*Client)(nil)

// Open returns a client of the server at a URL; see the package comment. It fails if the server
// has no store for leases, or refuses the token.
func Open(ctx context.Context, url string) (*Client, error) {
	c, err := parse(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf(
			"http: the URL: %w; want https://host:8420?token=env:NAME", err))
	}
	if _, err := connect.Retry(ctx, c.address, connect.NoResult(func(ctx context.Context) error {
		var answer wire.Realms
		_, err := c.once(ctx, http.MethodGet, "/v1/realms"+page("", 1), nil, &answer)
		if e := (*Error)(nil); errors.As(err, &e) && e.Code == string(wire.Limit) {
			return nil // the server is there, and knows the token
		}
		for _, r := range answer.Realms {
			c.learn(r)
		}
		return err
	})); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func parse(url string) (*Client, error) {
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
	return &Client{
		client: &http.Client{
			Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // the token must not go elsewhere
			},
		},
		token: token,
		address: u.Scheme + "://" + strings.TrimSuffix(u.Hosts[0], ":") +
			strings.TrimSuffix("/"+u.Path, "/"),
	}, nil
}

func (c *Client) String() string { return c.address }

// Conditions lists, in sentences, the conditions that the server's store could not verify. The
// server tells them with its realms. So the list is empty until the client has seen a realm.
func (c *Client) Conditions() []string {
	if conditions := c.conditions.Load(); conditions != nil {
		return slices.Clone(*conditions)
	}
	return nil
}

// Close closes idle connections. It ends no lease.
func (c *Client) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

// Acquire asks the server for a lease; see [lease.Lessor].
func (c *Client) Acquire(ctx context.Context, realm string,
	r lease.AcquireRequest) (lease.Grant, error) {
	var answer wire.Lease
	status, err := c.once(connect.Longer(ctx, r.Wait), http.MethodPost, realmPath(realm)+"/leases",
		wire.NewAcquire(r), &answer)
	if held := (*lease.HeldError)(nil); errors.As(err, &held) {
		held.Realm = realm
		held.Block = lease.Block{NodeID: uint32(r.NodeID), Size: uint8(r.NodeBits)}
	}
	if full := (*lease.FullError)(nil); errors.As(err, &full) {
		full.Realm, full.Size = realm, r.NodeBits
	}
	if err != nil {
		return lease.Grant{}, err
	}
	g, err := answer.Decode(realm)
	g.Repeated = status == http.StatusOK
	return g, err
}

// Renew renews a lease; see [lease.Lessor].
func (c *Client) Renew(ctx context.Context, realm, id string,
	r lease.RenewRequest) (lease.Grant, error) {
	var answer wire.Lease
	if _, err := c.once(ctx, http.MethodPost, leasePath(realm, id)+"/renew",
		wire.NewRenew(r), &answer); err != nil {
		return lease.Grant{}, err
	}
	return answer.Decode(realm)
}

// Release gives a lease back; see [lease.Lessor].
func (c *Client) Release(ctx context.Context, realm, id string, r lease.ReleaseRequest) error {
	_, err := c.once(ctx, http.MethodPost, leasePath(realm, id)+"/release",
		wire.NewRelease(r), nil)
	return err
}

// Evict takes a node ID from its holder, who may use it to the end of the lease. It fails with
// [lease.ErrNotFound] if the lease is not held.
func (c *Client) Evict(ctx context.Context, realm, id string) error {
	_, err := c.patiently(ctx, http.MethodPost, leasePath(realm, id)+"/evict", nil, nil)
	return err
}

// Holdings returns up to limit leases of a realm, in the order of node IDs. It begins after the
// position after; "" is the beginning. It also returns the last position, or "" at the end.
func (c *Client) Holdings(ctx context.Context, realm, after string,
	limit int) (rows []lease.Holding, next string, err error) {
	var answer wire.Leases
	if _, err := c.patiently(ctx, http.MethodGet, realmPath(realm)+"/leases"+page(after, limit),
		nil, &answer); err != nil {
		return nil, "", err
	}
	for _, l := range answer.Leases {
		h, err := l.Decode()
		if err != nil {
			return nil, "", err
		}
		rows = append(rows, h)
	}
	return rows, value(answer.Next), nil
}

// CreateRealm makes a realm with the Realm, Format, NodeBits, Window and MaxLead of config, and
// reports whether it did. With NodeBits, the realm grants only node IDs of this size. Without a
// Format, it serves any generator. CreateRealm fails with [lease.ErrRealm] if the realm exists with
// other terms.
func (c *Client) CreateRealm(ctx context.Context, config lease.Config) (lease.RealmInfo, bool,
	error) {
	var answer wire.Realm
	status, err := c.patiently(ctx, http.MethodPut, realmPath(config.Realm),
		wire.NewMakeRealm(config), &answer)
	if err != nil {
		return lease.RealmInfo{}, false, err
	}
	info, err := c.info(answer)
	return info, status == http.StatusCreated, err
}

// SetRealm changes the window and the lead of a realm, as [lease.SetTerms] does.
func (c *Client) SetRealm(ctx context.Context, realm string,
	change lease.TermsChange) (lease.RealmInfo, error) {
	return c.realm(ctx, http.MethodPatch, realm, wire.NewChangeRealm(change))
}

func (c *Client) Realm(ctx context.Context, realm string) (lease.RealmInfo, error) {
	return c.realm(ctx, http.MethodGet, realm, nil)
}

func (c *Client) realm(ctx context.Context, method, realm string,
	body any) (lease.RealmInfo, error) {
	var answer wire.Realm
	if _, err := c.patiently(ctx, method, realmPath(realm), body, &answer); err != nil {
		return lease.RealmInfo{}, err
	}
	return c.info(answer)
}

// Realms returns up to limit realms that the token and permitted allow, in the order of names. It
// begins with the first name after the parameter after. It also returns the last name, or "" at the
// end. A nil permitted allows all realms.
func (c *Client) Realms(ctx context.Context, permitted func(name string) bool, after string,
	limit int) (realms []lease.RealmInfo, next string, err error) {
	var answer wire.Realms
	if _, err := c.patiently(ctx, http.MethodGet, "/v1/realms"+page(after, limit), nil,
		&answer); err != nil {
		return nil, "", err
	}
	for _, r := range answer.Realms {
		info, err := c.info(r)
		if err != nil {
			return nil, "", err
		}
		if permitted == nil || permitted(info.Name) {
			realms = append(realms, info)
		}
	}
	return realms, value(answer.Next), nil
}

func (c *Client) info(r wire.Realm) (lease.RealmInfo, error) {
	c.learn(r)
	return r.Decode()
}

func (c *Client) learn(r wire.Realm) {
	if r.Conditions != nil {
		c.conditions.Store(&r.Conditions)
	}
}

func realmPath(realm string) string { return "/v1/realms/" + url.PathEscape(realm) }

func leasePath(realm, id string) string {
	return realmPath(realm) + "/leases/" + url.PathEscape(id)
}

func value(next *string) string {
	if next == nil {
		return ""
	}
	return *next
}

func page(after string, limit int) string {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if after != "" {
		q.Set("after", after)
	}
	return "?" + q.Encode()
}

// patiently sends a request, and again while the server is busy or does not answer.
func (c *Client) patiently(ctx context.Context, method, path string, body, answer any) (status int,
	err error) {
	return connect.Connect(ctx, c.address, func(ctx context.Context) (int, error) {
		return c.once(ctx, method, path, body, answer)
	})
}

// once sends a request once. If no answer comes in time, the next request uses another connection.
func (c *Client) once(ctx context.Context, method, path string, body, answer any) (int, error) {
	status, err := connect.Ask(ctx, func(ctx context.Context) (int, error) {
		return c.send(ctx, method, path, body, answer)
	})
	if errors.Is(err, context.DeadlineExceeded) {
		c.client.CloseIdleConnections()
		err = fmt.Errorf("http: %s %s: %w", method, path, err)
	}
	return status, err
}

// The longest answers, in bytes. A list has up to 1000 rows of less than 4 KiB.
const (
	maxAnswer  = 4 << 20
	maxProblem = 64 << 10
)

func (c *Client) send(ctx context.Context, method, path string, body, answer any) (int, error) {
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, fmt.Errorf("http: %w", err)
		}
		in = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.address+path, in)
	if err != nil {
		return 0, fmt.Errorf("http: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	// If the server has closed an idle connection, the transport may send the request again. This
	// header tells it so, and is not sent, because it has no value.
	r.Header["Idempotency-Key"] = nil
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		return 0, c.noAnswer(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
		return resp.StatusCode, c.problem(method+" "+path, resp, text)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, fmt.Errorf("http: the server's answer to %s %s: %w", method, path, err)
	case len(text) > maxAnswer:
		return 0, fmt.Errorf("http: the server's answer to %s %s is longer than %d bytes", method,
			path, maxAnswer)
	case answer == nil:
		return resp.StatusCode, nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return 0, fmt.Errorf("http: the server's answer to %s %s: %w", method, path, err)
	}
	return resp.StatusCode, nil
}

// noAnswer explains mistakes in the URL's scheme.
func (c *Client) noAnswer(err error) error {
	record := tls.RecordHeaderError{}
	switch {
	case errors.Is(err, http.ErrSchemeMismatch),
		errors.As(err, &record) && string(record.RecordHeader[:]) == "HTTP/":
		return fmt.Errorf("http: %s does not use TLS; the URL must begin with http://", c.address)
	case strings.HasPrefix(c.address, "http:") &&
		strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`):
		return c.usesTLS()
	}
	return fmt.Errorf("http: %w", connect.Sent(err))
}

func (c *Client) usesTLS() error {
	return fmt.Errorf("http: %s uses TLS; the URL must begin with https://", c.address)
}
