package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/lease"
)

// sent returns a body as the other side receives it.
func sent[T any](t *testing.T, body T) (got T) {
	t.Helper()
	text, err := json.Marshal(body)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What one side sends is what the other side gets, also for zero values.
func TestRequests(t *testing.T) {
	at := time.UnixMilli(1795435200123)
	for _, r := range []lease.AcquireRequest{
		{Request: "0123456789abcdef", NodeID: -1},
		{Request: "0123456789abcdef", NodeBits: 8, NodeID: 0, Holder: "h",
			Window: 7 * time.Second, Wait: 3 * time.Second, Time: at},
	} {
		equal(t, sent(t, NewAcquire(r)).Decode(), r)
	}
	for _, r := range []lease.RenewRequest{
		{Secret: "s", EndTick: 5},
		{Secret: "s", EndTick: 5, Renewal: "r", Time: at},
	} {
		equal(t, sent(t, NewRenew(r)).Decode(), r)
	}
	for _, r := range []lease.ReleaseRequest{{Secret: "s"},
		{Secret: "s", EndTick: 5, LastTime: at}} {
		equal(t, sent(t, NewRelease(r)).Decode(), r)
	}
	if ms := milliseconds(1500 * time.Microsecond); *ms != 2 {
		t.Errorf("1.5 ms are %d, want 2: a window is never shorter than asked for", *ms)
	}
}

func TestAnswers(t *testing.T) {
	at := time.UnixMilli(1795435200123).UTC()
	g := lease.Grant{ID: "id", Secret: "secret", Realm: "r", Format: "scru64",
		Block: lease.Block{NodeID: 42, Size: 8}, Holder: "h", FirstTick: 100, EndTick: 335,
		Tick: 256 * time.Millisecond, Epoch: time.UnixMilli(1577836800000), RenewAt: at,
		StartsIn: 3 * time.Millisecond, ValidFor: time.Minute, ServerTime: at}
	got := check.Must(sent(t, NewLease(g)).Decode("r"))(t)
	equal(t, got, g)
	if l := NewLease(g); l.ValidFrom != "2020-01-01T00:00:25.600Z" || l.NodeSpec != "42/8" {
		t.Errorf("%+v", l)
	}
	g.StartsIn, g.ValidFor = 3*time.Millisecond+1, time.Minute-1
	if l := NewLease(g); l.StartsInMS != 4 || l.ValidForMS != 59999 {
		t.Errorf("it starts in %d ms, and is valid for %d ms; want the safe side", l.StartsInMS,
			l.ValidForMS)
	}

	terms := lease.Terms{Bits: 20, Tick: 1, Epoch: 1577836800000, Format: "tsid", Only: 10,
		Window: 60000, Lead: 10000}
	h := lease.Holding{ID: "id", Block: lease.Block{NodeID: 3, Size: 10}, Holder: "h",
		State: lease.Waiting, Since: at, Until: at.Add(time.Minute), FreeFrom: at.Add(time.Hour)}
	row := check.Must(sent(t, NewHolding("r", terms, h)).Decode())(t)
	equal(t, row, h)

	r := lease.RealmInfo{Name: "r", Terms: terms, Held: 1, Waiting: 2, Free: 3, FreeShare: 0.5}
	info := check.Must(sent(t, NewRealm(r, "guarantee", []string{})).Decode())(t)
	equal(t, info, r)

	var p Problem
	p.SetHeld(h)
	p.SetDifference(-time.Second)
	p = sent(t, p)
	equal(t, p.Held(), lease.Holding{Holder: "h", State: lease.Waiting, Until: h.Until,
		FreeFrom: h.FreeFrom})
	equal(t, p.Difference(), -time.Second)
}
