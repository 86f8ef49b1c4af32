package leaseapi

import (
	"time"

	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
)

// The bodies of requests. fields.go describes the fields to users.

type realmBody struct {
	Format   *string `json:"format,omitempty" minLength:"1" maxLength:"100"`
	NodeBits *int64  `json:"node_bits,omitempty" minimum:"1" maximum:"24"`
	WindowMS *int64  `json:"lease_window_ms,omitempty" minimum:"4" maximum:"86400000"`
	LeadMS   *int64  `json:"lead_ms,omitempty" minimum:"1" maximum:"86400000"`
}

type spansBody struct {
	WindowMS *int64 `json:"lease_window_ms,omitempty" minimum:"4" maximum:"86400000"`
	LeadMS   *int64 `json:"lead_ms,omitempty" minimum:"1" maximum:"86400000"`
}

type acquireBody struct {
	Request  *string `json:"request" required:"true" minLength:"16" maxLength:"128"`
	NodeBits *int64  `json:"node_bits,omitempty" minimum:"1" maximum:"24"`
	NodeID   *int64  `json:"node_id,omitempty" minimum:"0" maximum:"16777215"`
	Holder   *string `json:"holder,omitempty" minLength:"0" maxLength:"100"`
	WindowMS *int64  `json:"lease_window_ms,omitempty" minimum:"4" maximum:"86400000"`
	WaitMS   *int64  `json:"wait_ms,omitempty" minimum:"0" maximum:"30000"`
	TimeMS   *int64  `json:"time_ms,omitempty" minimum:"0" maximum:"9007199254740991"`
}

type renewBody struct {
	Secret  *string `json:"secret" required:"true" minLength:"1" maxLength:"512"`
	EndTick *int64  `json:"end_tick" required:"true" minimum:"1" maximum:"9007199254740991"`
	Renewal *string `json:"renewal,omitempty" minLength:"1" maxLength:"128"`
	TimeMS  *int64  `json:"time_ms,omitempty" minimum:"0" maximum:"9007199254740991"`
}

type releaseBody struct {
	Secret     *string `json:"secret" required:"true" minLength:"1" maxLength:"512"`
	EndTick    *int64  `json:"end_tick,omitempty" minimum:"1" maximum:"9007199254740991"`
	LastTimeMS *int64  `json:"last_time_ms,omitempty" minimum:"0" maximum:"9007199254740991"`
}

type evictBody struct{}

// A value returns what a pointer points to, or otherwise if the pointer is nil.
func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func duration(ms *int64) time.Duration { return time.Duration(value(ms, 0)) * time.Millisecond }

func moment(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms)
}

func (b acquireBody) request() lease.AcquireRequest {
	return lease.AcquireRequest{
		Request: *b.Request, NodeBits: int(value(b.NodeBits, 0)), NodeID: value(b.NodeID, -1),
		Holder: value(b.Holder, ""), Window: duration(b.WindowMS), Wait: duration(b.WaitMS),
		Time: moment(b.TimeMS),
	}
}

func (b renewBody) request() lease.RenewRequest {
	return lease.RenewRequest{Secret: *b.Secret, EndTick: *b.EndTick,
		Renewal: value(b.Renewal, ""), Time: moment(b.TimeMS)}
}

func (b releaseBody) request() lease.ReleaseRequest {
	return lease.ReleaseRequest{Secret: *b.Secret, EndTick: value(b.EndTick, 0),
		LastTime: moment(b.LastTimeMS)}
}

// The bodies of answers.

type realmAnswer struct {
	Name       string   `json:"name"`
	Format     string   `json:"format,omitempty"`
	NodeBits   int      `json:"node_bits,omitempty"`
	WindowMS   int64    `json:"lease_window_ms"`
	LeadMS     int64    `json:"lead_ms"`
	TickMS     int64    `json:"tick_ms"`
	EpochMS    int64    `json:"tick_epoch_ms"`
	Epoch      string   `json:"tick_epoch" format:"date-time"`
	Guarantee  string   `json:"guarantee"`
	Conditions []string `json:"conditions" nullable:"false"`
	Held       int      `json:"held" minimum:"0"`
	Waiting    int      `json:"waiting" minimum:"0"`
	Free       int      `json:"free" minimum:"0"`
	FreeShare  float64  `json:"free_share" minimum:"0" maximum:"1"`
}

type realmsAnswer struct {
	Realms []realmAnswer `json:"realms" nullable:"false"`
	Next   *string       `json:"next"`
}

type leaseAnswer struct {
	ID           string `json:"id"`
	Secret       string `json:"secret" maxLength:"512"`
	Realm        string `json:"realm"`
	Format       string `json:"format,omitempty"`
	NodeID       uint32 `json:"node_id"`
	NodeBits     uint8  `json:"node_bits"`
	NodeSpec     string `json:"node_spec"`
	Holder       string `json:"holder"`
	ValidFromMS  int64  `json:"valid_from_ms"`
	ValidFrom    string `json:"valid_from" format:"date-time"`
	RenewAtMS    int64  `json:"renew_at_ms"`
	RenewAt      string `json:"renew_at" format:"date-time"`
	ValidUntilMS int64  `json:"valid_until_ms"`
	ValidUntil   string `json:"valid_until" format:"date-time"`
	StartsInMS   int64  `json:"starts_in_ms" minimum:"0"`
	ValidForMS   int64  `json:"valid_for_ms" minimum:"0"`
	ServerTimeMS int64  `json:"server_time_ms"`
	ServerTime   string `json:"server_time" format:"date-time"`
	FirstTick    int64  `json:"first_tick"`
	EndTick      int64  `json:"end_tick"`
	TickMS       int64  `json:"tick_ms"`
	EpochMS      int64  `json:"tick_epoch_ms"`
	Epoch        string `json:"tick_epoch" format:"date-time"`
}

type holdingAnswer struct {
	ID           string `json:"id"`
	Realm        string `json:"realm"`
	Format       string `json:"format,omitempty"`
	NodeID       uint32 `json:"node_id"`
	NodeBits     uint8  `json:"node_bits"`
	NodeSpec     string `json:"node_spec"`
	Holder       string `json:"holder"`
	State        string `json:"state" enum:"held,waiting"`
	SinceMS      int64  `json:"since_ms"`
	Since        string `json:"since" format:"date-time"`
	ValidUntilMS int64  `json:"valid_until_ms"`
	ValidUntil   string `json:"valid_until" format:"date-time"`
	FreeFromMS   int64  `json:"free_from_ms"`
	FreeFrom     string `json:"free_from" format:"date-time"`
	FirstTick    int64  `json:"first_tick"`
	EndTick      int64  `json:"end_tick"`
	TickMS       int64  `json:"tick_ms"`
	EpochMS      int64  `json:"tick_epoch_ms"`
	Epoch        string `json:"tick_epoch" format:"date-time"`
}

type leasesAnswer struct {
	Leases []holdingAnswer `json:"leases" nullable:"false"`
	Next   *string         `json:"next"`
}

func newRealmAnswer(r lease.RealmInfo, guarantee string, conditions []string) realmAnswer {
	t := r.Terms
	return realmAnswer{
		Name: r.Name, Format: t.Format, NodeBits: t.Only,
		WindowMS: t.Duration(t.Window).Milliseconds(), LeadMS: t.Duration(t.Lead).Milliseconds(),
		TickMS: t.Tick, EpochMS: t.Epoch, Epoch: words.Time(t.Time(0)),
		Guarantee: guarantee, Conditions: conditions,
		Held: r.Held, Waiting: r.Waiting, Free: r.Free, FreeShare: r.FreeShare,
	}
}

func newLeaseAnswer(g lease.Grant) leaseAnswer {
	from, until := g.ValidFrom(), g.ValidUntil()
	return leaseAnswer{
		ID: g.ID, Secret: g.Secret, Realm: g.Realm, Format: g.Format,
		NodeID: g.Block.NodeID, NodeBits: g.Block.Size, NodeSpec: g.Block.String(),
		Holder:      g.Holder,
		ValidFromMS: from.UnixMilli(), ValidFrom: words.Time(from),
		RenewAtMS: g.RenewAt.UnixMilli(), RenewAt: words.Time(g.RenewAt),
		ValidUntilMS: until.UnixMilli(), ValidUntil: words.Time(until),
		// Both are rounded to the safe side.
		StartsInMS:   (max(0, g.StartsIn) + time.Millisecond - 1).Milliseconds(),
		ValidForMS:   max(0, g.ValidFor).Milliseconds(),
		ServerTimeMS: g.ServerTime.UnixMilli(), ServerTime: words.Time(g.ServerTime),
		FirstTick: g.FirstTick, EndTick: g.EndTick, TickMS: g.Tick.Milliseconds(),
		EpochMS: g.Epoch.UnixMilli(), Epoch: words.Time(g.Epoch),
	}
}

func newHoldingAnswer(realm string, t lease.Terms, h lease.Holding) holdingAnswer {
	return holdingAnswer{
		ID: h.ID, Realm: realm, Format: t.Format,
		NodeID: h.Block.NodeID, NodeBits: h.Block.Size, NodeSpec: h.Block.String(),
		Holder: h.Holder, State: string(h.State),
		SinceMS: h.Since.UnixMilli(), Since: words.Time(h.Since),
		ValidUntilMS: h.Until.UnixMilli(), ValidUntil: words.Time(h.Until),
		FreeFromMS: h.FreeFrom.UnixMilli(), FreeFrom: words.Time(h.FreeFrom),
		FirstTick: t.At(h.Since), EndTick: t.At(h.Until), TickMS: t.Tick,
		EpochMS: t.Epoch, Epoch: words.Time(t.Time(0)),
	}
}

// realmConfig returns the configuration of a new realm. Without a Format, the realm is for any
// generator. Without NodeBits, it has the sizes of the format.
func realmConfig(realm string, b realmBody) (lease.Config, error) {
	bits := int(value(b.NodeBits, 0))
	c := lease.Config{NodeBits: bits}
	switch {
	case b.Format == nil && b.NodeBits == nil:
		return c, invalid("format", "missing; want a format, node_bits, or both")
	case b.Format != nil:
		f, err := nodefield.Lookup(*b.Format)
		if err != nil {
			return c, invalid("format", "%v", err)
		}
		if c, err = nodefield.Config(f, bits); err != nil {
			return c, invalid("node_bits", "%v", err)
		}
	}
	c.Realm, c.Window, c.MaxLead = realm, duration(b.WindowMS), duration(b.LeadMS)
	return c, nil
}

func next(position string) *string {
	if position == "" {
		return nil
	}
	return &position
}
