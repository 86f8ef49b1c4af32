package spec

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

// Few random numbers, and few random UUIDs, seem to be a UUID in another order of its bytes.
func TestOtherOrderOfRandom(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(1, 2))
	n := 300_000
	if testing.Short() {
		n = 30_000
	}
	numbers, uuids := 0, 0
	for range n {
		var b [16]byte
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		if InOtherOrder(hex.EncodeToString(b[:]), now) != "" {
			numbers++
		}
		b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
		w := check.Must(versions()[3].FromBytes(b[:]))(t)
		if InOtherOrder(versions()[3].In(w, UUID), now) != "" {
			uuids++
		}
	}
	t.Logf("%d of %d numbers, and %d UUIDs of version 4", numbers, n, uuids)
	if numbers*1000 > n || uuids*1000 > n || numbers == 0 || uuids == 0 {
		t.Errorf("%d of %d numbers, and %d UUIDs; want fewer than 1 in 1000, and some", numbers, n, uuids)
	}
}
