package realms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/nodeid"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

type Fencing struct {
	Console            *console.Console
	Realm              string        // empty: all
	Lost               *lease.Config // how to make a lost realm again, or nil
	Skew, Window, Lead time.Duration
	Pace               nodeid.Pace // of the store

	Names []string // of the realms; Find sets them

	done   []string // the fenced realms
	failed error    // the first error of printing
	wrong  error    // the first mistake in the arguments
}

func (f *Fencing) Find(ctx context.Context, st store.Store) (err error) {
	if f.Realm != "" {
		f.Names = []string{f.Realm}
		if f.Lost == nil {
			_, err = lease.Realm(ctx, st, f.Realm)
		}
		if errors.Is(err, lease.ErrConfig) {
			return console.UsageError(err)
		}
		return err
	}
	f.Names, err = store.Direct{Store: st}.Realms(ctx)
	if f.Lost != nil && !slices.Contains(f.Names, f.Lost.Realm) {
		f.Names = append(f.Names, f.Lost.Realm)
	}
	if err == nil && len(f.Names) == 0 {
		err = errors.New("the store has no realms; --format makes a lost realm again")
	}
	return err
}

// Run fences all realms that it can, and prints them. End prints what was done.
func (f *Fencing) Run(ctx context.Context, st store.Store) error {
	for _, name := range f.Names {
		from, err := f.fence(ctx, st, name)
		if err != nil {
			if errors.Is(err, lease.ErrConfig) && isRealmName(name) {
				f.wrong = cmp.Or(f.wrong, err)
			}
			f.Console.Say("realm %q is not fenced: %v", name, err)
			continue
		}
		f.done = append(f.done, name)
		_, err = fmt.Fprintf(f.Console.Out, "%s\t%s\n", name, words.Time(from))
		f.failed = cmp.Or(f.failed, err)
	}
	return nil
}

func (f *Fencing) fence(ctx context.Context, st store.Store, name string) (time.Time, error) {
	config := lease.Config{Realm: name}
	if f.Lost != nil && name == f.Lost.Realm {
		config = *f.Lost
	}
	config.Window, config.MaxLead = f.Window, f.Lead
	if _, err := lease.Realm(ctx, st, name); errors.Is(err, lease.ErrNoRealm) && f.Window == 0 {
		config.Window = f.Pace.NewWindow(config)
	}
	return lease.Fence(ctx, st, config, f.Skew)
}

func (f *Fencing) End(err error) error {
	if len(f.done) == len(f.Names) && err == nil {
		fmt.Fprintln(f.Console.Err, "sortid: fenced; processes may reach the store again")
		return f.failed
	}
	if err != nil {
		f.Console.Say("%v", err)
	}
	left := slices.DeleteFunc(slices.Clone(f.Names),
		func(name string) bool { return slices.Contains(f.done, name) })
	f.Console.Say("fenced: %q; not fenced: %q; "+
		"let no process reach the store before all its realms are fenced", f.done, left)
	if f.wrong != nil && len(f.done) == 0 {
		return console.UsageError(f.wrong)
	}
	return console.ErrReported
}

func isRealmName(name string) bool {
	return lease.Config{Realm: name, Format: lease.SCRU64(), NodeBits: 1}.Validate() == nil
}
