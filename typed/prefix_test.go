package typed

import (
	"errors"
	"testing"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/uid60"
)

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
