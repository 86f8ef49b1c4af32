package wire

import (
	"time"

	"github.com/sortid/sortid/lease"
)

// The bodies of requests. In JSON, a field that is null is as if it was left out. The tags say
// which values are right.

// MakeRealm makes a realm.
type MakeRealm struct {
	Format   *string `json:"format,omitempty" minLength:"1" maxLength:"100"`
	NodeBits *int64  `json:"node_bits,omitempty" minimum:"1" maximum:"24"`
	WindowMS *int64  `json:"lease_window_ms,omitempty" minimum:"4" maximum:"86400000"`
	LeadMS   *int64  `json:"lead_ms,omitempty" minimum:"1" maximum:"86400000"`
}

// ChangeRealm changes the terms of a realm.
type ChangeRealm struct {
	WindowMS *int64 `json:"lease_window_ms,omitempty" minimum:"4" maximum:"86400000"`
	LeadMS   *int64 `json:"lead_ms,omitempty" minimum:"1" maximum:"86400000"`
	Force    *bool  `json:"force,omitempty"`
}

// Acquire asks for a lease.
type Acquire struct {
	Request  *string `json:"request" required:"true" minLength:"16" maxLength:"128"`
	NodeBits *int64  `json:"node_bits,omitempty" minimum:"1" maximum:"24"`
	NodeID   *int64  `json:"node_id,omitempty" minimum:"0" maximum:"16777215"`
	Holder   *string `json:"holder,omitempty" minLength:"0" maxLength:"100"`
	WindowMS *int64  `json:"lease_window_ms,omitempty" minimum:"4" maximum:"86400000"`
	WaitMS   *int64  `json:"wait_ms,omitempty" minimum:"0" maximum:"30000"`
	TimeMS   *int64  `json:"time_ms,omitempty" minimum:"0" maximum:"9007199254740991"`
}

// Renew moves the end of a lease.
type Renew struct {
	Secret  *string `json:"secret" required:"true" minLength:"1" maxLength:"512"`
	EndTick *int64  `json:"end_tick" required:"true" minimum:"1" maximum:"9007199254740991"`
	Renewal *string `json:"renewal,omitempty" minLength:"1" maxLength:"128"`
	TimeMS  *int64  `json:"time_ms,omitempty" minimum:"0" maximum:"9007199254740991"`
}

// Release gives a lease back.
type Release struct {
	Secret     *string `json:"secret" required:"true" minLength:"1" maxLength:"512"`
	EndTick    *int64  `json:"end_tick,omitempty" minimum:"1" maximum:"9007199254740991"`
	LastTimeMS *int64  `json:"last_time_ms,omitempty" minimum:"0" maximum:"9007199254740991"`
}

// given returns nil for the zero value, which is as if it was left out.
func given[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// value returns what a pointer points to, or otherwise if the pointer is nil.
func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func unixMilli(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}

func moment(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms)
}

// milliseconds rounds up. It returns nil for 0.
func milliseconds(d time.Duration) *int64 {
	return given(int64((d + time.Millisecond - 1) / time.Millisecond))
}

// Duration returns 0 for nil.
func Duration(ms *int64) time.Duration { return time.Duration(value(ms, 0)) * time.Millisecond }

// NewMakeRealm returns the request for the realm of a configuration.
func NewMakeRealm(c lease.Config) MakeRealm {
	return MakeRealm{Format: given(c.Format.Name), NodeBits: given(int64(c.NodeBits)),
		WindowMS: milliseconds(c.Window), LeadMS: milliseconds(c.MaxLead)}
}

// NewChangeRealm returns the request for a change.
func NewChangeRealm(c lease.TermsChange) ChangeRealm {
	return ChangeRealm{milliseconds(c.Window), milliseconds(c.Lead), given(c.Force)}
}

// Decode returns the change.
func (c ChangeRealm) Decode() lease.TermsChange {
	return lease.TermsChange{Window: Duration(c.WindowMS), Lead: Duration(c.LeadMS),
		Force: value(c.Force, false)}
}

// NewAcquire returns the body of a request.
func NewAcquire(r lease.AcquireRequest) Acquire {
	a := Acquire{Request: &r.Request, NodeBits: given(int64(r.NodeBits)), Holder: given(r.Holder),
		WindowMS: milliseconds(r.Window), WaitMS: given(r.Wait.Milliseconds()),
		TimeMS: unixMilli(r.Time)}
	if r.NodeID >= 0 {
		a.NodeID = &r.NodeID
	}
	return a
}

// Decode returns the request.
func (a Acquire) Decode() lease.AcquireRequest {
	return lease.AcquireRequest{
		Request: value(a.Request, ""), NodeBits: int(value(a.NodeBits, 0)),
		NodeID: value(a.NodeID, -1), Holder: value(a.Holder, ""), Window: Duration(a.WindowMS),
		Wait: Duration(a.WaitMS), Time: moment(a.TimeMS),
	}
}

// NewRenew returns the body of a request.
func NewRenew(r lease.RenewRequest) Renew {
	return Renew{Secret: &r.Secret, EndTick: &r.EndTick, Renewal: given(r.Renewal),
		TimeMS: unixMilli(r.Time)}
}

// Decode returns the request.
func (r Renew) Decode() lease.RenewRequest {
	return lease.RenewRequest{Secret: value(r.Secret, ""), EndTick: value(r.EndTick, 0),
		Renewal: value(r.Renewal, ""), Time: moment(r.TimeMS)}
}

// NewRelease returns the body of a request.
func NewRelease(r lease.ReleaseRequest) Release {
	return Release{Secret: &r.Secret, EndTick: given(r.EndTick), LastTimeMS: unixMilli(r.LastTime)}
}

// Decode returns the request.
func (r Release) Decode() lease.ReleaseRequest {
	return lease.ReleaseRequest{Secret: value(r.Secret, ""), EndTick: value(r.EndTick, 0),
		LastTime: moment(r.LastTimeMS)}
}
