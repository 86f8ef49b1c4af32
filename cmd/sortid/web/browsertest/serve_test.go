package browsertest

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

func serve(t *testing.T, args ...string) (address string) {
	t.Helper()
	command, err := sortid()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	for address == "" && lines.Scan() {
		var line struct{ Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		address = line.Address
	}
	go func() { // it must not wait for its log's reader
		for lines.Scan() {
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
	})
	return address
}

// The page works at / as from a file.
func TestServed(t *testing.T) {
	tb := tabOf(t)
	address := serve(t)
	tb.mayLoad = address
	tb.do(chromedp.Navigate(address + "/#" + example))
	tb.contains("#result .card", "2022-04-03T11:40:14.308Z")
	if got := eval[int](tb, `performance.getEntriesByType("resource").length`); got != 0 {
		t.Errorf("the page loads %d more", got)
	}
	if got := eval[string](tb,
		`fetch("/").then((r) => r.text()).catch(() => "refused")`); got != "refused" {
		t.Errorf("the policy lets the page make a request")
	}
	tb.taken() // the console says so
}
