package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/connect"
	"github.com/sortid/sortid/store/internal/kv"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A Store is a [lease.Store] in the Leases of a namespace of Kubernetes. It is safe for concurrent use.
type Store struct {
	*records
	client    *client
	namespace string
	terms     sync.Map // from names of realms to their lease.Terms, for people
}

type records = kv.Records[version]

// Open opens the store at a URL; see the package comment. It fails if the user may not read Leases
// there.
func Open(ctx context.Context, url string) (*Store, error) {
	config, namespace, err := find(url)
	if err != nil {
		return nil, connect.BadURL(fmt.Errorf("kubernetes: %w", err))
	}
	return New(ctx, config, namespace)
}

// find returns how to reach the cluster of a URL, and the namespace.
func find(raw string) (*rest.Config, string, error) {
	_, rest, _ := strings.Cut(raw, ":")
	namespace, query, _ := strings.Cut(rest, "?")
	params, err := url.ParseQuery(query)
	for name := range params {
		if name != "context" || len(params[name]) > 1 {
			err = errors.New("context is the only parameter")
		}
	}
	if err != nil || namespace != "" && !plain().MatchString(namespace) {
		return nil, "", errors.New("the URL: want kubernetes:NAMESPACE?context=CONTEXT; " +
			"both parts are optional, and a namespace has only lower-case letters, digits and hyphens")
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: params.Get("context")}
	overrides.Context.Namespace = namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, "", errors.New("no cluster is known: this is no pod with the token of a " +
			"ServiceAccount, and there is no kubeconfig; set KUBECONFIG, or use kubectl config")
	}
	if err == nil {
		namespace, _, err = loader.Namespace()
	}
	return config, namespace, err
}

// New is like Open, for a program that finds the cluster itself.
func New(ctx context.Context, config *rest.Config, namespace string) (*Store, error) {
	c, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	s := &Store{client: c, namespace: namespace}
	s.records = kv.NewRecords(kv.Server[version]{Read: s.read, Write: s.write, One: true,
		Failed: s.failed, Key: nameOf})
	return connect.Retry(ctx, c.base.Host, func(ctx context.Context) (*Store, error) {
		_, err := s.Get(ctx, "", lease.Block{}) // checks the permission
		if isCode(err, http.StatusTooManyRequests, http.StatusInternalServerError,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout) {
			err = connect.Temporary(err)
		}
		return s, err
	})
}

func (s *Store) leases() string {
	return "apis/coordination.k8s.io/v1/namespaces/" + s.namespace + "/leases"
}

// get sends a request that changes nothing.
func (s *Store) get(ctx context.Context, path string, query url.Values,
	answer any) (http.Header, error) {
	return connect.Read(ctx, func(ctx context.Context) (http.Header, error) {
		return s.client.ask(ctx, http.MethodGet, path, query, nil, answer)
	})
}

// few is the number of records that are read one after the other. A list reads more records with one
// request, all at the same moment.
const few = 2

func (s *Store) read(ctx context.Context, realm string,
	blocks []lease.Block) (values [][]byte, versions []version, err error) {
	objects := make([]object, len(blocks))
	if len(blocks) > few {
		if err = s.listBlocks(ctx, realm, blocks, objects); err != nil {
			return nil, nil, s.failed("read the realm", err)
		}
	} else {
		for i, b := range blocks {
			name := nameOf(realm, b)
			_, err := s.get(ctx, s.leases()+"/"+name, nil, &objects[i])
			if err != nil && !isOf(err, http.StatusNotFound, "leases") {
				return nil, nil, s.failed("read "+name, err)
			}
		}
	}
	values, versions = make([][]byte, len(blocks)), make([]version, len(blocks))
	for i, o := range objects {
		if o.Metadata.UID == "" {
			continue
		}
		// A missing annotation is an empty value, which must not be nil.
		values[i], versions[i] = append([]byte{}, o.Metadata.Annotations[annotation]...), o.version()
		if r, err := o.record(realm); blocks[i] == (lease.Block{}) && err == nil {
			s.note(r)
		}
	}
	return values, versions, nil
}

// listBlocks sets the objects of blocks. If there are several pages, they are of the same moment,
// too.
func (s *Store) listBlocks(ctx context.Context, realm string, blocks []lease.Block,
	objects []object) error {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = blockOf(b)
	}
	found, err := s.list(ctx, selector(realm)+","+labelBlock+" in ("+strings.Join(texts, ",")+")")
	for _, o := range found {
		for i, b := range blocks {
			if o.Metadata.Name == nameOf(realm, b) {
				objects[i] = o
			}
		}
	}
	return err
}

// note remembers the terms of a realm.
func (s *Store) note(r lease.Record) {
	if r.Terms != (lease.Terms{}) {
		s.terms.Store(r.Realm, r.Terms)
	}
}

// write gets only one change.
func (s *Store) write(ctx context.Context, changes []lease.Change, values []string,
	was []version) ([]version, error) {
	next, is := changes[0].Next, was[0]
	s.note(next)
	realm, _ := split(next.Realm)
	terms, _ := s.terms.Load(realm)
	known, _ := terms.(lease.Terms)
	o := newObject(next, values[0], is, known, time.Now())
	method, path := http.MethodPost, s.leases()
	if is != (version{}) {
		method, path = http.MethodPut, path+"/"+o.Metadata.Name
	}
	var stored object
	_, err := s.client.ask(ctx, method, path, url.Values{"fieldManager": {"sortid"}}, o, &stored)
	switch {
	case err == nil:
		return []version{stored.version()}, nil
	case isOf(err, http.StatusConflict, "leases"):
		return nil, nil // the object exists, or has changed, or is gone
	}
	return nil, s.failed("write "+o.Metadata.Name, err)
}

// List returns an error for a Lease with the realm's labels that is not a record.
func (s *Store) List(ctx context.Context, realm string) (records []lease.Record, err error) {
	objects, err := s.list(ctx, selector(realm))
	for i := 0; i < len(objects) && err == nil; i++ {
		var r lease.Record
		r, err = objects[i].record(realm)
		records = append(records, r)
	}
	if err != nil {
		return nil, s.failed("list the realm", err)
	}
	return records, nil
}

// selector selects the objects of a realm by their labels.
func selector(realm string) string {
	name, generation := split(realm)
	if generation == "" {
		return labelRealm + "=" + encode(name) + ",!" + labelGeneration
	}
	return labelRealm + "=" + encode(name) + "," + labelGeneration + "=" + encode(generation)
}

func (s *Store) Realms(ctx context.Context) (names []string, err error) {
	objects, err := s.list(ctx, labelState+"=realm")
	for i := 0; i < len(objects) && err == nil; i++ {
		var r lease.Record
		err = json.Unmarshal([]byte(objects[i].Metadata.Annotations[annotation]), &r)
		names = append(names, r.Realm)
	}
	if err != nil {
		return nil, s.failed("list the realms", err)
	}
	return names, nil
}

const page = "500"

// list returns all objects with these labels. If the server has forgotten the beginning of a long
// list (410), list begins again.
func (s *Store) list(ctx context.Context, selector string) ([]object, error) {
	for tries := 0; ; tries++ {
		objects, err := s.pages(ctx, s.leases(), url.Values{"labelSelector": {selector}})
		if !isCode(err, http.StatusGone) || tries == 3 {
			return objects, err
		}
	}
}

func (s *Store) pages(ctx context.Context, path string, query url.Values) (objects []object,
	err error) {
	query.Set("limit", page)
	for {
		var list struct {
			Metadata struct{ Continue string }
			Items    []object
		}
		if _, err := s.get(ctx, path, query, &list); err != nil {
			return nil, err
		}
		objects = append(objects, list.Items...)
		if list.Metadata.Continue == "" {
			return objects, nil
		}
		query.Set("continue", list.Metadata.Continue)
	}
}

// Pods returns the names of the namespace's pods, or nil if this process may not list them.
func (s *Store) Pods(ctx context.Context) (names map[string]bool, err error) {
	pods, err := s.pages(ctx, "api/v1/namespaces/"+s.namespace+"/pods", url.Values{})
	if isCode(err, http.StatusForbidden) {
		return nil, nil
	}
	if err != nil {
		return nil, s.failed("list the pods", err)
	}
	names = map[string]bool{}
	for _, pod := range pods {
		names[pod.Metadata.Name] = true
	}
	return names, nil
}

// Time is exact to a second. It fails with [lease.ErrNoTime] if the server's answers have no Date.
func (s *Store) Time(ctx context.Context) (time.Time, error) {
	header, err := s.get(ctx, "version", nil, nil)
	if err != nil && !isCode(err, http.StatusForbidden, http.StatusNotFound) {
		return time.Time{}, s.failed("read the time", err)
	}
	t, err := kv.Date(header.Get("Date"))
	if err != nil && !errors.Is(err, lease.ErrNoTime) {
		err = s.failed("read the time", err)
	}
	return t, err
}

// TimePrecision returns the precision of an HTTP answer's Date.
func (s *Store) TimePrecision() time.Duration { return time.Second }

// Conditions lists what no client of an API server can see.
func (s *Store) Conditions() []string {
	return []string{
		"conditional: the database of the cluster must keep each confirmed change in a crash; " +
			"etcd must run without --unsafe-no-fsync",
		"conditional: if the objects of the cluster are restored from a copy, or if somebody has " +
			"deleted Leases of sortid, fence the store: sortid lease fence kubernetes:" + s.namespace,
	}
}

func (s *Store) String() string {
	return "kubernetes at " + s.client.base.Host + ", namespace " + s.namespace
}

// Close closes the connection.
func (s *Store) Close() error {
	s.client.closeIdle()
	return nil
}

func (s *Store) failed(what string, err error) error {
	hint := ""
	switch {
	case isCode(err, http.StatusForbidden) && strings.Contains(err.Error(), " cannot "):
		hint = "; grant it: a Role with get, list, create and update for leases of " +
			"coordination.k8s.io"
	case isOf(err, http.StatusNotFound, "namespaces"):
		hint = "; make it: kubectl create namespace " + s.namespace
	case isCode(err, http.StatusUnauthorized):
		hint = "; the server does not accept the token or the certificate"
	}
	return fmt.Errorf("%v: cannot %s: %w%s", s, what, err, hint)
}
