package browsertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/sortid/sortid/internal/check"
)

// A foreign page cannot lease a node ID from a server without tokens, or make IDs. It tries a form,
// fetch, and its own domain name.
func TestForeignPage(t *testing.T) {
	tb := tabOf(t)
	server := serve(t, "--store", "bolt:"+filepath.Join(t.TempDir(), "s.db"), "--create")
	// A form sends NAME=VALUE, which is JSON if a string has "=".
	const name, value = `{"request":"0123456789`, `abcdef","node_bits":8}`
	const leases = "/v1/realms/scru64/leases"
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>evil</title><form id="form" method="post" enctype="text/plain"
			action="%s"><input name='%s' value='%s'></form>`, server+leases, name, value)
	}))
	defer evil.Close()
	at := func(address string) string {
		return strings.Replace(address, "127.0.0.1", "evil.example", 1)
	}
	tb.mayLoad, tb.maySay = "http://", true // refusals are logged

	made := regexp.MustCompile(`\nsortid_ids_total\{[^}]*\} [^0]`)
	unchanged := func(after string) {
		t.Helper()
		metrics := check.Must(http.Get(server + "/metrics"))(t)
		defer metrics.Body.Close()
		if b, err := io.ReadAll(metrics.Body); err != nil ||
			!strings.Contains(string(b), "\nsortid_ids_total{") || made.Match(b) ||
			strings.Contains(string(b), "\nsortid_leases_given_total{") {
			t.Errorf("after %s: IDs were made or leased, %v: %s", after, err, b)
		}
	}
	post := func(url, kind, mode string) string {
		t.Helper()
		return eval[string](tb, `fetch(%s, {method: "POST", mode: %s, headers: {"Content-Type": %s}, body: %s}).
			then((r) => r.type + " " + r.status, (e) => "refused")`,
			url, mode, kind, name+"="+value)
	}
	unchanged("the start")
	for _, origin := range []string{evil.URL, at(evil.URL)} {
		tb.do(chromedp.Navigate(origin))
		eval[bool](tb, `(document.getElementById("form").submit(), true)`)
		tb.until(
			`location.pathname === "` + leases + `" && document.body.innerText !== ""`)
		if answer := eval[string](tb, `document.body.innerText`); !strings.Contains(answer,
			`"status":403`) {
			t.Errorf("a form of %s: %s", origin, answer)
		}
		unchanged("a form of " + origin)
		for _, target := range []string{server, at(server)} {
			tb.do(chromedp.Navigate(origin))
			for _, mode := range []string{"no-cors", "cors"} {
				for _, kind := range []string{"text/plain", "application/json"} {
					if got := post(target+leases, kind,
						mode); got != "refused" && got != "opaque 0" {
						t.Errorf("%s of %s to %s: %s", mode, kind, target, got)
					}
				}
				for _, method := range []string{"GET", "HEAD", "POST"} {
					eval[string](
						tb,
						`fetch(%s, {method: %s, mode: %s}).then((r) => r.type, (e) => "refused")`,
						target+"/v1/ids/euid", method, mode)
				}
			}
			unchanged("requests of " + origin + " to " + target)
		}
	}

	// If a page's domain leads to the server, both have the same origin.
	tb.do(chromedp.Navigate(at(server) + "/healthz"))
	for _, path := range []string{leases, "/v1/ids/euid", "/v1/inspect"} {
		if got := post(path, "application/json", "same-origin"); got != "basic 421" {
			t.Errorf("%s through a name of its own: %s", path, got)
		}
	}
	unchanged("a name of its own")

	u := check.Must(url.Parse(server))(t)
	tb.do(chromedp.Navigate("http://localhost:" + u.Port() + "/healthz"))
	if got := post(leases, "application/json", "same-origin"); got != "basic 201" {
		t.Errorf("of the server's own origin: %s", got)
	}
}
