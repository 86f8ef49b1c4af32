package wire

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
)

// The bodies of answers.

// A Realm describes a realm.
type Realm struct {
	Name       string   `json:"name"`
	Format     string   `json:"format,omitempty"`
	NodeBits   int      `json:"node_bits,omitempty"`
	WindowMS   int64    `json:"lease_window_ms"`
	LeadMS     int64    `json:"lead_ms"`
	TickMS     int64    `json:"tick_ms"`
	EpochMS    int64    `json:"tick_epoch_ms"`
	Epoch      string   `json:"tick_epoch"`
	Guarantee  string   `json:"guarantee"`
	Conditions []string `json:"conditions"`
	Held       int      `json:"held"`
	Waiting    int      `json:"waiting"`
	Free       int      `json:"free"`
	FreeShare  float64  `json:"free_share"`
}

// Realms are a part of a list.
type Realms struct {
	Realms []Realm `json:"realms"`
	Next   *string `json:"next"`
}

// A Lease is what its holder knows.
type Lease struct {
	ID           string `json:"id"`
	Secret       string `json:"secret"`
	Realm        string `json:"realm"`
	Format       string `json:"format,omitempty"`
	NodeID       int64  `json:"node_id"`
	NodeBits     int64  `json:"node_bits"`
	NodeSpec     string `json:"node_spec"`
	Holder       string `json:"holder"`
	ValidFromMS  int64  `json:"valid_from_ms"`
	ValidFrom    string `json:"valid_from"`
	RenewAtMS    int64  `json:"renew_at_ms"`
	RenewAt      string `json:"renew_at"`
	ValidUntilMS int64  `json:"valid_until_ms"`
	ValidUntil   string `json:"valid_until"`
	StartsInMS   int64  `json:"starts_in_ms"`
	ValidForMS   int64  `json:"valid_for_ms"`
	ServerTimeMS int64  `json:"server_time_ms"`
	ServerTime   string `json:"server_time"`
	FirstTick    int64  `json:"first_tick"`
	EndTick      int64  `json:"end_tick"`
	TickMS       int64  `json:"tick_ms"`
	EpochMS      int64  `json:"tick_epoch_ms"`
	Epoch        string `json:"tick_epoch"`
}

// A Holding is a row in a list of leases.
type Holding struct {
	ID           string `json:"id"`
	Realm        string `json:"realm"`
	Format       string `json:"format,omitempty"`
	NodeID       int64  `json:"node_id"`
	NodeBits     int64  `json:"node_bits"`
	NodeSpec     string `json:"node_spec"`
	Holder       string `json:"holder"`
	State        string `json:"state"`
	SinceMS      int64  `json:"since_ms"`
	Since        string `json:"since"`
	ValidUntilMS int64  `json:"valid_until_ms"`
	ValidUntil   string `json:"valid_until"`
	FreeFromMS   int64  `json:"free_from_ms"`
	FreeFrom     string `json:"free_from"`
	FirstTick    int64  `json:"first_tick"`
	EndTick      int64  `json:"end_tick"`
	TickMS       int64  `json:"tick_ms"`
	EpochMS      int64  `json:"tick_epoch_ms"`
	Epoch        string `json:"tick_epoch"`
}

// Leases are a part of a list.
type Leases struct {
	Leases []Holding `json:"leases"`
	Next   *string   `json:"next"`
}

// NewRealm returns the description of a realm.
func NewRealm(r lease.RealmInfo, guarantee string, conditions []string) Realm {
	t := r.Terms
	return Realm{
		Name: r.Name, Format: t.Format, NodeBits: t.Only,
		WindowMS: t.Duration(t.Window).Milliseconds(), LeadMS: t.Duration(t.Lead).Milliseconds(),
		TickMS: t.Tick, EpochMS: t.Epoch, Epoch: text(t.Time(0)),
		Guarantee: guarantee, Conditions: conditions,
		Held: r.Held, Waiting: r.Waiting, Free: r.Free, FreeShare: r.FreeShare,
	}
}

// NewLease returns the answer that grants a lease.
func NewLease(g lease.Grant) Lease {
	from, until := g.ValidFrom(), g.ValidUntil()
	return Lease{
		ID: g.ID, Secret: g.Secret, Realm: g.Realm, Format: g.Format,
		NodeID: int64(g.Block.NodeID), NodeBits: int64(g.Block.Size),
		NodeSpec:    g.Block.String(),
		Holder:      g.Holder,
		ValidFromMS: from.UnixMilli(), ValidFrom: text(from),
		RenewAtMS: g.RenewAt.UnixMilli(), RenewAt: text(g.RenewAt),
		ValidUntilMS: until.UnixMilli(), ValidUntil: text(until),
		// Both are rounded to the safe side.
		StartsInMS:   (max(0, g.StartsIn) + time.Millisecond - 1).Milliseconds(),
		ValidForMS:   max(0, g.ValidFor).Milliseconds(),
		ServerTimeMS: g.ServerTime.UnixMilli(), ServerTime: text(g.ServerTime),
		FirstTick: g.FirstTick, EndTick: g.EndTick, TickMS: g.Tick.Milliseconds(),
		EpochMS: g.Epoch.UnixMilli(), Epoch: text(g.Epoch),
	}
}

// NewHolding returns a row in the list of a realm.
func NewHolding(realm string, t lease.Terms, h lease.Holding) Holding {
	return Holding{
		ID: h.ID, Realm: realm, Format: t.Format,
		NodeID: int64(h.Block.NodeID), NodeBits: int64(h.Block.Size),
		NodeSpec: h.Block.String(),
		Holder:   h.Holder, State: string(h.State),
		SinceMS: h.Since.UnixMilli(), Since: text(h.Since),
		ValidUntilMS: h.Until.UnixMilli(), ValidUntil: text(h.Until),
		FreeFromMS: h.FreeFrom.UnixMilli(), FreeFrom: text(h.FreeFrom),
		FirstTick: t.At(h.Since), EndTick: t.At(h.Until), TickMS: t.Tick,
		EpochMS: t.Epoch, Epoch: text(t.Time(0)),
	}
}

// Next returns where a list continues. It returns nil at the end.
func Next(position string) *string {
	if position == "" {
		return nil
	}
	return &position
}

// text returns a time in UTC, in RFC 3339 to the millisecond.
func text(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func at(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// span limits a number of milliseconds, so that the result does not overflow.
func span(ms int64) time.Duration {
	const most = 1 << 43 // 278 years
	return time.Duration(max(-most, min(ms, most))) * time.Millisecond
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("http: the server's lease makes no sense: %s", fmt.Sprintf(format, args...))
}

const (
	hour    = int64(time.Hour / time.Millisecond)
	maxTime = 1 << 53 // of moments, in milliseconds
)

func block(nodeID, bits int64) (lease.Block, error) {
	if bits < 1 || bits > lease.MaxBits || nodeID < 0 || nodeID >= 1<<bits {
		return lease.Block{}, wrong("node ID %d of %d bits", nodeID, bits)
	}
	return lease.Block{NodeID: uint32(nodeID), Size: uint8(bits)}, nil
}

// Decode returns the lease, if it is one of the realm and makes sense.
func (l Lease) Decode(realm string) (g lease.Grant, err error) {
	block, err := block(l.NodeID, l.NodeBits)
	switch {
	case err != nil:
		return g, err
	case l.Realm != realm:
		return g, wrong("it is of realm %.100q, want %q", l.Realm, realm)
	case l.ID == "" || l.Secret == "" || len(l.Secret) > 512:
		return g, wrong("it has no id, no secret or a long secret")
	case l.TickMS < 1 || l.TickMS > hour || l.EpochMS < -maxTime || l.EpochMS > maxTime:
		return g, wrong("ticks of %d ms since %d", l.TickMS, l.EpochMS)
	case l.FirstTick < 0 || l.FirstTick >= l.EndTick || l.EndTick > maxTime/l.TickMS:
		return g, wrong("ticks %d to %d", l.FirstTick, l.EndTick)
	case l.ValidFromMS != l.EpochMS+l.FirstTick*l.TickMS:
		return g, wrong("valid_from_ms is not the time of first_tick")
	case l.ValidUntilMS != l.EpochMS+l.EndTick*l.TickMS:
		return g, wrong("valid_until_ms is not the time of end_tick")
	case l.ServerTimeMS <= 0 || l.ServerTimeMS > maxTime || l.StartsInMS < 0 || l.ValidForMS < 0:
		return g, wrong("server_time_ms %d, starts_in_ms %d, valid_for_ms %d", l.ServerTimeMS,
			l.StartsInMS, l.ValidForMS)
	}
	return lease.Grant{
		ID: l.ID, Secret: l.Secret, Realm: l.Realm, Format: l.Format, Block: block,
		Holder: l.Holder, FirstTick: l.FirstTick, EndTick: l.EndTick,
		Tick: time.Duration(l.TickMS) * time.Millisecond, Epoch: time.UnixMilli(l.EpochMS),
		RenewAt: at(l.RenewAtMS), StartsIn: span(l.StartsInMS), ValidFor: span(l.ValidForMS),
		ServerTime: at(l.ServerTimeMS),
	}, nil
}

// Decode returns the row, if it makes sense.
func (h Holding) Decode() (lease.Holding, error) {
	block, err := block(h.NodeID, h.NodeBits)
	return lease.Holding{ID: h.ID, Block: block, Holder: h.Holder,
		State: lease.HoldingState(h.State), Since: at(h.SinceMS), Until: at(h.ValidUntilMS),
		FreeFrom: at(h.FreeFromMS)}, err
}

// Decode returns the realm, if it makes sense.
func (r Realm) Decode() (lease.RealmInfo, error) {
	bits := cmp.Or(r.NodeBits, lease.MaxBits)
	if f, err := nodefield.Lookup(r.Format); err == nil {
		bits = nodefield.LeaseFormat(f).Bits
	}
	if r.TickMS < 1 || r.TickMS > hour || bits < 1 || bits > lease.MaxBits || r.WindowMS < 1 ||
		r.WindowMS > 25*hour || r.LeadMS < 1 || r.LeadMS > 25*hour {
		return lease.RealmInfo{}, fmt.Errorf("http: the server's realm %.100q makes no sense: "+
			"%d bits, ticks of %d ms, a window of %d ms, a lead of %d ms", r.Name, bits, r.TickMS,
			r.WindowMS, r.LeadMS)
	}
	ticks := func(ms int64) int64 { return (ms + r.TickMS - 1) / r.TickMS }
	return lease.RealmInfo{
		Name: r.Name,
		Terms: lease.Terms{Bits: bits, Tick: r.TickMS, Epoch: r.EpochMS, Format: r.Format,
			Only: r.NodeBits, Window: ticks(r.WindowMS), Lead: ticks(r.LeadMS)},
		Held: r.Held, Waiting: r.Waiting, Free: r.Free, FreeShare: r.FreeShare,
	}, nil
}
