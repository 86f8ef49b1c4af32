package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/sortid/sortid/testserver"
)

// install returns a program's path. In CI it installs a missing one from the distribution.
func install(t testing.TB, packageName string, names ...string) string {
	t.Helper()
	find := func() string {
		for _, name := range names {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
		return ""
	}
	if path := find(); path != "" {
		return path
	}
	if os.Getenv("CI") != "" && os.Getuid() == 0 {
		for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends",
			packageName}} {
			if out, err := exec.Command("apt-get", args...).CombinedOutput(); err != nil {
				t.Logf("apt-get %s: %v\n%s", args[0], err, out)
			}
		}
	}
	path := find()
	if path == "" {
		testserver.Missing(t, "no %s here, so the page was not tested in it (apt-get install %s)",
			names[0], packageName)
	}
	return path
}

var sortid = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "sortid")
	out, err := exec.Command("go", "build", "-o", path, "../..").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

var page = sync.OnceValues(func() (string, error) {
	command, err := sortid()
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "sortid.html")
	b, err := exec.Command(command, "page").Output()
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, b, 0o644)
})

func run(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	path, err := sortid()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sortid %v: %v\n%.2000s", args, err, &stderr)
	}
	return string(out)
}

var (
	scratch string
	started struct {
		sync.Mutex
		ctx     context.Context
		cancels []context.CancelFunc
	}
)

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "browsertest"); err != nil {
		panic(err)
	}
	code := m.Run()
	for _, cancel := range started.cancels {
		cancel()
	}
	os.RemoveAll(scratch)
	os.Exit(code)
}

func startBrowser(t testing.TB) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser: not with -short")
	}
	path := install(t, "chromium", "chromium", "chromium-browser", "google-chrome")
	started.Lock()
	defer started.Unlock()
	if started.ctx != nil {
		return started.ctx
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.Headless,
		chromedp.DisableGPU,
		chromedp.WSURLReadTimeout(5*time.Minute),
		chromedp.UserDataDir(filepath.Join(scratch, "profile")),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-dev-shm-usage", true),
		// A stranger's domain that leads to this machine.
		chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"),
		chromedp.Env("TZ=Europe/Berlin"))
	started.cancels = append(started.cancels, cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	started.cancels = append([]context.CancelFunc{cancel}, started.cancels...)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	started.ctx = ctx
	return ctx
}

// A tab shows the page. Unexpected messages and requests fail the test.
type tab struct {
	testing.TB
	ctx     context.Context
	mayLoad string // the start of expected URLs
	maySay  bool   // the browser may log

	mu       sync.Mutex
	problems []string
}

func tabOf(t testing.TB) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(startBrowser(t))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	tb := &tab{TB: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, "file://") &&
				!strings.HasPrefix(url, "data:") && url != "about:blank" &&
				(tb.mayLoad == "" || !strings.HasPrefix(url, tb.mayLoad)) {
				tb.problem("a request to %s", url)
			}
		case *runtime.EventConsoleAPICalled:
			tb.problem("the console says %s: %s", e.Type, e.Args[0].Value)
		case *runtime.EventExceptionThrown:
			tb.problem("an exception: %v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			if !tb.maySay {
				tb.problem("the log says: %s", e.Entry.Text)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	call(tb, network.Enable, network.EnableParams{})
	call(tb, log.Enable, cdp.Empty{})
	t.Cleanup(func() {
		for _, p := range tb.taken() {
			t.Error(p)
		}
	})
	return tb
}

func (tb *tab) problem(format string, args ...any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.problems = append(tb.problems, fmt.Sprintf(format, args...))
}

// taken returns the problems, and forgets them.
func (tb *tab) taken() []string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	p := tb.problems
	tb.problems = nil
	return p
}

func open(t testing.TB, hash string) *tab {
	t.Helper()
	tb := tabOf(t)
	tb.open(hash)
	return tb
}

func (tb *tab) open(hash string) {
	tb.Helper()
	path, err := page()
	if err != nil {
		tb.Fatal(err)
	}
	// Pages that differ only in the hash are one document.
	tb.do(chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+path+hash))
}

func (tb *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tb.Helper()
	if err := chromedp.Do(tb.ctx, actions...); err != nil {
		tb.Fatal(err)
	}
}

func call[P, R any](tb *tab, command cdp.Command[P, R], params P) R {
	tb.Helper()
	result, err := chromedp.Call(tb.ctx, command, params)
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

func (tb *tab) until(expression string) {
	tb.Helper()
	if _, err := chromedp.Run(
		tb.ctx, chromedp.Poll[bool](expression,
			chromedp.WithPollingTimeout(5*time.Minute))); err != nil {
		tb.Fatalf("%v: %s", err, expression)
	}
}

// eval waits for promises.
func eval[T any](tb *tab, script string, args ...any) T {
	tb.Helper()
	for i, arg := range args {
		b, err := json.Marshal(arg)
		if err != nil {
			tb.Fatal(err)
		}
		args[i] = string(b)
	}
	if len(args) > 0 {
		script = fmt.Sprintf(script, args...)
	}
	result, err := chromedp.Run(tb.ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.Fatalf("%v\n%.500s", err, script)
	}
	return result
}

func (tb *tab) paste(text string) {
	tb.Helper()
	eval[bool](tb, `(() => {
		const input = document.getElementById("input");
		input.value = %s;
		input.dispatchEvent(new Event("input", { bubbles: true }));
		return true;
	})()`, text)
}

func (tb *tab) set(id, value string) {
	tb.Helper()
	eval[bool](tb, `(() => {
		const input = document.getElementById(%s);
		input.value = %s;
		for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
		return true;
	})()`, id, value)
}

func (tb *tab) text(selector string) string {
	tb.Helper()
	return eval[string](tb, `document.querySelector(%s)?.innerText ?? "nothing there"`, selector)
}

func (tb *tab) count(selector string) int {
	tb.Helper()
	return eval[int](tb, `document.querySelectorAll(%s).length`, selector)
}

func (tb *tab) contains(selector string, want ...string) {
	tb.Helper()
	got := tb.text(selector)
	for _, w := range want {
		if !strings.Contains(got, w) {
			tb.Errorf("%s has no %q:\n%.1500s", selector, w, got)
		}
	}
}

// catchCopies replaces the clipboard by window.copied.
func (tb *tab) catchCopies() {
	tb.Helper()
	eval[bool](tb, `(() => {
		Object.defineProperty(navigator, "clipboard", { value: { async writeText(text) { window.copied = text; } } });
		return true;
	})()`)
}

func (tb *tab) screen(width, height int64, dark bool) {
	tb.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	tb.do(chromedp.EmulateViewport(width, height))
	call(tb, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}
