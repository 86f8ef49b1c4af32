package realms

import (
	"fmt"
	"testing"

	"github.com/sortid/sortid/lease"
)

func TestShare(t *testing.T) {
	const now, lead = 1000, 40
	type b = lease.Block
	held := lease.Record{State: lease.Whole, Owner: lease.Owner{1}, HWM: now + 1, Deadline: now + 2}
	expired := lease.Record{State: lease.Whole, Owner: lease.Owner{1}, HWM: now, Deadline: now + 1}
	lapsed := lease.Record{State: lease.Whole, Owner: lease.Owner{1}, HWM: now - 1, Deadline: now}
	split := lease.Record{State: lease.Split}
	at := func(r lease.Record, mark int64) lease.Record { r.HWM = mark; return r }
	for name, c := range map[string]struct {
		floor  int64
		blocks map[lease.Block]lease.Record
		want   string
	}{
		"empty":          {0, nil, "0% held, 100% free, 0% not available yet"},
		"fenced":         {now + lead + 1, nil, "0% held, 0% free, 100% not available yet"},
		"fenced, nearly": {now + lead, nil, "0% held, 100% free, 0% not available yet"},
		"half held": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: held},
			"50% held, 50% free, 0% not available yet"},
		"half expired": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: expired},
			"0% held, 50% expired, 50% free, 0% not available yet"},
		"half lapsed": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: lapsed},
			"0% held, 100% free, 0% not available yet"},
		"lapsed, and late": {0, map[b]lease.Record{{NodeID: 0, Size: 1}: at(lapsed, now+lead+1)},
			"0% held, 50% free, 50% not available yet"},
		"a quarter": {0, map[b]lease.Record{{NodeID: 1, Size: 1}: split,
			{NodeID: 3, Size: 2}: held}, "25% held, 75% free, 0% not available yet"},
		"parts have the mark of the whole": {0,
			map[b]lease.Record{{NodeID: 1, Size: 1}: at(split, now+lead+1),
				{NodeID: 3, Size: 2}: held}, "25% held, 50% free, 25% not available yet"},
		"retired within a whole": {0,
			map[b]lease.Record{{NodeID: 1, Size: 1}: held, {NodeID: 3, Size: 2}: at(lease.Record{},
				now+lead+1)}, "50% held, 50% free, 0% not available yet"},
		"small": {0,
			map[b]lease.Record{{NodeID: 0, Size: 1}: split,
				{NodeID: 0, Size: 2}: {State: lease.Merging}, {NodeID: 0, Size: 3}: held},
			"12.5% held, 87.5% free, 0% not available yet"},
	} {
		r := &Realm{Root: lease.Record{HWM: c.floor, Terms: lease.Terms{Lead: lead}},
			records: c.blocks, now: now}
		if got := fmt.Sprint(r.share()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
