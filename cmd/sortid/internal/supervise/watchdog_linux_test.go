package supervise

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// TestMain also runs the watchdog, because the watchdog runs the same executable, and the programs
// of tests.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[2] == watchdogName:
		code, _ := console.ExitCodeOf(watch(&console.Console{Err: os.Stderr, Width: 80}))
		os.Exit(code)
	case len(os.Args) > 3 && os.Args[1] == "exec":
		execute(os.Args[2], os.Args[3:])
	case len(os.Args) == 2 && os.Args[1] == "clock":
		clock()
	case len(os.Args) == 2 && os.Args[1] == "root":
		fmt.Println(os.Getpid(), syscall.Setuid(0))
		select {}
	}
	os.Exit(m.Run())
}

// An outcome is what execute prints at the end.
type outcome struct {
	Code            int
	Last            time.Time
	Late, Unguarded bool
	Left            []int
}

// execute runs a program that gets SIGTERM and SIGKILL after the span, as "lease exec" does.
func execute(span string, args []string) {
	withoutCgroups = os.Getenv("CGROUP") == ""
	wait, err := time.ParseDuration(span)
	path, unknown := exec.LookPath(args[0])
	if err := errors.Join(err, unknown); err != nil {
		panic(err)
	}
	c := &console.Console{Out: os.Stdout, Err: os.Stderr}
	started, end := relaySignals(c, catchSignals(), func(os.Signal) {})
	kill := time.Now().Add(wait)
	p, err := startProgram(c, path, args, os.Environ(), deadlines{kill.Add(-wait / 2), kill, kill})
	if err != nil {
		panic(err)
	}
	os.WriteFile("started", []byte(strconv.Itoa(p.pid)), 0o600)
	started <- p
	<-p.gone
	end()
	json.NewEncoder(os.Stdout).Encode(outcome{p.code, p.last, p.late, p.unguarded(), p.left})
	os.Exit(0)
}

// clock prints the time each millisecond, and the signals that it gets.
func clock() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	fmt.Println(os.Getpid())
	for {
		select {
		case s := <-signals:
			fmt.Println(s)
		case <-time.After(time.Millisecond):
			fmt.Println(time.Now().UnixNano())
		}
	}
}

// An executed is a process that runs execute.
type executed struct {
	*testing.T
	*exec.Cmd
	dir string // the working directory of its program
}

func executeIn(t *testing.T, command []string) *executed {
	e := &executed{t, exec.Command(command[0], command[1:]...), t.TempDir()}
	out := check.Must(os.Create(filepath.Join(e.dir, "out")))(t)
	stderr := check.Must(os.Create(filepath.Join(e.dir, "err")))(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(e.read("err"))
		}
		out.Close()
		stderr.Close()
	})
	e.Dir, e.Stdout, e.Stderr = e.dir, out, stderr
	e.Env = append(os.Environ(), "LEAF="+leaf)
	return e
}

// leaf is a script that writes its process ID and then the signal into a file.
const leaf = `trap "echo term >>$1; $2" TERM; echo $$ >$1; while :; do sleep 0.05; done`

// startScript runs a script under execute. The leaves are files with process IDs.
func startScript(t *testing.T, span, script string, leaves ...string) (e *executed, pids []int) {
	e = executeIn(t, []string{os.Args[0], "exec", span, "sh", "-c", script})
	check.OK(t, e.Start())
	t.Cleanup(func() { e.Process.Kill() })
	e.pid("started") // until then, exec has not heard of the program
	for _, name := range leaves {
		pids = append(pids, e.pid(name))
	}
	return e, pids
}

func (e *executed) read(name string) []string {
	text, _ := os.ReadFile(filepath.Join(e.dir, name))
	return strings.Fields(string(text))
}

// pid returns the process ID that the file begins with.
func (e *executed) pid(name string) (pid int) {
	e.Helper()
	if !check.Soon(func() bool {
		if words := e.read(name); len(words) > 0 {
			pid, _ = strconv.Atoi(words[0])
		}
		return pid > 0
	}) {
		e.Fatalf("%s: no process", name)
	}
	return pid
}

// outcome waits for the end of execute.
func (e *executed) outcome() (o outcome) {
	e.Helper()
	check.OK(e.T, e.Wait())
	text := check.Must(os.ReadFile(filepath.Join(e.dir, "out")))(e.T)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	check.OK(e.T, json.Unmarshal(lines[len(lines)-1], &o))
	return o
}

func dead(pid int) bool {
	state, _ := stat(pid)
	return state == 0 || state == 'Z' || state == 'X'
}

func allDead(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if !dead(pid) {
			t.Errorf("process %d lives", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// daemons start a leaf that obeys SIGTERM and a daemon that does not, in sessions of their own.
const daemons = `
	setsid sh -c "$LEAF" sh obeys exit &
	setsid sh -c 'setsid sh -c "$LEAF" sh ignores : &'
	echo $$ >program
`

// When the program ends, its descendants get SIGTERM at once, and SIGKILL 5 s later.
func TestDescendants(t *testing.T) {
	t.Parallel()
	testserver.Program(t, "setsid")
	e, pids := startScript(t, "1h",
		daemons+`while ! [ -s ignores ] || ! [ -s obeys ]; do sleep 0.05; done
		date +%s%N >ended; exit 7`, "program", "obeys", "ignores")
	o := e.outcome()
	allDead(t, pids)
	if o.Code != 7 || o.Late || o.Unguarded {
		t.Errorf("%+v", o)
	}
	for _, name := range []string{"obeys", "ignores"} {
		if words := e.read(name); len(words) != 2 {
			t.Errorf("%s got SIGTERM %d times, want once", name, len(words)-1)
		}
	}
	ended := time.Unix(0, int64(check.Must(strconv.Atoi(e.read("ended")[0]))(t)))
	if after := o.Last.Sub(ended); after < descendantsGrace {
		t.Errorf("the last descendant ended after %v", after)
	}
}

// At the deadlines, all processes get SIGTERM and SIGKILL, also while exec is stopped.
func TestDeadlines(t *testing.T) {
	testserver.Waits(t, "waits for deadlines")
	t.Parallel()
	testserver.Program(t, "setsid")
	e, pids := startScript(t, "10s",
		daemons+`setsid sh -c "$LEAF" sh direct : & exec sh -c "$LEAF" sh self :`,
		"obeys", "ignores", "direct", "self")
	check.OK(t, e.Process.Signal(syscall.SIGSTOP))
	if !check.Soon(func() bool {
		return dead(pids[0]) && dead(pids[1]) && dead(pids[2]) && dead(pids[3])
	}) {
		t.Error("not all processes ended")
	}
	check.OK(t, e.Process.Signal(syscall.SIGCONT))
	if o := e.outcome(); !o.Late || o.Code != 128+9 {
		t.Errorf("%+v", o)
	}
	for _, name := range []string{"obeys", "ignores", "direct", "self"} {
		if words := e.read(name); len(words) != 2 {
			t.Errorf("%s got SIGTERM %d times, want once", name, len(words)-1)
		}
	}
	allDead(t, pids)
}

// If exec or its watchdog is killed, all processes are. If both are, the program is.
func TestKilled(t *testing.T) {
	t.Parallel()
	testserver.Program(t, "setsid")
	for _, victim := range []string{"exec", "stopped watchdog, then exec", "watchdog",
		"both"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			e, pids := startScript(t, "1h", daemons+`exec sh -c "$LEAF" sh self :`,
				"self", "obeys", "ignores")
			_, watchdog := stat(pids[0])
			switch victim {
			case "exec":
				e.Process.Kill()
			case "watchdog":
				syscall.Kill(watchdog, syscall.SIGKILL)
				if o := e.outcome(); !o.Unguarded || o.Code != 128+9 {
					t.Errorf("%+v", o)
				}
				allDead(t, pids)
			case "stopped watchdog, then exec":
				syscall.Kill(watchdog, syscall.SIGSTOP)
				e.Process.Kill()
			case "both":
				e.Process.Signal(syscall.SIGSTOP)
				syscall.Kill(watchdog, syscall.SIGKILL)
				e.Process.Kill()
				for _, pid := range pids[1:] {
					defer syscall.Kill(pid, syscall.SIGKILL)
				}
				pids = pids[:1]
			}
			begin := time.Now()
			pids = append(pids, watchdog)
			check.Soon(func() bool {
				for _, pid := range pids {
					if !dead(pid) {
						return false
					}
				}
				return true
			})
			t.Logf("all ended after %v", time.Since(begin))
			allDead(t, pids)
		})
	}
}

// After a stop of all processes past the deadlines, the watchdog sends nothing but SIGKILL, at
// once.
func TestFreeze(t *testing.T) {
	testserver.Waits(t, "waits for deadlines")
	t.Parallel()
	e := executeIn(t, []string{os.Args[0], "exec", "8s", os.Args[0], "clock"})
	check.OK(t, e.Start())
	t.Cleanup(func() { e.Process.Kill() })
	program := e.pid("out")
	if !check.Soon(func() bool { return len(e.read("out")) > 2 }) {
		t.Fatal("the program prints no times")
	}
	_, watchdog := stat(program)
	frozen := []int{program, watchdog, e.Process.Pid}
	for _, pid := range frozen {
		check.OK(t, syscall.Kill(pid, syscall.SIGSTOP))
	}
	time.Sleep(9 * time.Second) // past the deadlines
	syscall.Kill(e.Process.Pid, syscall.SIGTERM)
	resumed := time.Now()
	for _, pid := range frozen {
		check.OK(t, syscall.Kill(pid, syscall.SIGCONT))
	}
	if o := e.outcome(); o.Code != 128+9 {
		t.Errorf("%+v", o)
	}
	words := e.read("out")
	words = words[1 : len(words)-1]
	at, err := strconv.ParseInt(words[len(words)-1], 10, 64)
	if err != nil {
		t.Fatalf("the program got %q", words[len(words)-1])
	}
	ran := time.Unix(0, at).Sub(resumed)
	t.Logf("the program ran for %v", max(ran, 0))
	if ran > time.Second {
		t.Errorf("the program ran for %v", ran)
	}
}

// Processes that start others and end do not get away.
func TestForkStorm(t *testing.T) {
	for how, script := range map[string]string{
		"exec is killed": `echo $$ >up; sleep 3600`, "the program ends": `echo $$ >up`,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			if how == "the program ends" {
				testserver.Long(t, "keeps all processors busy for 5 s")
			}
			e := executeIn(t, []string{os.Args[0], "exec", "1h", "sh", "-c",
				`for i in 1 2 3 4 5 6 7 8; do sh storm & done; sleep 0.5; ` + script})
			check.Write(t, filepath.Join(e.dir, "storm"), "trap '' TERM; sh storm &")
			e.Env = append(e.Env, "STORM="+e.dir)
			check.OK(t, e.Start())
			t.Cleanup(func() { e.Process.Kill() })
			if how == "exec is killed" {
				_, watchdog := stat(e.pid("up"))
				e.Process.Kill()
				if !check.Soon(func() bool { return dead(watchdog) }) {
					t.Error("the watchdog lives")
				}
			} else if o := e.outcome(); o.Code != 0 {
				t.Errorf("%+v", o)
			}
			e.pid("up")
			for _, name := range names("/proc") {
				env, err := os.ReadFile("/proc/" + name + "/environ")
				if err == nil && bytes.Contains(env, []byte("STORM="+e.dir)) {
					t.Errorf("process %s lives", name)
				}
			}
		})
	}
}

// Where exec may make cgroups, SIGKILL reaches all processes in the program's cgroup. The cgroup
// does not stay.
func TestCgroup(t *testing.T) {
	t.Parallel()
	before := newCgroup()
	if before == "" {
		t.Skip("this process may not make cgroups")
	}
	check.OK(t, os.Remove(before))
	for _, victim := range []string{"nobody", "exec", "watchdog"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			e := executeIn(t, []string{os.Args[0], "exec", "1h",
				"sh", "-c", `cat /proc/self/cgroup >cgroup; exec sh -c "$LEAF" sh self :`})
			e.Env = append(e.Env, "CGROUP=yes")
			check.OK(t, e.Start())
			t.Cleanup(func() { e.Process.Kill() })
			e.pid("started")
			program := e.pid("self")
			_, watchdog := stat(program)
			line := strings.Join(e.read("cgroup"), "\n")
			_, name, ok := strings.Cut(line, "/sortid-exec-")
			dir := filepath.Join(ownCgroup(), "sortid-exec-"+name)
			if _, err := os.Stat(dir); !ok || err != nil {
				t.Fatalf("the program is in %q: %v", line, err)
			}
			switch victim {
			case "nobody":
				killCgroup(dir)
				e.outcome()
			case "exec":
				e.Process.Kill()
			case "watchdog":
				syscall.Kill(watchdog, syscall.SIGKILL)
				e.outcome()
			}
			if !check.Soon(func() bool {
				_, err := os.Stat(dir)
				return dead(program) && errors.Is(err, os.ErrNotExist)
			}) {
				t.Errorf("process %d or %s stays", program, dir)
			}
		})
	}
}

// The first process of a PID namespace waits for all its children, whether /proc shows the
// namespace or not.
func TestFirstProcess(t *testing.T) {
	t.Parallel()
	nsenter := testserver.Program(t, "nsenter")
	testserver.Program(t, "setsid")
	for _, flags := range [][]string{{"--kill-child"},
		{"--kill-child", "--mount-proc"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			unshare := append([]string{testserver.Program(t, "unshare"), "--pid", "--fork"},
				flags...)
			if text, err := exec.Command(unshare[0],
				append(unshare[1:], "true")...).CombinedOutput(); err != nil {
				t.Skipf("this user may not make PID namespaces: %s", text)
			}
			e := executeIn(t, append(unshare, os.Args[0], "exec", "1h", "sh", "-c",
				daemons+`trap 'exit 7' TERM; while :; do sleep 0.05; done`))
			check.OK(t, e.Start())
			t.Cleanup(func() { e.Process.Kill() })
			e.pid("ignores")
			e.pid("program")
			first := childrenOf(e.Process.Pid)[0]
			text, err := exec.Command(nsenter, "--target", strconv.Itoa(first), "--pid",
				"sh", "-c", "sleep 0.1 & sleep 0.2 & sleep 0.3 & exit").CombinedOutput()
			if err != nil {
				t.Skipf("%v: %s", err, text)
			}
			if !check.Soon(func() bool { return len(childrenOf(first)) == 1 }) {
				t.Errorf("zombies stay: %v", childrenOf(first))
			}
			check.OK(t, syscall.Kill(first, syscall.SIGTERM))
			if o := e.outcome(); o.Code != 7 {
				t.Errorf("%+v", o)
			}
			for _, name := range []string{"obeys", "ignores"} {
				if words := e.read(name); len(words) != 2 {
					t.Errorf("%s got SIGTERM %d times, want once", name, len(words)-1)
				}
			}
		})
	}
}

// A process of another user can go on, but not in a cgroup.
func TestOtherUser(t *testing.T) {
	testserver.Waits(t, "waits for deadlines")
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can make a program that runs as root")
	}
	const nobody = 65534
	dir := check.Must(os.MkdirTemp("", "other"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	check.OK(t, os.Chmod(dir, 0o755))
	text := check.Must(os.ReadFile("/proc/self/exe"))(t)
	for name, mode := range map[string]os.FileMode{"exec": 0o755, "root": 0o755 | os.ModeSetuid} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), text, 0o755))
		check.OK(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	prepare := func(t *testing.T) *executed {
		e := executeIn(t, []string{filepath.Join(dir, "exec"), "exec", "1h", "sh", "-c",
			filepath.Join(dir, "root") + ` root & while ! [ -s out ]; do sleep 0.05; done; exit 7`})
		check.OK(t, os.Chmod(filepath.Dir(e.dir), 0o755))
		e.SysProcAttr = &syscall.SysProcAttr{
			Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		return e
	}
	run := func(t *testing.T, e *executed) (o outcome, pid int) {
		check.OK(t, e.Start())
		pid = e.pid("out")
		t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
		if words := e.read("out"); words[1] != "<nil>" {
			t.Skipf("no program can run as root here: %s", words[1])
		}
		return e.outcome(), pid
	}
	t.Run("without a cgroup", func(t *testing.T) {
		t.Parallel()
		e := prepare(t)
		if o, pid := run(t, e); dead(pid) || o.Code != 7 || !slices.Equal(o.Left, []int{pid}) {
			t.Errorf("%+v, want process %d left", o, pid)
		}
	})
	t.Run("in a cgroup", func(t *testing.T) {
		t.Parallel()
		cgroup := newCgroup()
		if cgroup == "" {
			t.Skip("this process may not make cgroups")
		}
		t.Cleanup(func() { os.Remove(cgroup) })
		for _, name := range []string{"", "cgroup.procs"} {
			check.OK(t, os.Chown(filepath.Join(cgroup, name), nobody, nobody))
		}
		f := check.Must(os.Open(cgroup))(t)
		defer f.Close()
		e := prepare(t)
		e.Env = append(e.Env, "CGROUP=yes")
		e.SysProcAttr.UseCgroupFD, e.SysProcAttr.CgroupFD = true, int(f.Fd())
		if o, pid := run(t, e); !dead(pid) || o.Code != 7 || o.Left != nil {
			t.Errorf("%+v, want process %d ended", o, pid)
		}
	})
}

// A program does not start after the deadline of SIGKILL.
func TestStartsLate(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	past, file := time.Now().Add(-time.Second), filepath.Join(t.TempDir(), "started")
	_, err := startProgram(&console.Console{Err: &stderr}, check.Must(exec.LookPath("sh"))(t),
		[]string{"sh", "-c", "echo >" + file}, os.Environ(), deadlines{past, past, past})
	if code, _ := console.ExitCodeOf(err); code != 126 ||
		!strings.Contains(stderr.String(), "the lease ended before") {
		t.Errorf("%v: %s", err, &stderr)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the program started")
	}
}

// The end of the program sends no SIGHUP to a group of processes that has no parent in its session.
func TestOrphanedGroup(t *testing.T) {
	t.Parallel()
	e := executeIn(t, []string{"sh", "-c", `sleep 1000 & kill -STOP $!
		"$0" exec 1h true; kill -KILL $!; echo '{"Code":3}'`, os.Args[0]})
	e.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	check.OK(t, e.Start())
	if o := e.outcome(); o.Code != 3 {
		t.Errorf("%+v", o)
	}
}

// A renewal at the end of the program is no failure of the watchdog.
func TestTellAtTheEnd(t *testing.T) {
	t.Parallel()
	d := deadlines{Terminate: time.Now().Add(time.Hour), Kill: time.Now().Add(2 * time.Hour)}
	p, err := startProgram(&console.Console{Err: t.Output()}, check.Must(exec.LookPath("true"))(t),
		[]string{"true"}, os.Environ(), d)
	check.OK(t, err)
	for ended := false; !ended; {
		select {
		case <-p.gone:
			ended = true
		case <-time.After(50 * time.Microsecond):
		}
		if err := p.tell(d); err != nil && !errors.Is(err, syscall.EAGAIN) {
			t.Fatal(err)
		}
	}
	if p.code != 0 || p.unguarded() {
		t.Errorf("exit code %d, lost %v", p.code, p.unguarded())
	}
}

// The program gets its arguments, and the files and the ignored signals of exec.
func TestInherited(t *testing.T) {
	t.Parallel()
	in, to, err := os.Pipe()
	check.OK(t, err)
	fmt.Fprintln(to, "input")
	to.Close()
	other, to, err := os.Pipe()
	check.OK(t, err)
	fmt.Fprintln(to, "other")
	to.Close()
	e := executeIn(t, []string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh", os.Args[0], "exec", "1h",
		"sh", "-c", `read a; read b <&3; echo $a $b "$@"; kill -HUP $$; kill -TERM $$`,
		"sh", "", "\xff"})
	e.Stdin, e.ExtraFiles = in, []*os.File{other}
	check.OK(t, e.Start())
	in.Close()
	other.Close()
	o := e.outcome()
	f := check.Must(os.Open(filepath.Join(e.dir, "out")))(t)
	defer f.Close()
	lines := bufio.NewScanner(f)
	if lines.Scan(); lines.Text() != "input other  \xff" || o.Code != 128+15 {
		t.Errorf("%q, %+v", lines.Text(), o)
	}
}

// If the clock is set back, the deadlines stay as far away as they were.
func TestClockSetBack(t *testing.T) {
	now := time.Now()
	d := deadlines{now, now.Add(time.Hour), now.Add(time.Hour)}
	w := warden{deadlines: d, boot: d.boot()}
	if w.due(now) {
		t.Error("SIGKILL is due too early")
	}
	w.boot.Kill -= time.Hour
	if !w.due(now) {
		t.Error("SIGKILL is not due after an hour by the time since the machine's start")
	}
	if w.boot = d.boot(); !w.due(d.Kill) {
		t.Error("SIGKILL is not due at its time by the clock")
	}
}
