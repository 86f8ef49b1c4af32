package browsertest

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"
)

func TestRubbish(t *testing.T) {
	tb := open(t, "")
	binary := make([]byte, 100_000)
	rand.Read(binary)
	const id = "03ha0fadamez822zrqzfunrpx"
	for name, text := range map[string]string{
		"script": `<script>document.title = "broken"</script>` + "\n" + id +
			" <img src=x onerror=document.title='broken'>\n" + id + ` "><svg onload=alert(1)>` +
			"\n<b>" + id,
		"binary":       string(binary),
		"surrogates":   "\ud7ff" + strings.Repeat("\xed\xa0\x80", 10),
		"a megabyte":   strings.Repeat("All work and no play makes Jack a dull boy. ", 1<<20/44),
		"one word":     strings.Repeat("a", 1<<20),
		"blanks":       strings.Repeat(" \t\n", 10_000),
		"no newline":   strings.Repeat(id+",", 2000),
		"prototype":    "__proto__\nconstructor\ntoString\nhasOwnProperty",
		"a long line":  id + strings.Repeat(" x", 100_000) + " " + id,
		"digits":       strings.Repeat("9", 100_000),
		"almost UUIDs": strings.Repeat("01a1fe9e-a177-6f8d-cfdd-e552d33a161-", 10_000),
	} {
		begin := time.Now()
		tb.paste(text)
		t.Logf("%s: %v", name, time.Since(begin).Round(time.Millisecond))
		is(tb, false, `document.title === "broken"`) // a script in the text would do that
		tb.counts("#result script, #result img, #result svg[onload], #result b", 0)
		switch name {
		case "script":
			tb.counts("#result .card", 3)
			tb.contains("#result", `onerror=document.title='broken'>`, `"><svg onload=alert(1)>`)
		case "no newline":
			tb.contains("#status", "2,000 IDs")
		case "a long line":
			tb.contains("#status", "2 IDs")
		}
	}
}

// Invisible characters, and characters that change the direction of text, appear as codes.
func TestHiddenCharacters(t *testing.T) {
	tb := open(t, "")
	const id = "03ha0fadamez822zrqzfunrpx"
	tb.paste(
		"from \u202egnp.exe\u202c, zero\u200bwidth, bom\ufeff, tag\U000e0041, nul\x00, esc\x1b[31m: " + id)
	tb.contains("#result .place", "U+202E", "U+202C", "U+200B", "U+FEFF", "U+E0041", "U+0000",
		"U+001B")
	tb.contains("#result", "7 characters that a screen does not show")
	is(tb, false,
		`/[\u202a-\u202e\u200b\ufeff\u0000\u001b\u{e0041}]/u.test(document.getElementById("result").innerText)`)
	tb.paste(id[:10] + "\u200b" + id[10:])
	tb.contains("#result", "U+200B", "is no ID")
	tb.counts("#result .card", 0)
	tb.open("#%E2%80%AE" + id)
	tb.contains("#result", "U+202E")
	tb.open("#%00%ZZ<script>")
	tb.contains("#result", "is no ID")
}

// The policy forbids everything except the script and style of the page.
func TestPolicy(t *testing.T) {
	tb := open(t, "")
	is(tb, true,
		`/^default-src 'none'; script-src 'sha256-(?!.*unsafe)/.test(document.querySelector("meta[http-equiv]").content)`)
	for _, c := range []struct{ what, script, directive string }{
		{"an inline script",
			`const s = document.createElement("script"); s.setAttribute("src", ""); s.removeAttribute("src"); s.append("window.ran = true"); document.body.append(s);`, "script"},
		{"an inline style",
			`const s = document.createElement("style"); s.append("body { display: none }"); document.body.append(s);`, "style-src-elem"},
		{"a style attribute", `document.body.setAttribute("style", "display: none");`,
			"style-src-attr"},
		{"an image",
			`const i = new Image(); i.src = "https://example.com/x.png"; document.body.append(i);`,
			"img-src"},
		{"a request", `fetch("https://example.com/").catch(() => {});`, "connect-src"},
		{"a frame",
			`const f = document.createElement("iframe"); f.src = "https://example.com/"; document.body.append(f);`, "frame-src"},
	} {
		got := eval[string](tb, `new Promise((resolve) => {
			document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective), { once: true });
			setTimeout(() => resolve("nothing"), 60_000);
			try { `+c.script+` } catch (error) { resolve("script: " + error); }
		})`)
		if !strings.HasPrefix(got, c.directive) && got != "require-trusted-types-for" {
			t.Errorf("%s: the browser objects to %s, want %s", c.what, got, c.directive)
		}
	}
	is(tb, false, `window.ran === true || getComputedStyle(document.body).display === "none"`)
	// The policy also forbids HTML that the page's own script makes.
	is(tb, "TypeError",
		`(() => { try { document.body.innerHTML = "<b>x</b>"; return "set"; } catch (error) { return error.name; } })()`)
	tb.taken() // the console reports the violations
}
