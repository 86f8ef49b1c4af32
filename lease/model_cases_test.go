package lease

import (
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/testserver"
)

// TestModel checks the largest models only with SORTID_SOAK, because they take minutes and
// gigabytes of memory.
func TestModel(t *testing.T) {
	for _, c := range []struct {
		name string
		size int // 0: always; 1: not with -short; 2: only with SORTID_SOAK
		m    model
	}{
		{"one block", 0, model{ticks: 3, windows: 2, net: 1, release: true}},
		{"one block, more ticks", 1, model{ticks: 4, net: 1, release: true}},
		{"one block, three processes", 1, model{procs: 3, ticks: 3, release: true}},
		{"one block, two late changes", 2, model{ticks: 4, windows: 2, net: 2, release: true}},
		{"one block, all together", 2,
			model{procs: 3, ticks: 3, windows: 2, net: 1, release: true}},
		{"three blocks", 0, model{ticks: 1, halves: true}},
		{"three blocks, late changes", 1, model{ticks: 1, net: 1, halves: true}},
		{"three blocks, release", 1, model{ticks: 1, halves: true, release: true}},
		{"three blocks, three processes", 2, model{procs: 3, ticks: 1, halves: true}},
		{"three blocks, more ticks", 2, model{ticks: 2, halves: true}},
		{"three blocks, two changes at once, few", 0,
			model{ticks: 1, revisions: 2, halves: true, together: true}},
		{"three blocks, two changes at once", 2, model{ticks: 1, halves: true, together: true}},
		{"three blocks, late changes, two at once", 2,
			model{ticks: 1, net: 1, halves: true, together: true}},
		{"clones", 0, model{ticks: 3, revisions: 4, clones: anywhere}},
		{"clones and another process", 1,
			model{procs: 3, ticks: 2, revisions: 3, clones: anywhere}},
		{"clones and another process, release", 2,
			model{procs: 3, ticks: 3, revisions: 4, clones: anywhere, release: true}},
		{"clones, release", 1, model{ticks: 3, revisions: 4, clones: anywhere, release: true}},
		{"clones, late changes", 2,
			model{ticks: 3, revisions: 4, net: 1, clones: anywhere, release: true}},
		{"clones, before a request is sent", 0,
			model{ticks: 3, revisions: 4, clones: unsent, release: true}},
		{"fence", 1, model{ticks: 2, net: 1, fence: true, revisions: 3}},
		{"fence, more ticks", 1, model{ticks: 3, fence: true, revisions: 4}},
		{"fence, release", 2, model{ticks: 3, fence: true, revisions: 4, release: true}},
		{"fence, three blocks", 2, model{ticks: 1, fence: true, revisions: 2, halves: true}},
	} {
		if c.size == 1 && testing.Short() || c.size == 2 && testserver.Soak(t) == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			states, trace := c.m.visit()
			t.Logf("%d states", states)
			if trace != nil {
				t.Error(strings.Join(trace, "\n"))
			}
		})
	}
}

// The model finds the fault of each faulty protocol: first the usual faults of leases, then faults
// that details of this protocol prevent.
func TestModelFinds(t *testing.T) {
	one := model{ticks: 3, revisions: 4}
	three := model{ticks: 1, revisions: 6, halves: true}
	fence := model{ticks: 3, revisions: 3, fence: true}
	clones := model{ticks: 3, revisions: 4, clones: anywhere}
	for _, c := range []struct {
		name    string
		variant variant
		m       model
	}{
		{"a time to live, and a heartbeat that may be late", ttl, one},
		{"an extension without a comparison", blindExtend, one},
		{"a store that forgets one change", storeForgets, one},
		{"a missing answer taken for a grant", silenceIsGrant, one},
		{"a release before the generator has stopped", releaseRunning,
			model{ticks: 3, revisions: 4, release: true}},
		{"halves retired without a stored merge", mergeNotStored, three},
		{"a merge that does not write to halves that are retired", mergeUnwritten, three},
		{"a half revived by a parent that was read before the half", parentFirst, three},
		{"a half that does not take over the hwm", hwmIgnored, three},
		{"an own grant recognized by a nonce that two clones share", believedAndRepeated, clones},
		{"a request with a nonce that two clones share", nonceRepeated, clones},
		{"an own grant recognized by its nonce although no answer was lost", nonceBelieved,
			model{ticks: 3, revisions: 4, clones: unsent}},
		{"a release of any record with the same owner", releaseByOwner,
			model{procs: 3, ticks: 2, revisions: 4, clones: anywhere, release: true}},
		{"a window that is kept when the node ID is lost", windowKept, clones},
		{"a fence that forgets an hwm above the floor", hwmForgotten, fence},
		{"a fence that carries an hwm over into blocks that are not split", hwmInUnsplit,
			model{ticks: 1, revisions: 2, fence: true, halves: true}},
		{"a generation that is not read after the commit", generationBefore, fence},
		{"a fence that is only a floor", floorAlone,
			model{ticks: 1, revisions: 3, fence: true, halves: true}},
	} {
		if (c.m.halves || c.m.procs > 2) && testing.Short() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			c.m.variant = c.variant
			c.m.limit = 5_000_000
			states, trace := c.m.visit()
			if trace == nil {
				t.Fatalf("%d states, and no wrong state", states)
			}
			t.Logf("%d states\n%s", states, strings.Join(trace, "\n"))
		})
	}
}
