package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http"
)

// A Source leases node IDs, and manages their realms. It is safe for concurrent use.
type Source interface {
	// Acquire leases a node ID. The Source must stay open until the lease is closed.
	Acquire(ctx context.Context, config lease.Config) (*lease.Lease, error)

	// Return gives back the node ID of a process that has ended; see [lease.Return].
	Return(ctx context.Context, receipt []byte, last time.Time) error

	// Realms returns the names of all realms that can be used, sorted.
	Realms(ctx context.Context) ([]string, error)
	// Terms returns the terms of a realm, or [lease.ErrNoRealm].
	Terms(ctx context.Context, realm string) (lease.Terms, error)
	// Create makes a realm, as [lease.Create] does.
	Create(ctx context.Context, config lease.Config) (bool, error)
	// SetTerms changes a realm, as [lease.SetTerms] does.
	SetTerms(ctx context.Context, realm string, change lease.TermsChange) (lease.Terms, error)

	// String returns the name of the store or the server, without a password or a token.
	String() string
	// Conditions lists, in sentences, the conditions that the store could not verify.
	Conditions() []string
	// Close releases the Source's resources. It does not end leases.
	Close() error
}

// Direct is the Source of a store. The process itself takes part in the protocol of leases, and may
// do all that package lease offers.
type Direct struct{ Store }

// Acquire leases a node ID with [lease.Acquire].
func (d Direct) Acquire(ctx context.Context, config lease.Config) (*lease.Lease, error) {
	return lease.Acquire(ctx, d.Store, config)
}

func (d Direct) Return(ctx context.Context, receipt []byte, last time.Time) error {
	return lease.Return(ctx, d.Store, receipt, last)
}

func (d Direct) Realms(ctx context.Context) ([]string, error) {
	names, err := d.Store.Realms(ctx)
	slices.Sort(names)
	return names, err
}

func (d Direct) Terms(ctx context.Context, realm string) (lease.Terms, error) {
	root, err := lease.Realm(ctx, d.Store, realm)
	return root.Terms, err
}

func (d Direct) Create(ctx context.Context, config lease.Config) (bool, error) {
	return lease.Create(ctx, d.Store, config)
}

func (d Direct) SetTerms(ctx context.Context, realm string,
	change lease.TermsChange) (lease.Terms, error) {
	return lease.SetTerms(ctx, d.Store, realm, change)
}

// Remote is the Source of a server. The server takes part in the protocol of leases, and the
// process only holds its leases. So a process cannot fence a realm through a server.
type Remote struct{ Server *http.Client }

// Acquire leases a node ID with [lease.AcquireFrom].
func (r Remote) Acquire(ctx context.Context, config lease.Config) (*lease.Lease, error) {
	return lease.AcquireFrom(ctx, r.Server, config)
}

func (r Remote) Return(ctx context.Context, receipt []byte, last time.Time) error {
	return lease.ReturnTo(ctx, r.Server, receipt, last)
}

// Realms returns the names of the realms that the token permits.
func (r Remote) Realms(ctx context.Context) (names []string, err error) {
	const part = 1000
	for next, more := "", true; more; more = next != "" {
		var some []lease.RealmInfo
		if some, next, err = r.Server.Realms(ctx, nil, next, part); err != nil {
			return nil, err
		}
		for _, realm := range some {
			names = append(names, realm.Name)
		}
	}
	return names, nil
}

func (r Remote) Terms(ctx context.Context, realm string) (lease.Terms, error) {
	info, err := r.Server.Realm(ctx, realm)
	return info.Terms, err
}

func (r Remote) Create(ctx context.Context, config lease.Config) (bool, error) {
	if config.Format.Mixed && !config.OneSize {
		config.NodeBits = 0 // the realm grants all sizes
	}
	_, created, err := r.Server.CreateRealm(ctx, config)
	return created, err
}

func (r Remote) SetTerms(ctx context.Context, realm string,
	change lease.TermsChange) (lease.Terms, error) {
	info, err := r.Server.SetRealm(ctx, realm, change)
	return info.Terms, err
}

func (r Remote) String() string       { return r.Server.String() }
func (r Remote) Conditions() []string { return r.Server.Conditions() }
func (r Remote) Close() error         { return r.Server.Close() }

// OpenSource opens the store or the server at a URL. It is like [Open], but also takes the URL of a
// server, such as https://ids.example.com?token=env:SORTID_TOKEN.
func OpenSource(ctx context.Context, url string) (Source, error) {
	return openSource(ctx, url, Open)
}

// OpenExistingSource is like OpenSource, but creates nothing; see [OpenExisting].
func OpenExistingSource(ctx context.Context, url string) (Source, error) {
	return openSource(ctx, url, OpenExisting)
}

func openSource(ctx context.Context, url string,
	open func(context.Context, string) (Store, error)) (Source, error) {
	if IsServer(url) {
		c, err := http.Open(ctx, url)
		if err != nil {
			return nil, err
		}
		return Remote{c}, nil
	}
	s, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	return Direct{s}, nil
}

// IsServer reports whether the URL begins with http:// or https://.
func IsServer(url string) bool {
	name, _, _ := strings.Cut(url, ":")
	return strings.EqualFold(name, "https") || strings.EqualFold(name, "http")
}
