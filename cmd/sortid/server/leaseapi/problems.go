package leaseapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http/wire"
)

// invalid returns a problem for one field of a request.
func invalid(field, format string, args ...any) error {
	return api.Invalid(field, format, args...)
}

// problem returns the problem for an error of the lessor.
func (e *Endpoints) problem(in *request, err error) error {
	var (
		problem *api.Problem
		wrong   *lease.RequestError
		clock   *lease.ClockError
		held    *lease.HeldError
		inUse   *lease.InUseError
	)
	conflict := func(code wire.Code, detail string, args ...any) error {
		return api.NewProblem(http.StatusConflict, code, detail, args...)
	}
	text := textOf(err)
	switch {
	case errors.As(err, &problem):
		return problem
	case errors.As(err, &wrong):
		return invalid(wrong.Field, "%s", wrong.Detail)
	case errors.As(err, &clock):
		p := api.NewProblem(http.StatusUnprocessableEntity, wire.ClockDiffers,
			"%s; correct the clock that is wrong, then ask again", text)
		p.SetDifference(clock.Difference)
		return p
	case errors.As(err, &held):
		p := api.NewProblem(http.StatusConflict, wire.NodeHeld,
			"%s; wait, or leave out node_id to get another node ID", text).
			After(until(held.FreeFrom))
		p.SetHeld(held.Holding)
		return p
	case errors.As(err, &inUse):
		p := api.NewProblem(http.StatusConflict, wire.InUse,
			"%s; with \"force\": true, their leases become shorter and they may end", text)
		p.SetInUse(inUse)
		return p
	case errors.Is(err, lease.ErrNoRealm):
		return api.NewProblem(http.StatusNotFound, wire.NoRealm,
			"there is no realm %q; check the name. If the realm existed before, the store has lost it, "+
				"and it must be fenced; if it never existed, make it once with PUT %s", in.realm,
			realmPath)
	case errors.Is(err, lease.ErrNotFound):
		return api.NewProblem(http.StatusNotFound, wire.NotFound,
			"no lease with this ID is held; GET %s lists the leases", leasesPath)
	case errors.Is(err, lease.ErrForgotten):
		return conflict(wire.Forgotten, "%s, with \"sortid lease fence\". "+
			"Go on until valid_until, and do not acquire anew before the fence", text)
	case errors.Is(err, lease.ErrRequestDiffers):
		return conflict(wire.RequestDiffers,
			"%s; use a new random request for each lease", text)
	case errors.Is(err, lease.ErrTooManyRealms):
		return conflict(wire.TooManyRealms, "the store has %d realms or more, "+
			"so clients cannot make another; make it at the store itself: \"sortid lease create\"",
			api.MaxRealms)
	case errors.Is(err, lease.ErrRealm):
		return conflict(wire.RealmDiffers, "%s", text)
	case errors.Is(err, lease.ErrLost):
		return api.NewProblem(http.StatusGone, wire.LeaseLost,
			"%s; stop at once, and acquire a new lease with a new request", text)
	case errors.Is(err, lease.ErrFull), errors.Is(err, lease.ErrLead):
		return noneFree(err, text)
	case errors.Is(err, lease.ErrConfig):
		return invalid("body", "%s", configDetail(err))
	case errors.Is(err, lease.ErrBusy):
		return api.Busy(time.Second, wire.Limit, "%s; send the same again", text)
	}
	if !errors.Is(err, context.Canceled) {
		e.log.Warn("the store failed", slog.String("path", in.URL.Path), slog.Any("error", err))
	}
	return api.Busy(time.Second, wire.StoreUnavailable,
		"the store did not answer, or refused the request, so the outcome is unknown: "+
			"send the same again; the server's log says more")
}

// textOf returns the text of an error of package lease without the package's name.
func textOf(err error) string {
	if of := interface{ Text() string }(nil); errors.As(err, &of) {
		return of.Text()
	}
	return err.Error()
}

// configDetail returns what is wrong, for an error that matches [lease.ErrConfig].
func configDetail(err error) string {
	if of := (*lease.Error)(nil); errors.As(err, &of) {
		return of.Detail
	}
	return err.Error()
}

// noneFree returns the problem for errors that match [lease.ErrFull] or [lease.ErrLead].
func noneFree(err error, text string) error {
	var (
		full  *lease.FullError
		ahead *lease.LeadError
		from  time.Time
	)
	earlier := func(t time.Time) {
		if from.IsZero() || t.Before(from) {
			from = t
		}
	}
	if errors.As(err, &full) {
		if !full.From.IsZero() {
			earlier(full.From)
		}
		for _, a := range full.Ahead {
			earlier(a.Until.Add(-a.Max))
		}
	} else if errors.As(err, &ahead) {
		earlier(ahead.Until.Add(-ahead.Max))
	}
	p := api.Busy(until(from), wire.NoneFree,
		"%s; wait, give node IDs back, or use a realm with more of them", text)
	if !from.IsZero() {
		p.SetFree(from)
	}
	return p
}

// until returns when to ask again for a node ID that is free from t on. Its holder may renew it, or
// give it back.
func until(t time.Time) time.Duration {
	return min(max(time.Until(t), time.Second), 5*time.Second)
}
