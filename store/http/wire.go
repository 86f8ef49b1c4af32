package http

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
)

// These types are the bodies of requests and answers. Durations and moments are in milliseconds.

type acquireBody struct {
	Request  string `json:"request"`
	NodeBits int    `json:"node_bits,omitempty"`
	NodeID   *int64 `json:"node_id,omitempty"`
	Holder   string `json:"holder,omitempty"`
	Window   int64  `json:"lease_window_ms,omitempty"`
	Wait     int64  `json:"wait_ms,omitempty"`
	Time     *int64 `json:"time_ms,omitempty"`
}

type renewBody struct {
	Secret  string `json:"secret"`
	EndTick int64  `json:"end_tick"`
	Renewal string `json:"renewal,omitempty"`
	Time    *int64 `json:"time_ms,omitempty"`
}

type releaseBody struct {
	Secret   string `json:"secret"`
	EndTick  int64  `json:"end_tick,omitempty"`
	LastTime *int64 `json:"last_time_ms,omitempty"`
}

type realmTermsBody struct {
	Format   string `json:"format,omitempty"`
	NodeBits int    `json:"node_bits,omitempty"`
	Window   int64  `json:"lease_window_ms,omitempty"`
	Lead     int64  `json:"lead_ms,omitempty"`
}

// A moment is in Unix milliseconds.
type moment int64

func (m moment) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// unixMilli returns nil for the zero time.
func unixMilli(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// milliseconds rounds up.
func milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// span limits a number of milliseconds, so that the result does not overflow.
func span(ms int64) time.Duration {
	const most = 1 << 43 // 278 years
	return time.Duration(max(-most, min(ms, most))) * time.Millisecond
}

type leaseBody struct {
	ID       string `json:"id"`
	Secret   string `json:"secret"`
	Realm    string `json:"realm"`
	Format   string `json:"format"`
	NodeID   int64  `json:"node_id"`
	NodeBits int64  `json:"node_bits"`
	Holder   string `json:"holder"`

	ValidFrom  moment `json:"valid_from_ms"`
	RenewAt    moment `json:"renew_at_ms"`
	ValidUntil moment `json:"valid_until_ms"`
	StartsIn   int64  `json:"starts_in_ms"`
	ValidFor   int64  `json:"valid_for_ms"`
	ServerTime moment `json:"server_time_ms"`
	FirstTick  int64  `json:"first_tick"`
	EndTick    int64  `json:"end_tick"`
	Tick       int64  `json:"tick_ms"`
	Epoch      int64  `json:"tick_epoch_ms"`

	// Only in lists:
	Since    moment `json:"since_ms"`
	FreeFrom moment `json:"free_from_ms"`
	State    string `json:"state"`
}

func (l *leaseBody) wrong(format string, args ...any) error {
	return fmt.Errorf("http: the server's lease makes no sense: %s", fmt.Sprintf(format, args...))
}

func (l *leaseBody) block() (lease.Block, error) {
	if l.NodeBits < 1 || l.NodeBits > lease.MaxBits || l.NodeID < 0 || l.NodeID >= 1<<l.NodeBits {
		return lease.Block{}, l.wrong("node ID %d of %d bits", l.NodeID, l.NodeBits)
	}
	return lease.Block{NodeID: uint32(l.NodeID), Size: uint8(l.NodeBits)}, nil
}

const (
	hour    = int64(time.Hour / time.Millisecond)
	maxTime = 1 << 53 // of moments, in milliseconds
)

func (l *leaseBody) grant(realm string) (g lease.Grant, err error) {
	block, err := l.block()
	switch {
	case err != nil:
		return g, err
	case l.Realm != realm:
		return g, l.wrong("it is of realm %.100q, want %q", l.Realm, realm)
	case l.ID == "" || l.Secret == "" || len(l.Secret) > 512:
		return g, l.wrong("it has no id, no secret or a long secret")
	case l.Tick < 1 || l.Tick > hour || l.Epoch < -maxTime || l.Epoch > maxTime:
		return g, l.wrong("ticks of %d ms since %d", l.Tick, l.Epoch)
	case l.FirstTick < 0 || l.FirstTick >= l.EndTick || l.EndTick > maxTime/l.Tick:
		return g, l.wrong("ticks %d to %d", l.FirstTick, l.EndTick)
	case int64(l.ValidFrom) != l.Epoch+l.FirstTick*l.Tick:
		return g, l.wrong("valid_from_ms is not the time of first_tick")
	case int64(l.ValidUntil) != l.Epoch+l.EndTick*l.Tick:
		return g, l.wrong("valid_until_ms is not the time of end_tick")
	case l.ServerTime <= 0 || l.ServerTime > maxTime || l.StartsIn < 0 || l.ValidFor < 0:
		return g, l.wrong("server_time_ms %d, starts_in_ms %d, valid_for_ms %d", l.ServerTime,
			l.StartsIn, l.ValidFor)
	}
	return lease.Grant{
		ID: l.ID, Secret: l.Secret, Realm: l.Realm, Format: l.Format, Block: block,
		Holder: l.Holder, FirstTick: l.FirstTick, EndTick: l.EndTick,
		Tick: time.Duration(l.Tick) * time.Millisecond, Epoch: time.UnixMilli(l.Epoch),
		RenewAt: l.RenewAt.time(), StartsIn: span(l.StartsIn), ValidFor: span(l.ValidFor),
		ServerTime: l.ServerTime.time(),
	}, nil
}

func (l *leaseBody) holding() (lease.Holding, error) {
	block, err := l.block()
	return lease.Holding{ID: l.ID, Block: block, Holder: l.Holder,
		State: lease.HoldingState(l.State), Since: l.Since.time(), Until: l.ValidUntil.time(),
		FreeFrom: l.FreeFrom.time()}, err
}

type leasesBody struct {
	Leases []leaseBody `json:"leases"`
	Next   string      `json:"next"`
}

type realmBody struct {
	Name       string   `json:"name"`
	Format     string   `json:"format"`
	NodeBits   int      `json:"node_bits"`
	Window     int64    `json:"lease_window_ms"`
	Lead       int64    `json:"lead_ms"`
	Tick       int64    `json:"tick_ms"`
	Epoch      int64    `json:"tick_epoch_ms"`
	Conditions []string `json:"conditions"`
	Held       int      `json:"held"`
	Waiting    int      `json:"waiting"`
	Free       int      `json:"free"`
	FreeShare  float64  `json:"free_share"`
}

type realmsBody struct {
	Realms []realmBody `json:"realms"`
	Next   string      `json:"next"`
}

func (r *realmBody) info() (lease.RealmInfo, error) {
	bits := cmp.Or(r.NodeBits, lease.MaxBits)
	if f, err := nodefield.Lookup(r.Format); err == nil {
		bits = nodefield.LeaseFormat(f).Bits
	}
	if r.Tick < 1 || r.Tick > hour || bits < 1 || bits > lease.MaxBits || r.Window < 1 ||
		r.Window > 25*hour || r.Lead < 1 || r.Lead > 25*hour {
		return lease.RealmInfo{}, fmt.Errorf("http: the server's realm %.100q makes no sense: "+
			"%d bits, ticks of %d ms, a window of %d ms, a lead of %d ms", r.Name, bits, r.Tick,
			r.Window, r.Lead)
	}
	ticks := func(ms int64) int64 { return (ms + r.Tick - 1) / r.Tick }
	return lease.RealmInfo{
		Name: r.Name,
		Terms: lease.Terms{Bits: bits, Tick: r.Tick, Epoch: r.Epoch, Format: r.Format,
			Only: r.NodeBits, Window: ticks(r.Window), Lead: ticks(r.Lead)},
		Held: r.Held, Waiting: r.Waiting, Free: r.Free, FreeShare: r.FreeShare,
	}, nil
}

// A problemBody is an error, in the form of RFC 9457.
type problemBody struct {
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Errors []struct {
		Field  string `json:"field"`
		Detail string `json:"detail"`
	} `json:"errors"`
	Holder     string `json:"holder"`
	State      string `json:"state"`
	ValidUntil moment `json:"valid_until_ms"`
	FreeFrom   moment `json:"free_from_ms"`
	Difference int64  `json:"difference_ms"`
}
