package kubernetes

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

var (
	block          = faulttest.Block
	none, one, two = faulttest.Record(0), faulttest.Record(1), faulttest.Record(2)
)

// at opens the store at a URL of package testserver.
func at(ctx context.Context, raw string) (*Store, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	return New(ctx, configOf(u), strings.Trim(u.Path, "/"))
}

func configOf(u *url.URL) *rest.Config {
	return &rest.Config{Host: "https://" + u.Host, BearerToken: u.User.Username(),
		TLSClientConfig: rest.TLSClientConfig{CAFile: u.Query().Get("ca")},
		WrapTransport:   func(rt http.RoundTripper) http.RoundTripper { return once{rt} }}
}

// A once sends each request once. Otherwise net/http repeats a GET without an answer, and then a
// change succeeds although an answer was lost.
type once struct{ http.RoundTripper }

func (o once) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(strings.NewReader(""))
	}
	return o.RoundTripper.RoundTrip(r)
}

func open(t *testing.T, url string) *Store {
	t.Helper()
	return faulttest.Open(t, at, url)
}

func (o once) WrappedRoundTripper() http.RoundTripper { return o.RoundTripper }

// Two API servers have one etcd. The stores of each test use them in turn.
func TestStore(t *testing.T) {
	servers, _ := testserver.StartAPIServers(t, 2)
	var opened atomic.Uint32
	either := func(ctx context.Context, raw string) (*Store, error) {
		u, err := url.Parse(servers[opened.Add(1)%2].URL)
		if err != nil {
			return nil, err
		}
		return at(ctx, faulttest.At(t, raw, u.Host))
	}
	faulttest.Store(t, either, func(t testing.TB) string {
		return testserver.KubernetesNamespace(t, servers[0].URL)
	})
}

func TestFaults(t *testing.T) { faulttest.Faults(t, at, testserver.StartKubernetes(t), false) }

// A place is a namespace of a server.
type place struct {
	*testing.T
	admin, url, namespace string
}

func newPlace(t *testing.T, admin string) *place {
	t.Helper()
	p := &place{T: t, admin: admin, url: testserver.KubernetesNamespace(t, admin)}
	u := check.Must(url.Parse(p.url))(t)
	p.namespace = strings.Trim(u.Path, "/")
	return p
}

// call sends a request of the administrator. An empty path is the namespace's.
func (p *place) call(method, api, path string, body, answer any) {
	p.Helper()
	path = api + "/namespaces/" + p.namespace + path
	if err := testserver.CallKubernetes(p.Context(), p.admin, method, path, body, answer); err != nil {
		p.Fatal(err)
	}
}

const (
	core         = "/api/v1"
	coordination = "/apis/coordination.k8s.io/v1"
	admission    = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
)

// edit changes an object as kubectl does.
func (p *place) edit(name string, change func(o map[string]any)) {
	p.Helper()
	var o map[string]any
	p.call("GET", coordination, "/leases/"+name, nil, &o)
	change(o)
	p.call("PUT", coordination, "/leases/"+name, o, nil)
}

func (p *place) delete(name string) {
	p.Helper()
	p.call("DELETE", coordination, "/leases/"+name, nil, nil)
}

const name = "sortid.realm.042-8" // of the record one

func refuses(t *testing.T, s *Store, prev, next lease.Record) {
	t.Helper()
	if ok, err := s.CompareAndSet(t.Context(), prev, next); ok || err != nil {
		t.Errorf("CompareAndSet: %v, %v, want a refusal", ok, err)
	}
}

func TestOneServer(t *testing.T) {
	t.Parallel()
	server := testserver.StartKubernetes(t)
	for name, test := range map[string]func(*place){
		"People":     people,
		"Edited":     edited,
		"Deleted":    deleted,
		"Privileges": privileges,
		"Token":      token,
		"Quota":      quota,
		"Webhook":    webhook,
		"Namespace":  namespace,
		"Busy":       busy,
		"Pages":      pages,
		"Starts":     starts,
		"Rolling":    rolling,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newPlace(t, server.URL))
		})
	}
}

// People see who holds a node ID, and may edit all fields except the annotation.
func people(p *place) {
	s := open(p.T, p.url)
	l, err := lease.Acquire(p.Context(), s, lease.Config{Realm: "Shop & Co", NodeBits: 10, Name: "me",
		OneSize: true})
	if err != nil {
		p.Fatal(err)
	}
	var list struct{ Items []object }
	p.call("GET", coordination, "/leases?labelSelector="+url.QueryEscape(
		"sortid/realm="+encode("Shop & Co")+",sortid/state=held"), nil, &list)
	if len(list.Items) != 1 {
		p.Fatalf("%d Leases are held, want 1", len(list.Items))
	}
	o := list.Items[0]
	renewed, err := time.Parse(microTime, o.Spec.Renewed)
	if err != nil || time.Since(renewed).Abs() > time.Minute || o.Spec.Acquired == "" {
		p.Errorf("it was acquired at %q and renewed at %q", o.Spec.Acquired, o.Spec.Renewed)
	}
	if o.Spec.Holder != "me" || o.Spec.Transitions != 1 ||
		o.Spec.Seconds < 30 || o.Spec.Seconds > 70 ||
		o.Metadata.Labels[labelNode] != fmt.Sprint(l.NodeID()) {
		p.Errorf("the Lease is %+v", o)
	}
	p.edit(o.Metadata.Name, func(o map[string]any) {
		o["spec"] = map[string]any{"holderIdentity": "somebody"}
		delete(o["metadata"].(map[string]any)["labels"].(map[string]any), labelState)
	})
	if err := l.Close(p.Context()); err != nil {
		p.Errorf("Close: %v", err)
	}
	var free object
	p.call("GET", coordination, "/leases/"+o.Metadata.Name, nil, &free)
	if free.Spec.Holder != "" || free.Metadata.Labels[labelState] != "free" {
		p.Errorf("after Close, the Lease is %+v", free)
	}
}

// An edited record is an error, and so is a Lease of another program.
func edited(p *place) {
	s := open(p.T, p.url)
	faulttest.Change(p.T, s, none, one)
	annotations := func(o map[string]any) map[string]any {
		return o["metadata"].(map[string]any)["annotations"].(map[string]any)
	}
	for what, change := range map[string]func(o map[string]any){
		"no annotation": func(o map[string]any) { delete(annotations(o), annotation) },
		"no record":     func(o map[string]any) { annotations(o)[annotation] = "[]" },
		"no revision": func(o map[string]any) {
			annotations(o)[annotation] = `{"realm":"realm","block":"42/8","revision":"0"}`
		},
		"another's record": func(o map[string]any) {
			annotations(o)[annotation] = `{"realm":"realm","block":"43/8","revision":"1"}`
		},
	} {
		var was any
		p.edit(name, func(o map[string]any) {
			was = maps.Clone(annotations(o))
			change(o)
		})
		faulttest.NotARecord(p.T, s, what, "is not its record")
		if ok, err := s.CompareAndSet(p.Context(), one, two); ok || err == nil {
			p.Errorf("%s: the record is replaced: %v", what, ok)
		}
		p.edit(name, func(o map[string]any) { o["metadata"].(map[string]any)["annotations"] = was })
		faulttest.Want(p.T, s, one)
	}
}

// A deleted record is missing, and no change makes it again with a mark that nobody has read.
func deleted(p *place) {
	s, other := open(p.T, p.url), open(p.T, p.url)
	faulttest.Change(p.T, s, none, one)
	p.delete(name)
	refuses(p.T, s, one, two)
	faulttest.Want(p.T, s, none)
	faulttest.Change(p.T, other, none, one)
	faulttest.Change(p.T, s, one, two)
	p.delete(name)
	faulttest.Change(p.T, other, none, one)
	refuses(p.T, s, two, faulttest.Record(3))
	faulttest.Want(p.T, s, one)
}

// Without the Role, the error says what to grant.
func privileges(p *place) {
	rbac := "/apis/rbac.authorization.k8s.io/v1"
	rule := map[string]any{"apiGroups": []string{"coordination.k8s.io"},
		"resources": []string{"leases"}, "verbs": []string{"get"}}
	p.call("PUT", rbac, "/roles/"+p.namespace, map[string]any{
		"metadata": map[string]any{"name": p.namespace}, "rules": []any{rule}}, nil)
	s := open(p.T, p.url)
	var err error
	faulttest.Eventually(p.T, func() bool { // the server notices the change a little later
		_, err = s.Realms(p.Context())
		return err != nil
	}, func() string { return "Realms without the verb list" })
	faulttest.Says(p.T, err, `cannot list resource "leases"`, "grant it: a Role with")
	_, err = s.CompareAndSet(p.Context(), none, one)
	faulttest.Says(p.T, err, `cannot create resource "leases"`, "grant it: a Role with")
	p.call("DELETE", rbac, "/roles/"+p.namespace, nil, nil)
	faulttest.Eventually(p.T, func() bool { _, err = s.Get(p.Context(), "", block); return err != nil },
		func() string { return "Get without a Role" })
	faulttest.Refused(p.T, at, p.url, `cannot get resource "leases"`, "grant it: a Role with")
}

// A token comes from a file, as in a pod, or from a plugin. If the server no longer accepts it, the
// store gets a new one: within a minute from the file, at once from the plugin.
func token(p *place) {
	u, err := url.Parse(p.url)
	if err != nil {
		p.Fatal(err)
	}
	file := filepath.Join(p.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			p.Fatal(err)
		}
	}
	write(u.User.Username())
	fromFile := configOf(u)
	fromFile.BearerToken, fromFile.BearerTokenFile = "", file
	fromPlugin := configOf(u)
	fromPlugin.BearerToken = ""
	fromPlugin.ExecProvider = &api.ExecConfig{APIVersion: "client.authentication.k8s.io/v1",
		InteractiveMode: api.NeverExecInteractiveMode, Command: "sh", Args: []string{"-c",
			`printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", ' && ` +
				`printf '"status": {"token": "%s"}}' $(cat ` + file + ")"}}
	var stores []*Store
	is := []lease.Record{none, one, two}
	for i, config := range []*rest.Config{fromPlugin, fromFile} {
		s, err := New(p.Context(), config, p.namespace)
		if err != nil {
			p.Fatal(err)
		}
		defer s.Close()
		faulttest.Change(p.T, s, is[i], is[i+1])
		stores = append(stores, s)
	}
	p.call("DELETE", core, "/serviceaccounts/"+p.namespace, nil, nil)
	p.call("POST", core, "/serviceaccounts",
		map[string]any{"metadata": map[string]any{"name": p.namespace}}, nil)
	faulttest.Eventually(p.T, func() bool { // the server remembers tokens for some seconds
		_, err = stores[1].Get(p.Context(), "", block)
		return err != nil
	}, func() string { return "the server accepts the token of a deleted ServiceAccount" })
	faulttest.Says(p.T, err, "does not accept the token")
	write(testserver.KubernetesToken(p.T, p.admin, p.namespace, p.namespace))
	faulttest.Change(p.T, stores[0], two, faulttest.Record(3))
	faulttest.Eventually(p.T, func() bool {
		_, err = stores[1].Get(p.Context(), "", block)
		return err == nil
	}, func() string { return err.Error() })
	faulttest.Change(p.T, stores[1], faulttest.Record(3), faulttest.Record(4))
}

func quota(p *place) {
	s := open(p.T, p.url)
	hard := map[string]any{"count/leases.coordination.k8s.io": "1"}
	q := map[string]any{"metadata": map[string]any{"name": "q"}, "spec": map[string]any{"hard": hard}}
	p.call("POST", core, "/resourcequotas", q, &q)
	q["status"] = map[string]any{"hard": hard,
		"used": map[string]any{"count/leases.coordination.k8s.io": "0"}}
	p.call("PUT", core, "/resourcequotas/q/status", q, nil)
	faulttest.Change(p.T, s, none, one)
	other := one
	var err error
	faulttest.Eventually(p.T, func() (made bool) { // the server hears of the quota a little later
		other.Block.NodeID++
		made, err = s.CompareAndSet(p.Context(), lease.Record{Realm: other.Realm, Block: other.Block},
			other)
		return !made
	}, func() string { return "Leases above the quota are made" })
	faulttest.Says(p.T, err, "exceeded quota")
	faulttest.Change(p.T, s, one, two)
}

// A webhook that refuses a change is an error that quotes it.
func webhook(p *place) {
	s := open(p.T, p.url)
	faulttest.Change(p.T, s, none, one)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID string } }
		json.NewDecoder(r.Body).Decode(&review)
		json.NewEncoder(w).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1",
			"kind": "AdmissionReview", "response": map[string]any{"uid": review.Request.UID,
				"allowed": false, "status": map[string]any{"code": 409, "message": "no Leases today"}}})
	}))
	defer hook.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	err := testserver.CallKubernetes(p.Context(), p.admin, "POST", admission, map[string]any{
		"metadata": map[string]any{"name": p.namespace},
		"webhooks": []any{map[string]any{
			"name": "no.leases.test", "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
			"clientConfig": map[string]any{"url": hook.URL, "caBundle": certificate},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{
				"kubernetes.io/metadata.name": p.namespace}},
			"rules": []any{map[string]any{"apiGroups": []string{"*"}, "apiVersions": []string{"*"},
				"resources": []string{"leases"}, "operations": []string{"*"}}}}}}, nil)
	if err != nil {
		p.Fatal(err)
	}
	defer testserver.CallKubernetes(context.Background(), p.admin, "DELETE",
		admission+"/"+p.namespace, nil, nil)
	is := one
	faulttest.Eventually(p.T, func() bool { // the server notices the webhook a little later
		next := faulttest.Record(is.Revision + 1)
		var ok bool
		if ok, err = s.CompareAndSet(p.Context(), is, next); ok {
			is = next
		}
		return err != nil
	}, func() string { return "the webhook is not called" })
	faulttest.Says(p.T, err, "no Leases today")
	faulttest.Want(p.T, s, is)
}

// In a namespace that is being deleted, nothing new is leased. Then all is missing.
func namespace(p *place) {
	s := open(p.T, p.url)
	faulttest.Change(p.T, s, none, one)
	p.call("DELETE", core, "", nil, nil)
	other := lease.Record{Realm: "other", Revision: 1}
	_, err := s.CompareAndSet(p.Context(), lease.Record{Realm: "other"}, other)
	faulttest.Says(p.T, err, "being terminated")
	faulttest.Change(p.T, s, one, two)
	p.delete(name) // as the controller of namespaces does, which this cluster has not
	var ns map[string]any
	p.call("GET", core, "", nil, &ns)
	ns["spec"] = map[string]any{"finalizers": []string{}}
	p.call("PUT", core, "/finalize", ns, nil)
	gone, err := at(p.Context(), faulttest.Edit(p.T, p.url, func(u *url.URL) {
		admin, _ := url.Parse(p.admin)
		u.User = admin.User
	}))
	if err != nil {
		p.Fatal(err)
	}
	defer gone.Close()
	faulttest.Want(p.T, gone, none)
	_, err = gone.CompareAndSet(p.Context(), none, one)
	faulttest.Says(p.T, err, "kubectl create namespace "+p.namespace)
}

// front returns the URL of a proxy before the server. If answer returns true, it has answered.
func (p *place) front(answer func(w http.ResponseWriter, r *http.Request) bool) string {
	p.Helper()
	u, err := url.Parse(p.url)
	if err != nil {
		p.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "https", Host: u.Host})
	proxy.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answer(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	p.Cleanup(server.Close)
	ca := filepath.Join(p.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, certificate, 0o600); err != nil {
		p.Fatal(err)
	}
	u.Host, u.RawQuery = server.Listener.Addr().String(), url.Values{"ca": {ca}}.Encode()
	return u.String()
}

// A request that a busy server has refused is sent again, but not before the server wants it. Any
// other failure may have made the change.
func busy(p *place) {
	var refuse, code atomic.Int32
	var refused atomic.Int64
	code.Store(http.StatusTooManyRequests)
	front := p.front(func(w http.ResponseWriter, r *http.Request) bool {
		now := time.Now().UnixMilli()
		if refuse.Add(-1) < 0 {
			if was := refused.Swap(0); was != 0 && now-was < 1000 {
				p.Errorf("it was sent again after %d ms, want 1 s", now-was)
			}
			return false
		}
		refused.Store(now)
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(int(code.Load()))
		return true
	})
	s := open(p.T, front)
	refuse.Store(2)
	faulttest.Change(p.T, s, none, one)
	refuse.Store(1)
	faulttest.Change(p.T, s, one, two)
	refuse.Store(1)
	faulttest.Want(p.T, s, two)
	for _, c := range []int{500, 502, 503, 504, 302, 307} {
		code.Store(int32(c))
		refuse.Store(1)
		refused.Store(0)
		if ok, err := s.CompareAndSet(p.Context(), two, faulttest.Record(3)); err == nil {
			p.Errorf("after %d: %v", c, ok)
		}
		refused.Store(0)
		faulttest.Want(p.T, s, two)
	}
	code.Store(http.StatusServiceUnavailable)
	refuse.Store(1)
	refused.Store(0)
	open(p.T, front)
}

// If the server has forgotten the beginning of a list, the list begins again.
func pages(p *place) {
	var gone atomic.Int32
	s := open(p.T, p.front(func(w http.ResponseWriter, r *http.Request) bool {
		q := r.URL.Query()
		if q.Has("resourceVersion") {
			p.Error("an old list would be accepted")
		}
		if q.Get("continue") != "" && gone.Add(-1) >= 0 {
			w.WriteHeader(http.StatusGone)
			return true
		}
		if q.Has("limit") {
			q.Set("limit", "2")
			r.URL.RawQuery = q.Encode()
		}
		return false
	}))
	for i := range uint32(5) {
		b := lease.Block{NodeID: i, Size: 8}
		faulttest.Change(p.T, s, lease.Record{Realm: "r", Block: b},
			lease.Record{Realm: "r", Block: b, Revision: 1})
	}
	for _, n := range []int32{0, 1, 3} {
		gone.Store(n)
		if records, err := s.List(p.Context(), "r"); len(records) != 5 || err != nil {
			p.Errorf("%d times gone: %d records, %v", n, len(records), err)
		}
	}
	gone.Store(100)
	if records, err := s.List(p.Context(), "r"); err == nil {
		p.Errorf("always gone: %d records", len(records))
	}
}

// The URL names a namespace and a context of the file that kubectl reads.
func TestKubeconfig(t *testing.T) {
	p := newPlace(t, testserver.StartKubernetes(t).URL)
	p.Setenv("KUBECONFIG", testserver.Kubeconfig(p.T, p.url))
	for _, url := range []string{"kubernetes:", "kubernetes:" + p.namespace, "kubernetes:?context=test"} {
		s := faulttest.Open(p.T, Open, url)
		if s.namespace != p.namespace {
			p.Errorf("%s: the namespace is %q", url, s.namespace)
		}
		if _, err := s.Get(p.Context(), "realm", block); err != nil {
			p.Errorf("%s: %v", url, err)
		}
	}
	faulttest.Refused(p.T, Open, "kubernetes:default", "cannot get resource",
		"namespace default: cannot read")
	faulttest.BadURLs(p.T, Open, map[string]string{
		"kubernetes:?context=other": `context "other" does not exist`,
		"kubernetes:A":              "kubernetes:NAMESPACE",
		"kubernetes:a/b":            "kubernetes:NAMESPACE",
		"kubernetes://a":            "kubernetes:NAMESPACE",
		"kubernetes:?c=d":           "kubernetes:NAMESPACE",
		"kubernetes:?context=%zz":   "kubernetes:NAMESPACE",
	})
	p.Setenv("KUBECONFIG", filepath.Join(p.TempDir(), "none"))
	faulttest.BadURLs(p.T, Open, map[string]string{"kubernetes:": "no cluster is known"})
}

// 300 processes that start at once get different node IDs.
func starts(p *place) {
	n := 300
	if testing.Short() { // it runs with the race detector, which takes ten times as long
		n = 60
	}
	s := open(p.T, p.url)
	config := lease.Config{Realm: "starts", NodeBits: 10, OneSize: true}
	if _, err := lease.Create(p.Context(), s, config); err != nil {
		p.Fatal(err)
	}
	began := time.Now()
	var mu sync.Mutex
	ids := map[uint32]bool{}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			s, err := at(p.Context(), p.url)
			if err != nil {
				p.Error(err)
				return
			}
			defer s.Close()
			l, err := lease.Acquire(p.Context(), s, config)
			if err != nil {
				p.Error(err)
				return
			}
			mu.Lock()
			ids[l.NodeID()] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	p.Logf("%d starts took %v", n, time.Since(began))
	if len(ids) != n && !p.Failed() {
		p.Errorf("%d processes have %d node IDs", n, len(ids))
	}
}

// In a rolling restart of 300 processes with maxSurge 25%, no two processes have one node ID at the
// same time, and no more node IDs are in use than processes.
func rolling(p *place) {
	n, surge := 300, 75
	if testing.Short() { // it runs with the race detector, which takes ten times as long
		n, surge = 60, 15
	}
	config := lease.Config{Realm: "rolling", NodeBits: 10, OneSize: true}
	if _, err := lease.Create(p.Context(), open(p.T, p.url), config); err != nil {
		p.Fatal(err)
	}
	var mu sync.Mutex
	held, most := map[uint32]bool{}, 0
	start := func() *lease.Lease {
		s, err := at(p.Context(), p.url)
		if err != nil {
			p.Error(err)
			return nil
		}
		p.Cleanup(func() { s.Close() })
		l, err := lease.Acquire(p.Context(), s, config)
		if err != nil {
			p.Error(err)
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if held[l.NodeID()] {
			p.Errorf("two processes have node ID %d", l.NodeID())
		}
		held[l.NodeID()] = true
		most = max(most, len(held))
		return l
	}
	end := func(l *lease.Lease) {
		mu.Lock()
		delete(held, l.NodeID()) // before others can have it
		mu.Unlock()
		if err := l.Close(p.Context()); err != nil {
			p.Error(err)
		}
	}
	processes := make([]*lease.Lease, n)
	for restart := range 2 { // the first one only starts
		began, places := time.Now(), make(chan int)
		var wg sync.WaitGroup
		for range surge {
			wg.Go(func() {
				for i := range places {
					old := processes[i]
					if processes[i] = start(); old != nil {
						end(old)
					}
				}
			})
		}
		for i := range processes {
			places <- i
		}
		close(places)
		wg.Wait()
		p.Logf("restart %d of %d processes took %v", restart, n, time.Since(began))
		if p.Failed() {
			return
		}
	}
	for _, l := range processes {
		end(l)
	}
	if most <= n || most > n+surge {
		p.Errorf("up to %d node IDs were in use, want %d to %d", most, n+1, n+surge)
	}
}

// Different names have different texts that Kubernetes accepts.
func TestEncode(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "shop", "Shop", "shop--x", "-", "a.b", "ü", "Ünder the sea",
		strings.Repeat("x", 63), strings.Repeat("x", 64), strings.Repeat("ü", 50)} {
		text := encode(name)
		if !plain().MatchString(text) {
			t.Errorf("%q: %q is no name", name, text)
		}
		if other, ok := seen[text]; ok {
			t.Errorf("%q and %q are both %q", name, other, text)
		}
		seen[text] = name
	}
	for text, name := range seen { // no realm can take another's text
		if encode(text) == text && text != name {
			t.Errorf("the realms %q and %[2]q are both %[2]q", name, text)
		}
	}
	if encode("shop") != "shop" || !strings.HasPrefix(encode("Shop & Co"), "shop-co--") {
		t.Errorf("%q, %q: people cannot read them", encode("shop"), encode("Shop & Co"))
	}
}
