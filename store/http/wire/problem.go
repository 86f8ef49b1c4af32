package wire

import (
	"time"

	"github.com/sortid/sortid/lease"
)

// A Code says which problem it is. Programs compare codes.
type Code string

const (
	NoToken          Code = "no-token"
	NotAllowed       Code = "not-allowed"
	ForeignPage      Code = "foreign-page"
	WrongHost        Code = "wrong-host"
	NoPath           Code = "no-path"
	Method           Code = "method"
	NotAcceptable    Code = "not-acceptable"
	ContentType      Code = "content-type"
	TooLarge         Code = "too-large"
	Timeout          Code = "timeout"
	CutOff           Code = "cut-off"
	InvalidRequest   Code = "invalid"
	Limit            Code = "limit"
	Unavailable      Code = "unavailable"
	Failed           Code = "failed"
	NoRealm          Code = "no-realm"
	NotFound         Code = "not-found"
	NodeHeld         Code = "node-held"
	RealmDiffers     Code = "realm-differs"
	RequestDiffers   Code = "request-differs"
	InUse            Code = "in-use"
	TooManyRealms    Code = "too-many-realms"
	Forgotten        Code = "forgotten"
	LeaseLost        Code = "lease-lost"
	ClockDiffers     Code = "clock-differs"
	NoneFree         Code = "none-free"
	StoreUnavailable Code = "store-unavailable"
)

// A Problem is an error for the client, in the form of RFC 9457.
type Problem struct {
	Type   string    `json:"type"`
	Title  string    `json:"title"`
	Status int       `json:"status"`
	Detail string    `json:"detail"`
	Code   Code      `json:"code"`
	Errors []Mistake `json:"errors,omitempty"`

	Realm string `json:"realm,omitempty"`
	Token string `json:"token,omitempty"`

	DifferenceMS *int64 `json:"difference_ms,omitempty"`

	Holders      int    `json:"holders,omitempty"`
	Holder       string `json:"holder,omitempty"`
	State        string `json:"state,omitempty"`
	ValidUntilMS int64  `json:"valid_until_ms,omitempty"`
	ValidUntil   string `json:"valid_until,omitempty"`
	FreeFromMS   int64  `json:"free_from_ms,omitempty"`
	FreeFrom     string `json:"free_from,omitempty"`
}

// A Mistake is a wrong part of a request.
type Mistake struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

// SetHeld adds who has a node ID.
func (p *Problem) SetHeld(h lease.Holding) {
	p.Holder, p.State = h.Holder, string(h.State)
	p.ValidUntilMS, p.ValidUntil = h.Until.UnixMilli(), text(h.Until)
	p.SetFree(h.FreeFrom)
}

// SetInUse adds how many holders need the terms of a realm, and until when.
func (p *Problem) SetInUse(e *lease.InUseError) {
	p.Realm, p.Holders = e.Realm, e.Holders
	p.ValidUntilMS, p.ValidUntil = e.Until.UnixMilli(), text(e.Until)
}

// InUse returns how many holders need the terms of a realm, and until when.
func (p *Problem) InUse() error {
	return &lease.InUseError{Realm: p.Realm, Holders: p.Holders, Until: at(p.ValidUntilMS)}
}

// SetFree adds when a node ID can be had.
func (p *Problem) SetFree(from time.Time) {
	p.FreeFromMS, p.FreeFrom = from.UnixMilli(), text(from)
}

// Held returns who has a node ID.
func (p *Problem) Held() lease.Holding {
	return lease.Holding{Holder: p.Holder, State: lease.HoldingState(p.State),
		Until: at(p.ValidUntilMS), FreeFrom: p.Free()}
}

// Free returns when a node ID can be had, or the zero time.
func (p *Problem) Free() time.Time { return at(p.FreeFromMS) }

// SetDifference adds how the client's clock differs from the store's.
func (p *Problem) SetDifference(d time.Duration) { p.DifferenceMS = new(d.Milliseconds()) }

// Difference is the client's clock minus the store's.
func (p *Problem) Difference() time.Duration { return span(value(p.DifferenceMS, 0)) }
