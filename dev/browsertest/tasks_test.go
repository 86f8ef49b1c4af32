package browsertest

import (
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/testserver"
)

const example = "0372ijojuxuhjsfkeryi2mrtm"

func TestLookAtOne(t *testing.T) {
	tb := open(t, "#"+example)
	tb.contains(".card", example, "SCRU128", "2022-04-03T11:40:14.308Z", "years", "ago",
		"2022-04-03 13:40:14.308 +02:00", "Europe/Berlin", // the test browser's zone
		"017fef39c2641ba56a9483188841e05a", "1993501768880490086615869617690763354",
		"017fef39-c264-1ba5-6a94-83188841e05a",
		"counter_lo", "9732888", "+1 per ID, random start in each millisecond",
		"25 Base36 digits, and its time is plausible")
	is(tb, example+": scru128", `document.title`)

	is(tb, fmt.Sprintf("%0128b", integer("1993501768880490086615869617690763354")),
		`[...document.querySelectorAll(".map .bit")].map((bit) => bit.textContent).join("")`)
	is(tb, "segment time,segment counter,segment counter,segment random",
		`[...document.querySelectorAll(".map button.segment")].map((s) => s.className).join()`)

	for _, c := range []struct{ field, want string }{
		{"counter_hi", "counter_hi 1811818\n0x1ba56a, bits 79 to 56\nrandom, renewed each second"},
		{"entropy", "entropy 2286018650\n0x8841e05a, bits 31 to 0\nrandom in each ID"},
	} {
		tb.script(`
			const segment = [...document.querySelectorAll(".map button.segment")].find((s) => s.ariaLabel.startsWith(%s));
			segment.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));`, c.field)
		is(tb, c.want, `document.querySelector(".tip").innerText`)
		tb.contains(".fields tr.on", c.field)
	}

	// The address bar follows the input, and the input follows the address bar.
	tb.paste("0u2pf62ji4b9")
	is(tb, "#0u2pf62ji4b9", `location.hash`)
	eval[string](tb, `location.hash = "#xinaS8QBh"`)
	tb.until(`document.querySelector('.card[aria-label="uid60 xinaS8QBh"]') !== null`)
	tb.paste("")
	is(tb, "", `location.hash`)
	tb.counts(".format, .others li", len(format.All()))
}

func TestCopy(t *testing.T) {
	tb := open(t, "#"+example)
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		if _, err := chromedp.CallBrowser(tb.ctx, browser.SetPermission,
			browser.SetPermissionParams{
				Permission: &browser.PermissionDescriptor{Name: name},
				Setting:    browser.PermissionSettingGranted,
			}); err != nil {
			t.Fatal(err)
		}
	}
	tb.click(`[aria-label="Copy UUID"]`)
	tb.until(`document.querySelector('[aria-label="Copy UUID"]').textContent === "Copied"`)
	is(tb, "017fef39-c264-1ba5-6a94-83188841e05a", `navigator.clipboard.readText()`)
}

func TestLookAtAFew(t *testing.T) {
	tb := open(t, "")
	tb.paste("0u2pf62ji4b9\n\n" + example + "\r\nnot-an-id!\n 05TTUP1HNCPNH30VEK64KDQT9BSNU4C4 ")
	tb.counts("#result .card", 3)
	tb.contains("#result", "Line 4: not-an-id! is no ID")
	tb.contains("#status", "3 IDs; 1 line without an ID")
}

func TestWrong(t *testing.T) {
	tb := open(t, "")
	for _, text := range []string{"C8EE934SR007G5Q94QKKXFRFV8C", "0372ijojuxuhjsfkeryi2mrt!",
		"0372ijojuxuhjsfkeryi2mrt", "n1.txt", "f5lxx1zz5pnorynqglhzmsp33", strings.Repeat("9", 50),
		"Zm9vYmFyYmF6cXV4cXV1eHF1dXU=", "f81d4fae-7dec-1100-a765-00a0c91e6bf6", "zzzzzzzzzzzz",
		"d41d8cd98f00b204e9800998ecf8427e", "order_0003q6pa000bmaageby9bea4zzf7keaj-7ze4",
	} {
		tb.paste(text)
		tb.contains("#result", "is no ID: "+reasonOf(t, "inspect", "--", text))
		tb.counts("#result .card", 0)
	}
	for _, c := range [][2]string{{"scru128", "x"}, {"scru128", "0372ijojuxuhjsfkeryi2mrt!"},
		{"scru128", "zzzzzzzzzzzzzzzzzzzzzzzzz"}, {"euid", "C8EE934SR007G5Q94QKKXFRFV8C"},
		{"uid60", "?"}, {"ulid", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"}, {"xid", "9m4e2mr0ui3e8a215n4z"},
		{"snowflake-twitter", "99999999999999999999999"},
		{"scru128", "017fef39-c264-1ba5-6a94-83188841e0_a"}} {
		tb.set("read-as", c[0])
		tb.paste(c[1])
		tb.contains("#result", "is no ID: "+reasonOf(t, "inspect", "--format", c[0], "--", c[1]))
	}
	tb.set("read-as", "")
	tb.paste("f5lxx1zz5pnorynqglhzmsp33")
	tb.set("read-as", "scru128")
	tb.contains(".card", "10889-08-02T05:31:50.655Z", "no generator makes this ID",
		"the format was given")
}

// reasonOf returns why the command refuses an argument.
func reasonOf(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command(testserver.Sortid(t), args...).CombinedOutput()
	_, reason, found := strings.Cut(string(out), `" is: `)
	if !found {
		_, reason, found = strings.Cut(string(out), `": `)
	}
	if err == nil || !found {
		t.Fatalf("%q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(reason)
}

func TestLookAtMany(t *testing.T) {
	tb := open(t, "")
	ids := strings.Fields(run(t, "", "new", "scru128", "-n", "600", "--at", "-2h") + run(
		t, "", "new", "euid", "-n", "400", "--at", "-1h"))
	tb.paste(strings.Join(ids, "\n"))
	tb.contains("#status", "1,000 IDs: 600 scru128, 400 euid; from ")
	tb.counts(".list tbody tr", 1000)
	is(tb, "90%,60%",
		`[...document.querySelectorAll(".plot rect")].map((r) => r.getAttribute("height")).filter((h) => h !== "0%").join()`)

	column := func(i int) []string {
		return eval[[]string](tb,
			`[...document.querySelectorAll(".list tbody tr")].map((r) => r.cells[%s].textContent)`, i)
	}
	click := func(i int) {
		tb.click(fmt.Sprintf(".list thead th:nth-child(%d) button", i+1))
	}
	for i, name := range []string{"Line", "Time", "Format", "ID"} {
		for _, direction := range []string{"ascending", "descending"} {
			if i > 0 || direction == "descending" { // at first, the lines are ascending
				click(i)
			}
			tb.contains(`.list th[aria-sort=`+direction+"]", name)
			got := column(i)
			if i == 0 { // "1,000" sorts as a number
				for j := range got {
					got[j] = fmt.Sprintf("%8s", strings.ReplaceAll(got[j], ",", ""))
				}
			}
			if direction == "descending" {
				slices.Reverse(got)
			}
			if len(got) != 1000 || !slices.IsSorted(got) {
				t.Errorf("column %s is not %s", name, direction)
			}
		}
	}

	tb.click(".list tbody button")
	tb.counts(".list .card", 1)
	tb.click(".list tbody button")
	tb.counts(".list .card", 0)

	tb.catchCopies()
	click(3)
	tb.click("#copy-json")
	lines := strings.Split(strings.TrimSpace(eval[string](tb, `window.copied`)), "\n")
	if len(lines) != 1000 || !strings.Contains(lines[0], `"format":"scru128"`) {
		t.Errorf("%d lines of JSON, the first %s", len(lines), lines[0])
	}

	tb.paste(strings.Repeat(strings.Join(ids, "\n")+"\n", 3))
	tb.contains("#status", "3,000 IDs", "2,000 repetitions")
	tb.click(".list > .row:last-child button")
	tb.counts(".list tbody tr", 2000)
}

func TestThousandIDs(t *testing.T) {
	tb := open(t, "")
	for _, f := range format.Ours() {
		format := f.Name()
		args := []string{"new", format, "-n", "1000"}
		if format == "scru64" {
			args = append(args, "--node", "42/8")
		}
		ids := run(t, "", args...)
		took := eval[float64](tb, `(async () => {
			const input = document.getElementById("input");
			const begin = performance.now();
			input.value = %s;
			input.dispatchEvent(new Event("input", { bubbles: true }));
			document.body.offsetHeight; // forces a layout
			return performance.now() - begin;
		})()`, ids)
		t.Logf("1000 %s: %.0f ms", format, took)
		tb.contains("#status", "1,000 IDs: 1,000 "+format)
	}
}

const logText = `2026-11-21T12:00:44Z INFO order 03ha0fadamez822zrqzfunrpx shipped
2026-11-21T12:00:45Z INFO nothing here
{"id":"01a1fe9e-a177-6f8d-cfdd-e552d33a1615","ok":true}
GET /orders/03ha0fadamez822zrqzfunrpx?x=1 200
`

func TestLog(t *testing.T) {
	tb := open(t, "")
	tb.paste(logText)
	tb.contains("#status", "3 IDs; 1 line without an ID")
	tb.contains("#result", "line 1, column 33", "line 3, column 8", "line 4, column 13",
		"GET /orders/")
	tb.marks("03ha0fadamez822zrqzfunrpx 01a1fe9e-a177-6f8d-cfdd-e552d33a1615 03ha0fadamez822zrqzfunrpx")
}

func (tb *tab) marks(want string) {
	tb.Helper()
	is(tb, want, `[...document.querySelectorAll("mark")].map((m) => m.textContent).join(" ")`)
}

func TestLogOfOthers(t *testing.T) {
	tb := open(t, "")
	const text = `GET /orders/01ARZ3NDEKTSV4RRFFQ69G5FAV 200
deleted _id: ObjectId("507f1f77bcf86cd799439011"), trace 917591080fd3477cb3b1ab0d7e0e9b0c
user_01h455vb4pex5vsknk084sn02q asks for /files/0ujtsYcgvSTl8PAuAdqWYSMnLOv?x=1
tweet 1541815603606036480 of 919108f7-52d1-4320-9bac-f847db4148a8
`
	tb.paste(text)
	tb.contains("#status", "4 IDs")
	tb.marks("01ARZ3NDEKTSV4RRFFQ69G5FAV 507f1f77bcf86cd799439011 " +
		"user_01h455vb4pex5vsknk084sn02q 0ujtsYcgvSTl8PAuAdqWYSMnLOv")
	tb.set("read-as", "snowflake-twitter")
	tb.contains("#status", "1 ID")
	tb.marks("1541815603606036480")
}

func TestOneLine(t *testing.T) {
	tb := open(t, "")
	for _, width := range []int64{360, 400} {
		tb.screen(width, 800, false)
		for _, f := range format.All() {
			tb.set("read-as", f.Name())
			tb.paste(f.Example())
			tb.counts("article.card .id", 1)
			if broken := eval[[]string](tb, `[...document.querySelectorAll(
				"article.card .id, article.card .time-in, article.card dd .mono")].filter((e) => {
				const range = document.createRange();
				range.selectNodeContents(e);
				const tops = new Set([...range.getClientRects()].map((r) => Math.round(r.top / 4)));
				return tops.size > 1;
			}).map((e) => e.textContent)`); len(broken) > 0 {
				t.Errorf("%s at %d px: on several lines: %q", f.Name(), width, broken)
			}
		}
	}
}

func TestFiles(t *testing.T) {
	tb := open(t, "")
	upload := func(name, content string) {
		path := filepath.Join(t.TempDir(), name)
		check.OK(t, os.WriteFile(path, []byte(content), 0o644))
		tb.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{path}))
	}
	upload("app.log", logText)
	tb.until(`document.querySelectorAll("#result .card").length === 3`)

	large := strings.Repeat(logText, 20_000) // 4 MB, with 60,000 IDs
	upload("large.log", large)
	tb.until(`document.getElementById("status").textContent.startsWith("60,000 IDs of large.log: 60,000 scru128")`)

	var b strings.Builder
	z := gzip.NewWriter(&b)
	z.Write([]byte(strings.Repeat(logText, 3)))
	z.Close()
	upload("app.log.gz", b.String())
	tb.until(`document.getElementById("status").textContent.startsWith("9 IDs")`)

	// A long line is read in parts. No part cuts an ID, and columns count from the line's start.
	long := strings.Repeat(strings.Repeat("x", 999)+",03ha0fadamez822zrqzfunrpx,", 4000)
	upload("long.json", "{}\n"+long)
	tb.until(`document.getElementById("status").textContent.startsWith("4,000 IDs of long.json: 4,000 scru128")`)
	tb.catchCopies()
	tb.click("#copy-json")
	last := decode[struct{ Line, Column int }](t, lastLine(eval[string](tb, `window.copied`)))
	if want := 3999*1026 + 1001; last.Line != 2 || last.Column != want {
		t.Errorf("the last is in line %d, column %d, want 2 and %d", last.Line, last.Column, want)
	}

	upload("truncated.gz", b.String()[:b.Len()/2])
	tb.until(`document.getElementById("result").textContent.includes("could not be read to its end")`)

	upload("program", "\x7fELF\x00\x00\x01")
	tb.until(`document.getElementById("result").textContent.includes("program is a binary file")`)

	// The browser cannot unpack it, so the page says what can.
	for _, f := range [][2]string{{"app.zst", "\x28\xb5\x2f\xfd\x04\x00"}, {"app.xz", "\xfd7zXZ\x00"},
		{"app.bz2", "BZh91AY&SY"}} {
		upload(f[0], f[1])
		tb.until(`document.getElementById("result").textContent.includes(` + strconv.Quote(f[0]+" is compressed with") + `)`)
		tb.contains("#result", ` -d" first.`)
	}

	for name, order := range map[string]binary.AppendByteOrder{"le": binary.LittleEndian, "be": binary.BigEndian} {
		utf16 := []byte{}
		for _, c := range "\ufeff" + strings.Repeat(logText, 2) {
			utf16 = order.AppendUint16(utf16, uint16(c))
		}
		upload(name+".txt", string(utf16))
		tb.until(`document.getElementById("status").textContent.startsWith("6 IDs of ` + name + `.txt")`)
	}

	tb.drop(logText)
	tb.until(`document.querySelectorAll("#result .card").length === 3`)
}

func (tb *tab) drop(text string) {
	tb.Helper()
	tb.script(`
		const dataTransfer = new DataTransfer();
		dataTransfer.items.add(new File([%s], "dropped.log"));
		for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));`,
		text)
}

// A TypeID can lack its prefix, so it looks like each run of 26 letters and digits.
const anyFormat = `id=01M8C0Z182G7KYHRJXJG7DJ13N, and abcdefghijklmnopqrstuvwxyz
GET /orders/01ARZ3NDEKTSV4RRFFQ69G5FAV?x=1
`

// If no format is chosen, a file and a large paste have the same IDs as a small paste.
func TestFilesOfAnyFormat(t *testing.T) {
	tb := open(t, "")
	const ids = "01M8C0Z182G7KYHRJXJG7DJ13N 01ARZ3NDEKTSV4RRFFQ69G5FAV"
	const searched = `document.getElementById("progress").hidden`
	tb.paste(anyFormat)
	tb.marks(ids)
	tb.drop(anyFormat)
	tb.until(searched)
	tb.marks(ids)
	tb.contains("#status", "2 IDs of dropped.log")
	is(tb, "sortid: dropped.log", `document.title`)
	tb.drop("x" + strings.Repeat(" y", 1<<20) + " " + strings.Fields(ids)[0] + strings.Repeat(" z", 1<<20))
	tb.until(searched + `&& document.getElementById("status").textContent.startsWith("1 ID of")`)
	is(tb, "1 ID of dropped.log", `document.getElementById("status").textContent`)

	tb.drop(strings.Fields(ids)[0])
	tb.until(searched)
	tb.contains("#result .card", "ULID", "2026-11-26T13:33:20.002Z")

	tb.pasteInto("#input", strings.Repeat(anyFormat, 25_000)) // 3 MB
	tb.until(searched)
	tb.contains("#status", "50,000 IDs of the pasted text: 50,000 ULID")
}

func TestMake(t *testing.T) {
	tb := open(t, "#make")
	begin := time.Now().Add(-time.Second)
	for _, f := range format.Ours() {
		format := f.Name()
		tb.set("make-format", format)
		tb.counts("#make-result:not([hidden])", 0)
		switch format {
		case "scru64":
			tb.contains("#make-about", "node: the node ID and its size in bits, as in 42/8")
			tb.set("make-node", "42/8")
		case "uid60":
			tb.contains("#make-about", "worker: the worker ID")
			tb.set("make-worker", "5/4")
		}
		tb.set("make-count", "5000")
		tb.make()
		tb.contains("#make-status", "5,000 new IDs of "+format)
		ids := tb.made()
		if n := strings.Count(ids, "\n"); n != 5000 {
			t.Fatalf("%s: %d lines, want 5000", format, n)
		}
		options := map[string][]string{"scru64": {"--node", "42/8"},
			"uid60": {"--node-bits", "4"}}[format]
		run(t, ids, append([]string{"verify", format}, options...)...)
		last := decode[struct{ Time time.Time }](t, run(t, lastLine(ids), "inspect", "-o", "json", "-"))
		if last.Time.Before(begin) || last.Time.After(time.Now().Add(time.Second)) {
			t.Errorf("%s: the last is of %v", format, last.Time)
		}
		for _, encoding := range []string{"hex", "int", "text"} {
			tb.set("make-encoding", encoding)
			tb.set("make-count", "3")
			tb.make()
			run(t, tb.made(), "convert", "--format", format, "--from", encoding, "--to", "text")
		}
	}

	tb.click("#make-look")
	tb.counts("#result .card", 3)

	tb.open("#make")
	tb.set("make-format", "scru64")
	for node, want := range map[string]string{"256/8": "256 is no node ID of 8 bits",
		"42": "like 42/8", "1/24": "1 to 23 bits"} {
		tb.set("make-node", node)
		tb.click("#make-form button")
		tb.contains("#make-status", want)
	}
	tb.set("make-node", "42/8")
	tb.set("make-count", "1")
	tb.make()
	if out := run(t, tb.made(), "inspect", "-o", "json", "--format", "scru64", "--node-bits", "8",
		"-"); !strings.Contains(out, `"node_id":"42"`) {
		t.Errorf("it has not the node ID: %s", out)
	}
	tb.set("make-format", "euid")
	tb.set("make-ext", "77")
	tb.make()
	if out := run(t, tb.made(), "inspect", "-o", "json", "-"); !strings.Contains(out, "extension 77") {
		t.Errorf("it has not the extension: %s", out)
	}
}

func TestMakeAgain(t *testing.T) {
	tb := open(t, "#make")
	for format, option := range map[string][2]string{"scru64": {"node", "42/8"},
		"uid60": {"worker", "5/9"}} {
		seen := map[string]bool{}
		for i := range 6 {
			if i%3 == 0 {
				tb.open("#make")
				tb.set("make-format", format)
				tb.set("make-"+option[0], option[1])
				tb.set("make-count", "10000")
			}
			tb.make()
			for id := range strings.FieldsSeq(tb.made()) {
				seen[id] = true
			}
		}
		if len(seen) != 60_000 {
			t.Errorf("%s: %d different IDs of 60,000", format, len(seen))
		}
	}
}

func (tb *tab) make() {
	tb.Helper()
	tb.click("#make-form button")
	tb.until(`!document.getElementById("make-status").textContent.startsWith("Waiting")`)
}

func (tb *tab) made() string {
	tb.Helper()
	return eval[string](tb, `document.getElementById("make-output").value`)
}

func lastLine(text string) string {
	lines := strings.Fields(text)
	return lines[len(lines)-1]
}

func TestRange(t *testing.T) {
	tb := open(t, "#range")
	tb.set("range-from", "2026-11-17")
	tb.set("range-to", "2026-11-17T12:30:00+01:00")
	tb.set("range-column", "orders.id")
	for name, types := range map[string]string{
		"scru64": "text hex int bytea blob", "scru128": "text hex int uuid bytea blob",
		"scru160": "text hex int bytea blob",
		"euid":    "text hex int uuid bytea blob", "uid60": "hex int bytea blob", // its texts do not sort
	} {
		tb.set("range-format", name)
		is(tb, types,
			`[...document.getElementById("range-type").options].map((o) => o.value).join(" ")`)
		for _, columnType := range strings.Fields(types) {
			tb.set("range-type", columnType)
			want := strings.TrimSpace(run(t, "", "bounds", name, "--from", "2026-11-17", "--to",
				"2026-11-17T11:30:00Z",
				"-o", "sql", "--column", "orders.id", "--as", columnType))
			is(tb, want, `document.querySelector(".sql").innerText`)
		}
	}
	tb.set("range-format", "uuidv7")
	tb.set("range-zone", "America/New_York")
	tb.script(`
		const calendar = document.querySelector("#range-from ~ [type=datetime-local]");
		calendar.value = "2026-11-17T09:30";
		calendar.dispatchEvent(new Event("input", { bubbles: true }));`)
	is(tb, "2026-11-17 09:30", `document.getElementById("range-from").value`)
	tb.set("range-to", "2026-11-18")
	first, end, err := gencore.Must(format.Lookup("uuidv7")).Bounds(time.Date(2026, 11, 17, 14, 30, 0, 0, time.UTC),
		time.Date(2026, 11, 18, 5, 0, 0, 0, time.UTC))
	check.OK(t, err)
	tb.contains("#range-result", first.String(), end.String(), "2026-11-17 09:30:00.000 -05:00")
	tb.click("button.pick")
	tb.set("range-zone", "UTC")

	for _, c := range []struct{ id, value, want string }{
		{"range-from", "2026-02-30", "no such day"},
		{"range-from", "2026-11-18", "the range is empty"},
		{"range-from", "1900-01-01", "cannot show 1900-01-01"},
		{"range-column", " ", "no name"},
	} {
		tb.set("range-from", "2026-11-17")
		tb.set(c.id, c.value)
		tb.contains("#range-status", c.want)
		tb.counts("#range-result *", 0)
	}
}

func TestChoose(t *testing.T) {
	tb := open(t, "#choose")
	for id, value := range map[string]string{
		"rate": "2000", "burst": "100000", "processes": "50", "years": "10", "bits": "64",
	} {
		tb.set("choose-"+id, value)
	}
	tb.click("#choose-nodes")
	tb.contains("#choose-status", "631 billion IDs in all", "Recommended: scru64")
	// Only formats that can collide have curves.
	tb.counts(".risk polyline", 3)
	tb.set("choose-rate", "0")
	tb.contains("#choose-status", "rate is 0")
	tb.set("choose-rate", "1")
	tb.set("choose-processes", "1")
	tb.contains("#choose-result", "one generator never makes an ID twice", "None for any format")
}
