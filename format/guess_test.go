package format

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// recent returns a random ID that a generator could have made in the last ten years. It has usual
// values in its fields.
func recent(r *rand.Rand, f *Format, now time.Time) ID {
	if f.Within != nil {
		inner := f.Within[slices.Index(f.Within, uuidv7())]
		return ID{f, recent(r, inner, now).words}
	}
	w := random(r, f)
	if f == stripe {
		w.SetString(stripeBits(r, f), 0)
	}
	set := func(field Field, v uint64) {
		mask := bigOnes(field.Bits)
		w.AndNot(w, mask.Lsh(mask, uint(field.Low)))
		w.Or(w, new(big.Int).Lsh(new(big.Int).SetUint64(v), uint(field.Low)))
	}
	if f.Tick != 0 {
		from := now.AddDate(-10, 0, 0)
		if first, _ := f.PlausibleRange(now); first.After(from) {
			from = first
		}
		at := from.Add(time.Duration(r.Int64N(int64(now.Sub(from)))))
		ticks := f.ticks(at)
		for _, field := range f.timestamp {
			set(field, ticks>>field.Shift&(1<<field.Bits-1))
		}
	}
	for _, field := range f.Layout {
		switch {
		case field.Constant:
			set(field, field.Value)
		case field.Usual != 0:
			set(field, r.Uint64N(field.Usual+1))
		}
	}
	id, err := f.FromBytes(w.FillBytes(make([]byte, f.Size)))
	if err != nil {
		panic(err)
	}
	return id
}

// Detect finds the right reading of every ID that a generator could have made. It is mostly the
// first, except where another format is more common or has the same time.
func TestGuess(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	leastFirst := map[string]int{ // in percent, if not 90
		"scru128 uuid": 80, "uid60 int": 80, "puid text": 0, "tsid int": 0, "snowid int": 0,
		"snowflake-spaceflake int": 0, "snowflake-flake int": 0, "snowflake-frostflake int": 20,
		"snowflake-simpleflake int": 20, "snowflake-instagram int": 70,
		"snowflake-mastodon int": 0, "sonyflake int": 50, "unix-ns int": 0,
	}
	const n = 1000
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range all() {
		for _, e := range f.Search.Guess {
			first := 0
			for range n {
				id := recent(r, f, now)
				text := id.In(e)
				if f.Text.prefix != nil && f.Text.prefix.Min > 0 && e == Text {
					text = "in_" + text
				}
				found := AppendDetect(nil, text, now)
				at := slices.IndexFunc(found, func(c Candidate) bool { return c.ID == id })
				switch {
				case at == 0:
					first++
				case at < 0:
					t.Fatalf("%s %s: %s is read as %v", f.Name, e, text, found)
				}
				for i, c := range found {
					if slices.Contains(found[:i], c) {
						t.Fatalf("%s is read twice as %s", text, c.ID.format.Name)
					}
				}
			}
			least, ok := leastFirst[f.Name+" "+string(e)]
			if !ok {
				least = 90
			}
			t.Logf("%s %s: first in %.1f %%", f.Name, e, float64(first)*100/n)
			if first*100 < least*n {
				t.Errorf("%s %s is first in %d of %d, want %d %%", f.Name, e, first, n, least)
			}
		}
	}
}

// These integers are from documents and public services.
func TestGuessKnown(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, ids := range map[string]string{
		"snowflake-twitter": "210462857140252672 240859602684612608 1050118621198921728 " +
			"850007368138018817 850006245121695744 1275828087666679809 1278747501642657792 " +
			"1067094924124872705 1321163587679784960 1212092628029698048 1460323737035677698 " +
			"1445880548472328192 1228393702244134912 1346889436626259968 1541815603606036480 " +
			"1585841080431321088 1519480761749016577",
		"snowflake-discord": "41771983423143937 175928847299117063 80351110224678912 " +
			"197038439483310086 290926798626357250 381870553235193857 155101607195836416 " +
			"319674150115610528 845027738276462632 772904309264089089 786008729715212338 " +
			"771825006014889984 306810730055729152 266241948824764416 697138785317814292",
	} {
		first := 0
		all := strings.Fields(ids)
		for _, text := range all {
			candidates := AppendDetect(nil, text, now)
			at := slices.IndexFunc(candidates,
				func(c Candidate) bool { return c.ID.format.Name == name })
			if at < 0 {
				t.Errorf("%s: %s is read as %v", name, text, candidates)
				continue
			}
			if at == 0 {
				first++
			} else {
				t.Logf("%s: %s is read as %s first", name, text, candidates[0].ID.format.Name)
			}
		}
		if first*10 < len(all)*8 {
			t.Errorf("%s: %d of %d are first", name, first, len(all))
		}
	}
}
