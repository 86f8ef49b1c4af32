package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Records returns the record of a realm, and those of its blocks in the order of their
// node IDs, larger blocks before their parts. It fails with [ErrNoRealm].
func Records(ctx context.Context, store Store, realm string) (root Record, blocks []Record, err error) {
	root, err = realmRecord(ctx, store, realm)
	if err != nil {
		return Record{}, nil, err
	}
	blocks, err = store.List(ctx, realm+"@"+root.Generation)
	if err != nil {
		return Record{}, nil, err
	}
	slices.SortFunc(blocks, func(a, b Record) int {
		return cmp.Or(
			cmp.Compare(a.Block.NodeID<<(MaxBits-a.Block.Size), b.Block.NodeID<<(MaxBits-b.Block.Size)),
			cmp.Compare(a.Block.Size, b.Block.Size))
	})
	return root, blocks, nil
}

func realmRecord(ctx context.Context, store Store, realm string) (Record, error) {
	if err := checkRealm(realm); err != nil {
		return Record{}, err
	}
	root, err := store.Get(ctx, realm, Block{})
	switch {
	case err != nil:
		return root, err
	case root.Epoch == 0:
		return root, fmt.Errorf("%w: %q", ErrNoRealm, realm)
	}
	return root, checkTerms(root)
}

// Evict takes a block from the owner, or, if that is the zero Owner, from whoever holds
// it. The owner's generators go on to the end of their window, which nobody else is
// granted, and then with another node ID. It reports whether the owner held it.
func Evict(ctx context.Context, store Store, realm string, b Block, owner Owner) (bool, error) {
	root, err := realmRecord(ctx, store, realm)
	if err != nil {
		return false, err
	}
	for {
		r, err := store.Get(ctx, realm+"@"+root.Generation, b)
		if err != nil || r.Owner == (Owner{}) || owner != (Owner{}) && r.Owner != owner {
			return false, err
		}
		next := vacate(r)
		next.Epoch++
		if ok, err := store.CompareAndSet(ctx, r, next); ok || err != nil {
			return ok, err
		}
	}
}

// maxSkew bounds the skew of a fence, which nothing takes back.
const maxSkew = 24 * time.Hour

// Fence makes a realm safe whose store has been restored from an old copy, or may have
// lost changes for another reason. Call it before any process can reach that store. All
// grants from then on start at the time that it returns or later: later than all that was
// granted before the loss, as far as no clock by which grants were made was ahead by more
// than skew. So for about the realm's window, its lead and skew no node ID is granted
// anew; running processes use up the windows that they have, and then wait. All get new
// node IDs.
//
// If even the realm is gone, Fence makes it, by config, which else needs no more than
// Realm. It fails with [ErrNoRealm] if config has no Format for that, and with [ErrRealm]
// if the realm has another. Should a process have made the realm anew before the fence,
// the Window and MaxLead of config count if they are more than that realm's. After an
// error of the store, call it again.
func Fence(ctx context.Context, store Store, config Config, skew time.Duration) (time.Time, error) {
	if err := checkRealm(config.Realm); err != nil {
		return time.Time{}, err
	}
	if skew < 0 || skew > maxSkew {
		return time.Time{}, fmt.Errorf("%w: a skew of %v, want at most %v: the realm would be without node IDs for as long", ErrConfig, skew, maxSkew)
	}
	clock := time.Now
	if config.Now != nil {
		clock = config.Now
	}
	var lost Terms // those of the realm that is gone, if config tells
	fits := func(Terms) error { return nil }
	if config.Format != (Format{}) {
		config.NodeIDSize = max(config.NodeIDSize, 1)
		var err error
		if config, err = config.complete(); err != nil {
			return time.Time{}, err
		}
		lost = config.terms()
		config.Window, config.MaxLead = 0, 0 // the realm may have less
		fits = config.check
	}
	for {
		root, err := store.Get(ctx, config.Realm, Block{})
		if err != nil {
			return time.Time{}, err
		}
		next := root
		if root.Epoch == 0 {
			if lost == (Terms{}) {
				return time.Time{}, fmt.Errorf("%w: %q", ErrNoRealm, config.Realm)
			}
			next.State, next.Terms = Split, lost
		}
		if err := cmp.Or(checkTerms(next), fits(next.Terms)); err != nil {
			return time.Time{}, err
		}
		now, err := store.Time(ctx)
		if errors.Is(err, ErrNoTime) {
			now, err = clock(), nil
		}
		if err != nil {
			return time.Time{}, err
		}
		t := next.Terms
		ahead := max(t.Window, lost.Window) + max(t.Lead, lost.Lead) + int64(skew/t.Duration(1)) + 2 // for two roundings
		next.Epoch, next.Generation = root.Epoch+1, newGeneration()
		next.HWM = max(root.HWM, t.At(now)+ahead)
		ok, err := store.CompareAndSet(ctx, root, next)
		if err != nil {
			return time.Time{}, err
		}
		if ok {
			return t.Time(next.HWM), nil
		}
	}
}
