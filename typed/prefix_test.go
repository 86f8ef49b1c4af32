package typed

import (
	"errors"
	"sync"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

type early struct{}

func (early) Prefix() string { return "early" }

type late struct{}

func (late) Prefix() string { return "late" }

const text = "0u2pf62ji4b9"

func TestOccupied(t *testing.T) {
	slot((*late)(nil)).Store(&kind{key: 1, text: "other_"})
	for range 2 {
		id, err := Parse[ID[late, scru64.ID]]("late_" + text)
		if s := id.String(); err != nil || s != "late_"+text {
			t.Error(s, err)
		}
	}
	if k := kindOf((*late)(nil)); k != kindOf((*late)(nil)) {
		t.Error("made again")
	}
}

// Several goroutines may be the first to use a type.
func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 20 {
		slot((*early)(nil)).Store(&noPrefix)
		for range 4 {
			wg.Go(func() {
				if s := From[ID[early, scru64.ID]](scru64.MustParse(text)).String(); s != "early_"+
					text {
					t.Error(s)
				}
			})
		}
		wg.Wait()
	}
}

// The text of an Any parses to the same Any, or AppendText fails.
func TestAnyRoundTrip(t *testing.T) {
	refused := 0
	for _, prefix := range []string{"", "a", "user", "my_user", "a_b_c_d",
		"order_item_of_a_customer"} {
		for bits := range 61 {
			for _, inner := range []uid60.ID{
				1<<bits - 1, 1 << min(bits, 59), 0x0fbefbefbefbefbe >> (60 - bits),
			} {
				id, err := NewAny(prefix, inner)
				if err != nil {
					refused++
					raw := Any[uid60.ID]{prefix, inner}
					if b, err := raw.MarshalText(); !errors.Is(err, sortid.ErrPrefix) {
						t.Errorf("%q %d is refused, but has the text %s, %v", prefix, inner, b, err)
					}
					if back, err := ParseAny[uid60.ID](raw.String()); err == nil && back == raw {
						t.Errorf("%q %d is refused, but would parse", prefix, inner)
					}
					continue
				}
				if back, err := ParseAny[uid60.ID](id.String()); err != nil || back != id {
					t.Errorf("%q %d: %s is read as %q %d, %v", prefix, inner, id, back.Prefix(),
						back.Inner(), err)
				}
			}
		}
	}
	if _, err := NewAny("my_user", uid60.ID(0)); !errors.Is(err, sortid.ErrPrefix) || refused == 0 {
		t.Errorf("%v, %d refused", err, refused)
	}
}
