package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
)

// The address has the state of the page, so people can send it to others.
func TestAddress(t *testing.T) {
	const uuid = "018bcfe5-68b1-7a5c-92d1-0123456789ab"
	tb := open(t, "#"+uuid)
	tb.contains(".card h3", uuid)
	tb.contains(".card", "UUIDv7")
	tb.click(`.card a[href="#` + uuid + `&as=scru128"]`) // the other reading
	tb.until(`document.getElementById("read-as").value === "scru128"`)
	tb.contains(".card", "SCRU128", "the format was given")
	tb.open("#" + uuid + "&as=scru128")
	tb.contains(".card", "SCRU128", "the format was given")
	tb.set("read-as", "")
	is(tb, "#"+uuid, `location.hash`)
	tb.set("read-as", "uuidv7")
	is(tb, "#"+uuid+"&as=uuidv7", `location.hash`)
	tb.paste("a&b=c")
	is(tb, "", `document.querySelector("#result .card")?.textContent ?? ""`)
	tb.open("#x&as=no-such-format")
	is(tb, "", `document.getElementById("read-as").value`)

	tb.open("#range")
	for id, value := range map[string]string{"format": "uuidv7", "from": "2026-11-17 10:00",
		"to": "2026-11-18", "zone": "Europe/Berlin", "column": "orders.id"} {
		tb.set("range-"+id, value)
	}
	tb.set("range-type", "blob")
	hash, sql := eval[string](tb, `location.hash`), tb.text(".sql")
	tb.open(hash)
	is(tb, sql, `document.querySelector(".sql").innerText`)
	is(tb, "Europe/Berlin blob",
		`document.getElementById("range-zone").value + " " + document.getElementById("range-type").value`)
}

func (tb *tab) pasteInto(selector, text string) {
	tb.Helper()
	tb.script(`
		const clipboardData = new DataTransfer();
		clipboardData.setData("text", %s);
		document.querySelector(%s).dispatchEvent(
			new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));`, text, selector)
}

func TestPasteAnywhere(t *testing.T) {
	tb := open(t, "")
	is(tb, "input", `document.activeElement.id`)
	for _, selector := range []string{"body", "#result", "#read-as", "nav a", "footer"} {
		tb.open("#choose")
		tb.pasteInto(selector, example)
		tb.contains("#result .card", example)
		is(tb, "input "+example, `document.activeElement.id + " " + document.activeElement.value`)
		is(tb, false, `document.getElementById("view-look").hidden`)
	}
	tb.open("#range")
	tb.pasteInto("#range-column", example) // another field keeps its paste
	is(tb, true, `document.getElementById("view-look").hidden`)
}

func TestDays(t *testing.T) {
	tb := open(t, "#range")
	for _, c := range [][2]string{{"yesterday", "now"}, {"Yesterday", "today"}, {"2h", "+1h"}} {
		tb.set("range-from", c[0])
		tb.set("range-to", c[1])
		is(tb, "", `document.getElementById("range-status").textContent`)
		if c[1] == "today" {
			want := strings.Fields(run(t, "", "bounds", "scru128", "--from", c[0], "--to", c[1]))
			tb.contains("#range-result", want...)
		}
	}
	tb.set("range-from", "tomorrow")
	tb.contains("#range-status", "no known form")
}

func TestMissingNumbers(t *testing.T) {
	tb := open(t, "#choose")
	for _, id := range []string{"rate", "burst", "processes", "years"} {
		tb.open("#choose")
		tb.set("choose-"+id, "")
		is(tb, false, `document.body.innerText.includes("NaN")`)
		if id != "burst" {
			tb.contains("#choose-status", id+" is missing, want ")
		}
	}
}

func TestMakeExamples(t *testing.T) {
	tb := open(t, "#make")
	for _, name := range []string{"uuidv7", "ulid"} {
		tb.set("make-format", name)
		tb.set("make-count", "1000")
		tb.make()
		f := check.Must(format.Lookup(name))(t)
		seen := map[string]bool{}
		for text := range strings.FieldsSeq(tb.made()) {
			id, err := f.Parse(text)
			if err != nil || time.Since(id.Time()).Abs() > time.Hour || seen[text] {
				t.Fatalf("%s: %s, %v", name, text, err)
			}
			seen[text] = true
		}
		if len(seen) != 1000 {
			t.Errorf("%s: %d IDs, want 1000", name, len(seen))
		}
	}
}

// A file of 50 MB is searched in a worker. The test logs the times, but does not judge them.
func TestLarge(t *testing.T) {
	tb := open(t, "")
	id := run(t, "", "new", "scru128", "-n", "2000")
	var logLines strings.Builder
	for i, text := range strings.Fields(id) {
		fmt.Fprintf(&logLines, "2026-11-21T12:00:44Z INFO order %s shipped, status=200 in %d ms, path=/orders?page=%d\n",
			text, i, i)
	}
	size := 10_000_000
	if os.Getenv("SORTID_SOAK") != "" {
		size = 50_000_000
	}
	for name, part := range map[string]string{"IDs": id, "a log": logLines.String()} {
		text := strings.Repeat(part, size/len(part)+1)
		total := 2000 * (size/len(part) + 1)
		path := filepath.Join(t.TempDir(), "large.txt")
		check.OK(t, os.WriteFile(path, []byte(text), 0o644))
		begin := time.Now()
		since := func() time.Duration { return time.Since(begin).Round(10 * time.Millisecond) }
		tb.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{path}))
		tb.until(`document.querySelectorAll("#result .list tbody tr").length > 0`)
		first := since()
		is(tb, true, `(() => { const { hidden, value } = document.getElementById("progress");
			return hidden || value > 0 && value <= 1; })()`)
		want := grouped(total) + " IDs of large.txt: "
		tb.until(`document.getElementById("status").textContent.startsWith("` + want + `")`)
		t.Logf("%s, %d MB: first results after %v, all after %v", name, len(text)/1_000_000, first,
			since())
		is(tb, true, `document.getElementById("progress").hidden`)
		if total > 100_000 {
			tb.contains("#result", "The table has the first 100,000")
		}
	}

	// A large paste does not go into the field, and another paste ends the search.
	tb.pasteInto("#input", strings.Repeat(logLines.String(), 20))
	tb.until(`document.getElementById("status").textContent.startsWith("40,000 IDs")`)
	is(tb, "", `document.getElementById("input").value`)
	tb.set("read-as", "ulid")
	tb.until(`document.getElementById("status").textContent.startsWith("No ID in 40,000 lines")`)
	tb.set("read-as", "")
	tb.paste(example)
	tb.counts("#result .card", 1)
	time.Sleep(time.Second)
	tb.counts("#result .card", 1)
}

func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
