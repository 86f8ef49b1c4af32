//go:build unix

package kubernetes

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/sortid/sortid/internal/testserver"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/internal/faulttest"
)

// While etcd or the API server stands still, a change fails with an error. It is not refused,
// because it may be made later.
func TestStopped(t *testing.T) {
	t.Parallel()
	servers, etcd := testserver.StartAPIServers(t, 1)
	s := open(t, testserver.KubernetesNamespace(t, servers[0].URL))
	is := none
	for name, server := range map[string]*testserver.Server{"etcd": etcd, "API server": servers[0]} {
		next := faulttest.Record(is.Revision + 1)
		server.Signal(syscall.SIGSTOP)
		ok, err := s.CompareAndSet(t.Context(), is, next)
		for ok { // the server had not stopped yet
			is, next = next, faulttest.Record(next.Revision+1)
			ok, err = s.CompareAndSet(t.Context(), is, next)
		}
		server.Signal(syscall.SIGCONT)
		if err == nil {
			t.Errorf("%s: CompareAndSet refused a change that can still be made", name)
		}
		// The change may be made even after a Get that does not return it.
		var now lease.Record
		faulttest.Eventually(t, func() bool {
			if now, err = s.Get(t.Context(), is.Realm, is.Block); err != nil {
				return false
			}
			if now != is && now != next {
				t.Fatalf("%s: the record is %+v, want %+v or %+v", name, now, is, next)
			}
			ok, err = s.CompareAndSet(t.Context(), now, faulttest.Record(now.Revision+1))
			return ok
		}, func() string { return fmt.Sprint("no further change: ", err) })
		is = faulttest.Record(now.Revision + 1)
	}
}
