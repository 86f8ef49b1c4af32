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
)

// A foreign page cannot change the store of a server without tokens, or make IDs. It tries a form,
// fetch, and its own domain name.
func TestForeignPage(t *testing.T) {
	tb := tabOf(t)
	server := serve(t, "--store", "bolt:"+filepath.Join(t.TempDir(), "s.db"))
	// A form sends NAME=VALUE, which is JSON if the realm has "=".
	const name = `{"changes":[{"prev":{"realm":"a=b","block":"0/0"},"next":{"realm":"a`
	const value = `b","block":"0/0","revision":"1","hwm":"0","state":"split",` +
		`"terms":{"bits":23,"tick":256,"epoch":0,"window":234,"lead":39},"generation":"0123456789abcdef"}}]}`
	first, rest, _ := strings.Cut(name+"="+value, "=")
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>evil</title><form id="form" method="post" enctype="text/plain"
			action="%s/v1/store/compare-and-set"><input name='%s' value='%s'></form>`,
			server, first, rest)
	}))
	defer evil.Close()
	at := func(address string) string {
		return strings.Replace(address, "127.0.0.1", "evil.example", 1)
	}
	tb.mayLoad, tb.maySay = "http://", true // refusals are logged

	made := regexp.MustCompile(`\nsortid_ids_total\{[^}]*\} [^0]`)
	unchanged := func(after string) {
		t.Helper()
		resp, err := http.Post(server+"/v1/store/realms", "application/json",
			strings.NewReader("{}"))
		check(t, err)
		defer resp.Body.Close()
		if b, err := io.ReadAll(resp.Body); err != nil ||
			string(b) != `{"realms":["scru64","uid60"]}`+"\n" {
			t.Errorf("after %s: %s, %v", after, b, err)
		}
		metrics, err := http.Get(server + "/metrics")
		check(t, err)
		defer metrics.Body.Close()
		if b, err := io.ReadAll(metrics.Body); err != nil ||
			!strings.Contains(string(b), "\nsortid_ids_total{") || made.Match(b) {
			t.Errorf("after %s: IDs were made, %v", after, err)
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
			`location.pathname === "/v1/store/compare-and-set" && document.body.innerText !== ""`)
		if answer := eval[string](tb, `document.body.innerText`); !strings.Contains(answer,
			`"status":403`) {
			t.Errorf("a form of %s: %s", origin, answer)
		}
		unchanged("a form of " + origin)
		for _, target := range []string{server, at(server)} {
			tb.do(chromedp.Navigate(origin))
			for _, mode := range []string{"no-cors", "cors"} {
				for _, kind := range []string{"text/plain", "application/json"} {
					if got := post(target+"/v1/store/compare-and-set", kind,
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
	for _, path := range []string{"/v1/store/compare-and-set", "/v1/ids/euid", "/v1/inspect"} {
		if got := post(path, "application/json", "same-origin"); got != "basic 421" {
			t.Errorf("%s through a name of its own: %s", path, got)
		}
	}
	unchanged("a name of its own")

	u, err := url.Parse(server)
	check(t, err)
	tb.do(chromedp.Navigate("http://localhost:" + u.Port() + "/healthz"))
	if got := post("/v1/store/compare-and-set", "application/json",
		"same-origin"); got != "basic 200" {
		t.Errorf("of the server's own origin: %s", got)
	}
}
