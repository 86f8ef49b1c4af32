package lease

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
)

func TestRealmCounts(t *testing.T) {
	at(t, forever, 8, func(t *testing.T, d *desk) {
		var gs []Grant
		for i := range 20 {
			gs = append(gs, d.acquire(d.a, ask(fmt.Sprint("holder ", i))))
		}
		for i, g := range gs[:5] {
			last := time.Time{}
			if i > 2 {
				last = time.Now()
			}
			d.release(d.a, g, last)
		}
		info, err := d.b.Realm(d.Context(), "realm")
		check.OK(t, err)
		if info.Held != 15 || info.Waiting != 3 || info.Free != 238 ||
			info.FreeShare != 238.0/256 || info.Terms.Only != 8 || info.Name != "realm" {
			t.Errorf("got %+v", info)
		}
		var rows []Holding
		for after, pages := "", 0; pages == 0 || after != ""; pages++ {
			var page []Holding
			page, after, err = d.b.Holdings(d.Context(), "realm", after, 7)
			check.OK(t, err)
			if rows = append(rows, page...); len(page) != 7 && after != "" || pages > 3 {
				t.Fatalf("page %d has %d rows", pages, len(page))
			}
		}
		if len(rows) != 18 || !slices.IsSortedFunc(rows,
			func(a, b Holding) int { return compareOrder(a.Block, b.Block) }) {
			t.Fatalf("got %d rows: %+v", len(rows), rows)
		}
		for _, row := range rows {
			i := slices.IndexFunc(gs, func(g Grant) bool { return g.ID == row.ID })
			if i < 0 || gs[i].Block != row.Block || gs[i].Holder != row.Holder ||
				(i < 5) != (row.State == Waiting) || !row.Until.Equal(gs[i].ValidUntil()) ||
				!row.Since.Equal(gs[i].ValidFrom()) {
				t.Errorf("got %+v", row)
			}
			if want := map[HoldingState]time.Duration{Held: 30 * time.Second,
				Waiting: -10 * time.Second}[row.State]; row.FreeFrom.Sub(row.Until) != want {
				t.Errorf("free %v after the end, want %v", row.FreeFrom.Sub(row.Until), want)
			}
		}
		_, _, err = d.a.Holdings(d.Context(), "absent", "", 7)
		fails(t, "a missing realm", err, ErrNoRealm)
	})
}

func TestCountsWithSeveralSizes(t *testing.T) {
	at(t, SCRU64(), 0, func(t *testing.T, d *desk) {
		for i, bits := range []int{8, 20, 4} {
			r := ask(fmt.Sprint("holder ", i))
			r.NodeBits = bits
			d.acquire(d.a, r)
		}
		info := check.Must(d.b.Realm(d.Context(), "realm"))(t)
		if info.Held != 3 || info.Waiting != 0 || info.Free != 256-1-1-16 || info.Terms.Only != 0 {
			t.Errorf("got %+v", info)
		}
	})
}

// A count finds the same free blocks as a survey.
func TestCountAgreesWithSurvey(t *testing.T) {
	const now, lead, deepest = 10, 5, 6
	r := rand.New(rand.NewPCG(1, 2))
	var records []Record
	var add func(b Block)
	add = func(b Block) {
		if r.IntN(8) == 0 {
			return // no record
		}
		is := Record{Block: b, State: []State{Retired, Whole, Split, Split, Merging}[r.IntN(5)],
			HWM: r.Int64N(20)}
		if is.State == Whole && r.IntN(2) == 0 {
			is.Owner, is.Deadline = Owner{1}, r.Int64N(20)
		}
		records = append(records, is)
		if b.Size < deepest {
			add(b.child(0))
			add(b.child(1))
		}
	}
	for range 1000 {
		records = nil
		add(Block{0, 1})
		add(Block{1, 1})
		floor := r.Int64N(20)
		for size := uint8(1); size <= deepest; size++ {
			want := 0
			for _, u := range newSurvey(records, floor, now, size, false).until(now + lead) {
				want += u.count(size)
			}
			var all blockStates
			for _, is := range records {
				all = append(all, blockState{is.Block, is.State, is.Held(now), is.HWM})
			}
			if got := all.sorted().free(Block{}, size, floor, now+lead); got != want {
				t.Fatalf("%d free blocks of %d bits, want %d: %+v", got, size, want, records)
			}
		}
	}
}

func TestCreateRealm(t *testing.T) {
	l := NewLessor(NewMemory(), LessorOptions{MaxRealms: 4})
	for _, c := range []struct {
		config Config
		made   bool
		want   error
		only   int
	}{
		{Config{Realm: "a", Format: UID60()}, true, nil, 9},
		{Config{Realm: "a", Format: UID60()}, false, nil, 9},
		{Config{Realm: "a", NodeBits: 9}, false, nil, 9},
		{Config{Realm: "a", Format: SCRU160()}, false, ErrRealm, 0},
		{Config{Realm: "a", NodeBits: 8}, false, ErrRealm, 0},
		{Config{Realm: "a", NodeBits: 9, Window: time.Minute}, false, nil, 9},
		{Config{Realm: "a", NodeBits: 9, Window: time.Hour}, false, ErrRealm, 0},
		{Config{Realm: "a", NodeBits: 9, MaxLead: time.Second}, false, ErrRealm, 0},
		{Config{Realm: "b", Format: SCRU64()}, true, nil, 0},
		{Config{Realm: "c", Format: SCRU64(), NodeBits: 8}, true, nil, 8},
		{Config{Realm: "d", NodeBits: 24, Window: time.Hour}, true, nil, 24},
		{Config{Realm: "e", NodeBits: 24}, false, ErrTooManyRealms, 0},
		{Config{Realm: "f"}, false, ErrConfig, 0},
		{Config{Realm: "f", NodeBits: 25}, false, ErrConfig, 0},
		{Config{Realm: "f", Format: UID60(), NodeBits: 10}, false, ErrConfig, 0},
		{Config{Realm: "a@b", Format: UID60()}, false, ErrConfig, 0},
		{Config{Realm: "f", Format: UID60(), Window: 3 * time.Millisecond}, false, ErrConfig, 0},
	} {
		info, made, err := l.CreateRealm(t.Context(), c.config)
		if made != c.made || !errors.Is(err, c.want) || err == nil && (info.Terms.Only != c.only ||
			info.Name != c.config.Realm) {
			t.Errorf("%+v: got %+v, %v, %v, want %+v", c.config, info, made, err, c)
		}
	}
	infos, next, err := l.Realms(t.Context(), func(name string) bool { return name != "b" }, "", 2)
	check.OK(t, err)
	if len(infos) != 2 || infos[1].Name != "c" || next != "c" {
		t.Errorf("got %+v, %q", infos, next)
	}
	infos, next, err = l.Realms(t.Context(), nil, next, 2)
	if check.OK(t, err); len(infos) != 1 || infos[0].Name != "d" || next != "" {
		t.Errorf("got %+v, %q", infos, next)
	}
	info, err := l.SetRealm(t.Context(), "d", TermsChange{Window: time.Minute})
	if check.OK(t, err); info.Terms.Window != 60_000 || info.Terms.MostWindow != 3_600_000 {
		t.Errorf("got %+v", info)
	}
	_, err = l.SetRealm(t.Context(), "d", TermsChange{Lead: 25 * time.Hour})
	fails(t, "a long lead", err, ErrConfig, "lead_ms")
	_, err = l.SetRealm(t.Context(), "absent", TermsChange{Window: time.Minute})
	fails(t, "a missing realm", err, ErrNoRealm)
}
