package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A receipt is what is needed to give a node ID back: from a store, the record of the grant; from
// a lessor, the other fields.
type receipt struct {
	Record  *Record `json:"record,omitempty"`
	Realm   string  `json:"realm,omitempty"`
	ID      string  `json:"id,omitempty"`
	Secret  string  `json:"secret,omitempty"`
	EndTick int64   `json:"end_tick,omitempty"`
}

func (s *session) receipt() receipt {
	held := s.held
	return receipt{Record: &held}
}

func (h *holder) receipt() receipt {
	return receipt{Realm: h.config.Realm, ID: h.grant.ID, Secret: h.grant.Secret,
		EndTick: h.grant.EndTick}
}

// Receipt returns what [Return] and [ReturnTo] need to give the node ID back after this process was
// killed, or nil if no node ID is held. It is secret, and each renewal changes it.
func (l *Lease) Receipt() []byte {
	r := l.returns.Load()
	if r == nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // impossible: it has only texts and numbers
	}
	return text
}

// Return gives back the node ID of a receipt. The caller must know that its process has ended, and
// has used no times after last. If the lease was renewed after the receipt, or has ended, Return
// does nothing: the node ID then becomes free as if the process had been killed.
func Return(ctx context.Context, store Store, text []byte, last time.Time) error {
	is, err := readReceipt(text)
	if err != nil || is.Record == nil {
		return err
	}
	held := *is.Record
	realm, generation, _ := strings.Cut(held.Realm, "@")
	root, err := Realm(ctx, store, realm)
	if errors.Is(err, ErrNoRealm) || err == nil && root.Generation != generation {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := store.Get(ctx, held.Realm, held.Block)
	if err != nil {
		return fmt.Errorf("lease: realm %q: cannot read a node ID: %w", realm, err)
	}
	next, err := release(r, held, root.Terms.At(last))
	if err != nil {
		return nil // another process has changed the record
	}
	next.Revision++
	if _, err := store.CompareAndSet(ctx, r, next); err != nil {
		return fmt.Errorf("lease: realm %q: cannot give a node ID back: %w", realm, err)
	}
	return nil
}

// ReturnTo is [Return] for a lease of a lessor.
func ReturnTo(ctx context.Context, lessor Lessor, text []byte, last time.Time) error {
	is, err := readReceipt(text)
	if err != nil || is.ID == "" {
		return err
	}
	err = lessor.Release(ctx, is.Realm, is.ID,
		ReleaseRequest{Secret: is.Secret, EndTick: is.EndTick, LastTime: last})
	if errors.Is(err, ErrLost) || errors.Is(err, ErrNoRealm) {
		return nil
	}
	return err
}

func readReceipt(text []byte) (is receipt, err error) {
	if err = json.Unmarshal(text, &is); err != nil {
		err = errorf(ErrConfig, "this is no receipt: %v", err)
	}
	return is, err
}
