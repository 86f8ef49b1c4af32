package browsertest

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// "sortid serve" has the page at /, where it works as it does from a file.
func TestServed(t *testing.T) {
	tb := tabOf(t)
	command, err := sortid()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command, "serve", "--listen", "127.0.0.1:0")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Signal(syscall.SIGKILL)
		cmd.Wait()
	}()
	var line struct{ Address string }
	for lines := bufio.NewScanner(log); line.Address == "" && lines.Scan(); {
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
	}
	tb.mayLoad = line.Address
	tb.do(chromedp.Navigate(line.Address + "/#" + example))
	tb.contains("#result .card", "2022-04-03T11:40:14.308Z")
	if got := eval[int](tb, `performance.getEntriesByType("resource").length`); got != 0 {
		t.Errorf("the page loads %d more", got)
	}
	if got := eval[string](tb, `fetch("/").then((r) => r.text()).catch(() => "refused")`); got != "refused" {
		t.Errorf("the policy lets the page make a request")
	}
	tb.taken() // the console says so
}
