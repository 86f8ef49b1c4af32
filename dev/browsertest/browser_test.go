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
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"

	// The tests run the command, which has these packages. With the imports, the go command does
	// not use cached results of the tests after a change there.
	_ "github.com/sortid/sortid/cmd/sortid/server"
	_ "github.com/sortid/sortid/cmd/sortid/web"
	_ "github.com/sortid/sortid/internal/extsort"
	_ "github.com/sortid/sortid/store"
	_ "github.com/sortid/sortid/verify"
	_ "github.com/sortid/sortid/verify/duplicates"
)

func output(t testing.TB, dir, stdin, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%.2000s\n%.2000s", name, args, err, out, &stderr)
	}
	return string(out)
}

func run(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	return output(t, "", stdin, testserver.Sortid(t), args...)
}

func page(t testing.TB) string {
	t.Helper()
	path := filepath.Join(scratch, "sortid.html")
	if _, err := os.Stat(path); err != nil {
		check.OK(t, os.WriteFile(path, []byte(run(t, "", "page")), 0o644))
	}
	return path
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
	testserver.Long(t, "starts a browser")
	testserver.Alone(t)
	path := testserver.Program(t, "chromium", "chromium-browser", "google-chrome")
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
		// A domain that belongs to somebody else leads to this machine.
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

// A tab of the browser. Unexpected messages and requests make the test fail.
type tab struct {
	testing.TB
	ctx     context.Context
	mayLoad string // the beginning of URLs that the tab may request
	maySay  bool   // whether the browser may log messages

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
				!strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") &&
				url != "about:blank" &&
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
	check.OK(t, err)
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
	// Pages that differ only in the hash are one document.
	tb.do(chromedp.Navigate("about:blank"), chromedp.Navigate("file://"+page(tb)+hash))
}

func (tb *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tb.Helper()
	check.OK(tb, chromedp.Do(tb.ctx, actions...))
}

func call[P, R any](tb *tab, command cdp.Command[P, R], params P) R {
	tb.Helper()
	result := check.Must(chromedp.Call(tb.ctx, command, params))(tb)
	return result
}

// until waits until an expression is true, also if it first leads to errors.
func (tb *tab) until(expression string) {
	tb.Helper()
	for end := time.Now().Add(5 * time.Minute); ; {
		there, err := chromedp.Run(tb.ctx, chromedp.Evaluate[bool](expression))
		switch {
		case there && err == nil:
			return
		case tb.ctx.Err() != nil || time.Now().After(end):
			tb.Fatalf("%v: %s", err, expression)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// eval waits for promises.
func eval[T any](tb *tab, script string, args ...any) T {
	tb.Helper()
	for i, arg := range args {
		b := check.Must(json.Marshal(arg))(tb)
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

func (tb *tab) script(statements string, args ...any) {
	tb.Helper()
	eval[bool](tb, "(() => {"+statements+"\nreturn true; })()", args...)
}

func (tb *tab) paste(text string) {
	tb.Helper()
	tb.script(`
		const input = document.getElementById("input");
		input.value = %s;
		input.dispatchEvent(new Event("input", { bubbles: true }));`, text)
}

func (tb *tab) set(id, value string) {
	tb.Helper()
	tb.script(`
		const input = document.getElementById(%s);
		input.value = %s;
		for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));`,
		id, value)
}

func (tb *tab) text(selector string) string {
	tb.Helper()
	return eval[string](tb, `document.querySelector(%s)?.innerText ?? "nothing there"`, selector)
}

func (tb *tab) counts(selector string, want int) {
	tb.Helper()
	if n := eval[int](tb, `document.querySelectorAll(%s).length`, selector); n != want {
		tb.Errorf("%d elements %s, want %d", n, selector, want)
	}
}

func is[T comparable](tb *tab, want T, expression string, args ...any) {
	tb.Helper()
	if got := eval[T](tb, expression, args...); got != want {
		tb.Errorf("%v, want %v: %s", got, want, expression)
	}
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

func (tb *tab) catchCopies() {
	tb.Helper()
	tb.script(`
		Object.defineProperty(navigator, "clipboard", { value: { async writeText(text) { window.copied = text; } } });`)
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
