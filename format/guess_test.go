package format

import (
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/internal/testids"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func recent(r *rand.Rand, f *Format, now time.Time) ID {
	return gencore.Must(f.FromBytes(testids.Recent(r, spec.Of(f), now)))
}

// Detect finds the right reading of every ID that a generator could have made. It is mostly the
// first, except where another format is more common or has the same time.
func TestGuess(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	leastFirst := map[string]int{ // in percent, if not 90
		"scru128 uuid": 80, "uid60 int": 80, "puid text": 0, "tsid int": 0, "snowid int": 0,
		"snowflake-spaceflake int": 0, "snowflake-flake int": 0, "snowflake-frostflake int": 20,
		"snowflake-simpleflake int": 20, "snowflake-instagram int": 70,
		"scru64 int": 0, "sonyflake int": 50, "unix-ns int": 0,
	}
	const n = 1000
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range all() {
		for _, e := range spec.Of(f).Search.Guess {
			first := 0
			for range n {
				id := recent(r, f, now)
				text := id.In(Encoding(e))
				if spec.Of(f).Text.Prefix != nil && spec.Of(f).Text.Prefix.Min > 0 && e == spec.Text {
					text = "in_" + text
				}
				found := AppendDetect(nil, text, now)
				at := slices.IndexFunc(found, func(c Candidate) bool { return c.ID == id })
				switch {
				case at == 0:
					first++
				case at < 0:
					t.Fatalf("%s %s: %s is read as %v", f.Name(), e, text, found)
				}
				for i, c := range found {
					if slices.Contains(found[:i], c) {
						t.Fatalf("%s is read twice as %s", text, c.ID.spec.Name)
					}
				}
			}
			least, ok := leastFirst[f.Name()+" "+string(e)]
			if !ok {
				least = 90
			}
			t.Logf("%s %s: first in %.1f %%", f.Name(), e, float64(first)*100/n)
			if first*100 < least*n {
				t.Errorf("%s %s is first in %d of %d, want %d %%", f.Name(), e, first, n, least)
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
		"snowflake-mastodon": "109959589539758421 109501234567890123 113700000000000123",
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
				func(c Candidate) bool { return c.ID.spec.Name == name })
			if at < 0 {
				t.Errorf("%s: %s is read as %v", name, text, candidates)
				continue
			}
			if at == 0 {
				first++
			} else {
				t.Logf("%s: %s is read as %s first", name, text, candidates[0].ID.spec.Name)
			}
		}
		if first*10 < len(all)*8 {
			t.Errorf("%s: %d of %d are first", name, first, len(all))
		}
	}
}

// With a prefix, Detect reads an ID as without it: as the same format, and as sure. Formats whose
// texts can be words are read only without a prefix.
func TestGuessLabelled(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range all() {
		s := spec.Of(f)
		for _, e := range s.Search.Guess {
			if e == spec.Text && (s.Search.Mixed || s.Search.WordLike || s.Text.Prefix != nil || s.Generates) {
				continue
			}
			differ := 0
			for range 200 {
				text := recent(r, f, now).In(Encoding(e))
				bare, labelled := AppendDetect(nil, text, now), AppendDetect(nil, "Evt_2_"+text, now)
				if e == spec.Text && !strings.ContainsAny(text, "0123456789") {
					continue
				}
				if len(bare) == 0 || len(labelled) == 0 {
					t.Fatalf("%s is read as %v, with a prefix as %v", text, bare, labelled)
				}
				if labelled[0].Prefix != "Evt_2_" {
					t.Fatalf("%s has the prefix %q", text, labelled[0].Prefix)
				}
				if bare[0].ID != labelled[0].ID || bare[0].Doubtful() != labelled[0].Doubtful() {
					differ++
				}
			}
			if differ > 10 { // one without a capital, or a word that is better without a prefix
				t.Errorf("%s %s: %d of 200 differ with a prefix", f.Name(), e, differ)
			}
		}
	}
}
