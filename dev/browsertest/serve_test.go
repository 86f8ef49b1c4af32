package browsertest

import (
	"encoding/json"
	"io"
	"os/exec"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

func serve(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(testserver.Sortid(t), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	log := check.Must(cmd.StderrPipe())(t)
	check.OK(t, cmd.Start())
	var line struct{ Address string }
	for lines := json.NewDecoder(log); line.Address == ""; {
		check.OK(t, lines.Decode(&line))
	}
	go io.Copy(io.Discard, log) // the server must not wait for a reader of its log
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
	})
	return line.Address
}

func TestServed(t *testing.T) {
	tb := tabOf(t)
	address := serve(t)
	tb.mayLoad = address
	tb.do(chromedp.Navigate(address + "/#" + example))
	tb.contains("#result .card", "2022-04-03T11:40:14.308Z")
	is(tb, 0, `performance.getEntriesByType("resource").length`)
	is(tb, "refused", `fetch("/").then((r) => r.text()).catch(() => "refused")`) // by the policy
	tb.taken()                                                                   // in the console
}
