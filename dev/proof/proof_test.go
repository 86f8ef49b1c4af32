//go:build proof

package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// For each setting of a model: the mutants, which are macros of the model. Each breaks a rule.
var settings = []struct{ model, name, mutants string }{
	{"block", "CLOCKS", `GRANT_READ_FIRST STARTS_NOW MARK_LATER EXTEND_LOWERS UNANSWERED_GRANTS
		REPEATED_GRANTS OWNER_COMPARED OLD_ANSWER LAST_READ_FIRST RELEASE_USED RELEASE_UNUSED
		ANY_REVISION ANY`},
	{"block", "RECLAIM", `RECLAIM_HELD RECLAIM_AHEAD RECLAIM_LEAD RECLAIM_LAST RECLAIM_START
		RELEASE_EARLY`},
	{"block", "FENCE", `GEN_UNREAD GEN_READ_EARLY FLOOR_WINDOW FLOOR_LEAD FLOOR_SKEW FLOOR_SPAN
		REACHED_EARLY CLOCK_BEHIND MARK_FORGOTTEN SPAN_UNLIMITED`},
	{"lessor", "COPIES", "BUCKET_UNREAD TAKES_BACK READ_UNSYNCED"},
	{"lessor", "SPLIT", "VOID_UNCHANGED"},
	{"lessor", "CLONES", `OWNER_UNREAD END_UNREAD TEXT_COMPUTED CLONE_REPEATS RELEASE_CLONED
		LAST_FORGOTTEN RELEASE_GOES_ON`},
	{"window", "WINDOW", "ROOM_UNREAD LENGTH_STAYS LENGTH_FIRST VERSION_LATER WORD_STAYS"},
}

func TestModels(t *testing.T) {
	for _, s := range settings {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if out := search(t, s.model, "-O2", s.name); !strings.Contains(out, "errors: 0") {
				t.Errorf("spin finds an error in the model:\n%s", out)
			}
		})
		for _, mutant := range strings.Fields(s.mutants) {
			t.Run(s.name+"/"+mutant, func(t *testing.T) {
				t.Parallel()
				out := search(t, s.model, "-O1", s.name, mutant)
				if !strings.Contains(out, "errors: 1") || !strings.Contains(out, "assertion violated") {
					t.Errorf("spin does not find this error:\n%s", out)
				}
			})
		}
	}
}

// search visits all states of the model, or those up to the first error.
func search(t *testing.T, model, optimize string, macros ...string) string {
	dir := t.TempDir()
	path := check.Must(filepath.Abs(model + ".pml"))(t)
	args := []string{"-a"}
	for _, m := range macros {
		args = append(args, "-D"+m)
	}
	run(t, dir, "spin", append(args, path)...)
	if _, err := os.Stat(filepath.Join(dir, "pan.c")); err != nil {
		t.Fatal(err) // spin's exit code does not say so
	}
	run(t, dir, "gcc", "-w", optimize, "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=1500", "-DVECTORSZ=4096",
		"-o", "pan", "pan.c")
	// -E: a process may stand still. -b: an error if -m, the depth, is too small.
	out := run(t, dir, "./pan", "-E", "-b", "-m50000", "-w22")
	if strings.Contains(out, "Search not completed") && !strings.Contains(out, "errors: 1") {
		t.Fatalf("the states are too many:\n%s", out)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, "states, stored") {
			t.Log(strings.TrimSpace(line))
		}
	}
	return out
}

func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return string(out)
}
