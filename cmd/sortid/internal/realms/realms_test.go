package realms

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	service "github.com/sortid/sortid/cmd/sortid/server"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
	"github.com/sortid/sortid/store/http"
)

func TestShare(t *testing.T) {
	const now, lead = 1000, 40
	type b = lease.Block
	held := lease.Record{State: lease.Whole, Owner: lease.Owner{1}, HWM: now + 1, Deadline: now + 2}
	expired := lease.Record{State: lease.Whole, Owner: lease.Owner{1}, HWM: now, Deadline: now + 1}
	lapsed := lease.Record{State: lease.Whole, Owner: lease.Owner{1}, HWM: now - 1, Deadline: now}
	split := lease.Record{State: lease.Split}
	at := func(r lease.Record, mark int64) lease.Record { r.HWM = mark; return r }
	for name, c := range map[string]struct {
		floor  int64
		blocks map[lease.Block]lease.Record
		want   string
	}{
		"empty":          {0, nil, "0% held, 100% free, 0% not available yet"},
		"fenced":         {now + lead + 1, nil, "0% held, 0% free, 100% not available yet"},
		"fenced, nearly": {now + lead, nil, "0% held, 100% free, 0% not available yet"},
		"half held": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: held},
			"50% held, 50% free, 0% not available yet"},
		"half expired": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: expired},
			"0% held, 50% expired, 50% free, 0% not available yet"},
		"half lapsed": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: lapsed},
			"0% held, 100% free, 0% not available yet"},
		"lapsed, and late": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: at(lapsed, now+lead+1)},
			"0% held, 50% free, 50% not available yet"},
		"a quarter": {0, map[b]lease.Record{{NodeID: 1, Size: 1}: split,
			{NodeID: 3, Size: 2}: held}, "25% held, 75% free, 0% not available yet"},
		"parts have the mark of the whole": {0,
			map[b]lease.Record{{NodeID: 1, Size: 1}: at(split, now+lead+1),
				{NodeID: 3, Size: 2}: held}, "25% held, 50% free, 25% not available yet"},
		"retired within a whole": {0,
			map[b]lease.Record{{NodeID: 1, Size: 1}: held, {NodeID: 3, Size: 2}: at(lease.Record{},
				now+lead+1)}, "50% held, 50% free, 0% not available yet"},
		"small": {0,
			map[b]lease.Record{{NodeID: 0, Size: 1}: split,
				{NodeID: 0, Size: 2}: {State: lease.Merging}, {NodeID: 0, Size: 3}: held},
			"12.5% held, 87.5% free, 0% not available yet"},
	} {
		r := records{root: lease.Record{HWM: c.floor, Terms: lease.Terms{Lead: lead}},
			blocks: c.blocks, now: now}
		if got := fmt.Sprint(r.share()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A server lists only the node IDs that are in use. The others are free, unless a fence forbids it.
func TestLeases(t *testing.T) {
	terms := lease.Terms{Bits: 4, Tick: 1, Window: 100, Lead: 40}
	row := func(b lease.Block, state lease.HoldingState, until, from int64) lease.Holding {
		return lease.Holding{ID: "id", Block: b, Holder: "h", State: state,
			Until: terms.Time(until), FreeFrom: terms.Time(from)}
	}
	const now = 1000
	l := leases{RealmInfo: lease.RealmInfo{Name: "r", Terms: terms, FreeShare: 1}, now: now,
		rows: []lease.Holding{
			row(lease.Block{NodeID: 0, Size: 2}, lease.Held, now+60, now+90),
			row(lease.Block{NodeID: 8, Size: 4}, lease.Held, now, now+30),
			row(lease.Block{NodeID: 9, Size: 4}, lease.Waiting, now+41, now+1),
			row(lease.Block{NodeID: 10, Size: 4}, lease.Waiting, now+141, now+101),
			row(lease.Block{NodeID: 11, Size: 4}, lease.Waiting, now+40, now),
		}}
	states := func(entries []Entry) (s string) {
		for _, e := range entries {
			s += e.Block + " " + e.State + " " + e.Holder + "; "
		}
		return s
	}
	for what, c := range map[string][2]string{
		"all": {states(l.Entries(WholeBlocks)),
			"0/2 held h; 8/4 expired h; 9/4 spent h; 10/4 ahead h; 11/4 free ; "},
		"out of use": {states(l.Entries(OutOfUse)), "8/4 expired h; 9/4 spent h; 10/4 ahead h; "},
		"a part":     {states(l.Around(lease.Block{NodeID: 1, Size: 3})), "1/3 unused ; 0/2 held h; "},
		"a whole": {states(l.Around(lease.Block{NodeID: 2, Size: 2})[:2]),
			"2/2 unused ; 8/4 expired h; "},
		"share": {l.share().String(),
			"25% held, 6.25% expired, 56.2% free, 12.5% not available yet"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %s, want %s", what, c[0], c[1])
		}
	}
	if e := l.Around(lease.Block{NodeID: 1, Size: 3})[0]; e.lead != 60*time.Millisecond {
		t.Errorf("a part of a larger node ID can be had %v after now, want 60ms", e.lead)
	}
	l.FreeShare = 0
	if s := l.share(); s != (share{Held: 0.25, Expired: 0.0625, Later: 0.6875}) {
		t.Errorf("fenced: %s, want none free", s)
	}
}

// With a server, what is read for one node ID is what a list of all shows of it.
func TestServerNode(t *testing.T) {
	for _, one := range []bool{false, true} {
		st := lease.NewMemory()
		config := lease.Config{Realm: "r", Format: lease.SCRU64(), NodeBits: 4, OneSize: one}
		check.Must(lease.Create(t.Context(), st, config))(t)
		s := check.Must(service.New(service.Config{Store: st, LeasesOnly: true, MustExist: true}))(t)
		ts := httptest.NewServer(s)
		defer ts.Close()
		client := check.Must(http.Open(t.Context(), ts.URL))(t)
		defer client.Close()
		for _, bits := range []int{4, 3, 4, 2} {
			if c := config; !one || bits == 4 {
				c.NodeBits = bits
				l := check.Must(lease.AcquireFrom(t.Context(), client, c))(t)
				defer l.Close(t.Context())
			}
		}
		a := accessTo(store.Remote{Server: client})
		held := 0
		for size := uint8(1); size <= 5; size++ {
			for id := range uint32(1) << size {
				b := lease.Block{NodeID: id, Size: size}
				var got, want string
				if !check.Soon(func() bool { // leases are renewed, and a list may be outdated
					node := check.Must(a.loadNode(t.Context(), "r", b))(t)
					all := check.Must(a.load(t.Context(), "r"))(t)
					got, want = blocksOf(node.Around(b)), blocksOf(all.Around(b))
					return got == want
				}) {
					t.Errorf("%v: %s, want %s", b, got, want)
				}
				held += strings.Count(got, "held")
			}
		}
		if held == 0 {
			t.Error("nothing is held")
		}
	}
}

func blocksOf(entries []Entry) (s string) {
	for _, e := range entries {
		s += e.Block + " " + e.State + " " + e.Until + "; "
	}
	return s
}
