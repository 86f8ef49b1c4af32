package browsertest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/lucasb-eyer/go-colorful"

	"github.com/sortid/sortid/internal/check"
)

func (tb *tab) views(f func(name string)) {
	tb.Helper()
	tb.open("")
	f("formats")
	tb.open("#05TTUP1HNCPNH30VEK64KDQT9BSNU4C4")
	f("card")
	tb.paste(strings.Repeat(strings.Repeat("long line of a log ", 30)+
		"01a1fe9e-a177-6f8d-cfdd-e552d33a1615 "+strings.Repeat("x", 300)+"\n", 3))
	f("log")
	tb.paste(strings.Repeat("03ha0fadamez822zrqzfunrpx\nC8EE934SR007G5Q94QKKXFRFV8B\n"+
		"05TTUP1HNCPNH30VEK64KDQT9BSNU4C4\n", 4))
	tb.click(".list tbody button")
	f("many")
	tb.paste(strings.Repeat("x", 200) + "\nnot-an-id-at-all")
	f("faults")
	tb.open("#make")
	tb.set("make-format", "scru64")
	tb.set("make-node", "42/8")
	tb.make()
	f("make")
	tb.open("#range")
	tb.set("range-format", "scru160")
	tb.set("range-column", "a_long_name_of_a_table.and_of_its_column_as_well")
	f("range")
	tb.open("#choose")
	f("choose")
}

func TestWidths(t *testing.T) {
	tb := tabOf(t)
	tb.views(func(name string) {
		tb.Helper()
		for _, width := range []int64{360, 400, 414, 703, 704, 768, 1024, 1440, 2560} {
			tb.screen(width, 800, false)
			w := eval[int64](tb,
				`Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)`)
			if w > width {
				t.Errorf("%s at %d px is %d px wide", name, width, w)
			}
			if cut := eval[[]string](tb, `[...document.querySelectorAll("main :is(button, input, select, textarea, a, td, dd, p, span)")].filter((e) => {
				const box = e.getBoundingClientRect();
				return box.width > 1 && (box.left < -0.5 || box.right > innerWidth + 0.5);
			}).map((e) => e.outerHTML.slice(0, 200))`); len(cut) > 0 {
				t.Errorf("%s at %d px: cut off: %q", name, width, cut)
			}
		}
	})
}

func TestAxe(t *testing.T) {
	tb := tabOf(t)
	axe, err := os.ReadFile(filepath.Join(npm(t, "axe-core@4.13.0"), "node_modules", "axe-core",
		"axe.min.js"))
	check.OK(t, err)
	tb.views(func(name string) {
		tb.Helper()
		// First all rules, then only the rules whose results depend on colours and widths.
		for _, c := range []struct {
			width int64
			dark  bool
			rules string
		}{
			{1280, false, ""}, {1280, true, "color-contrast"},
			{360, false, "target-size,scrollable-region-focusable,aria-hidden-focus"},
		} {
			tb.screen(c.width, 900, c.dark)
			result := eval[struct {
				Passes     int
				Violations []string
			}](tb, `(() => { if (!window.axe) { `+string(axe)+` } })();
				(async (rules) => {
					const { passes, violations } = await axe.run(document, rules ? { runOnly: rules.split(",") } : {});
					return { passes: passes.length, violations: violations.map((v) => v.id + ": " + v.help + ": " +
						v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " " + n.failureSummary).join("; ")) };
				})("`+c.rules+`")`)
			for _, v := range result.Violations {
				t.Errorf("%s at %d px, dark %v: %s", name, c.width, c.dark, v)
			}
			if result.Passes == 0 || c.rules == "" && result.Passes < 20 {
				t.Errorf("%s: only %d rules were checked", name, result.Passes)
			}
		}
	})
}

func (tb *tab) press(keys ...string) {
	tb.Helper()
	for _, key := range keys {
		tb.do(chromedp.KeyEvent(key))
	}
}

func (tb *tab) tabTo(selector string) {
	tb.Helper()
	for range 60 {
		tb.press(kb.Tab)
		if eval[bool](tb, `document.activeElement.matches(%s)`, selector) {
			is(tb, true,
				`(({ outlineStyle, outlineWidth }) => outlineStyle !== "none" && parseFloat(outlineWidth) >= 1)
				(getComputedStyle(document.activeElement))`) // the focus must be visible
			return
		}
	}
	tb.Fatalf("Tab does not get to %s", selector)
}

func TestKeyboard(t *testing.T) {
	tb := open(t, "")
	tb.catchCopies()
	is(tb, "input", `document.activeElement.id`)
	tb.press(strings.Split(example, "")...)
	tb.until(`document.querySelector("#result .card") !== null`)
	tb.tabTo(".map button.counter")
	tb.contains(".tip", "counter_hi 1811818", "random, renewed each second")
	tb.press(kb.Escape)
	is(tb, true, `document.querySelector(".tip").hidden`)
	tb.tabTo(`[aria-label="Copy UUID"]`)
	tb.press(kb.Enter)
	tb.until(`window.copied === "017fef39-c264-1ba5-6a94-83188841e05a"`)

	// With many IDs, the keyboard moves along the timeline, sorts, and opens a row.
	tb.open("")
	tb.paste(run(t, "", "new", "scru128", "-n", "50", "--at", "-1h") + run(t, "", "new", "scru128",
		"-n", "50", "--at", "-2h"))
	tb.tabTo(".plot svg")
	tb.press(kb.ArrowRight)
	tb.contains(".plot", "50 IDs from ")
	tb.press(kb.End)
	is(tb, true,
		`document.querySelector(".plot svg").getAttribute("aria-valuetext").startsWith("50 IDs from ")`)
	tb.press(kb.Enter) // the last bar gets a plot of its own
	is(tb, true, `document.querySelectorAll(".plot rect").length < 96`)
	tb.click(".plot button")
	is(tb, 96, `document.querySelectorAll(".plot rect").length`)
	tb.tabTo(".list th:nth-child(2) button")
	tb.press(kb.Enter, kb.Enter)
	tb.contains(".list th[aria-sort]", "Time ↓")
	tb.tabTo(".list tbody button")
	tb.press(kb.Enter)
	tb.counts(".list .card", 1)

	tb.open("#range")
	tb.tabTo(`nav a[href="#make"]`)
	tb.press(kb.Enter)
	tb.until(`!document.getElementById("view-make").hidden`)
	tb.tabTo("#make-format")
	tb.press("u") // uid60
	tb.tabTo("#make-worker")
	tb.press("5", "/", "4", kb.Enter)
	tb.until(`!document.getElementById("make-result").hidden`)
	tb.contains("#make-status", "5 new IDs of uid60")
	tb.tabTo("#make-look")
	tb.press(kb.Enter)
	tb.until(`document.querySelectorAll(".list tbody tr").length === 5`)

	tb.open("#range")
	tb.tabTo("#range-from")
	tb.press(strings.Split("2026-11-17", "")...)
	tb.tabTo("#range-type")
	tb.press("u")
	first, _, _ := strings.Cut(run(t, "", "bounds", "scru128", "--from", "2026-11-17", "--to",
		"2026-11-18", "-o", "uuid"), "\n")
	tb.contains(".sql", "id >= '"+first+"'")

	tb.open("#choose")
	tb.tabTo("#choose-nodes")
	tb.press(" ")
	tb.contains("#choose-result", "a node ID of 9 bits for each process")
}

func TestMotion(t *testing.T) {
	b := check.Must(os.ReadFile(folder + "/page.css"))(t)
	if found := regexp.MustCompile(`transition|animation|scroll-behavior`).Find(b); found != nil {
		t.Errorf("page.css has %s", found)
	}
}

// Field colours differ in all kinds of colour vision, dark and light. Text on them is easy to read.
func TestColours(t *testing.T) {
	b, err := os.ReadFile(folder + "/page.css")
	check.OK(t, err)
	light, dark, found := strings.Cut(string(b), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("page.css has no dark colours")
	}
	colours := map[string]colorful.Color{}
	for _, half := range []string{light, dark} {
		for _, m := range regexp.MustCompile(
			`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(half, -1) {
			colours[m[1]], err = colorful.Hex(m[2])
			check.OK(t, err)
		}
		kinds := []string{"time", "counter", "node", "random", "data", "zero"}
		for i, a := range kinds {
			if c := contrast(colours[a], colours["on-kind"]); c < 4.5 {
				t.Errorf("the text on %s has a contrast of %.1f, want 4.5", a, c)
			}
			for _, b := range kinds[:i] {
				for name, seen := range visions {
					if d := 100 * seen.by(colours[a]).DistanceLab(seen.by(colours[b])); d < 12 {
						t.Errorf("%s and %s differ by %.1f to %s, want 12", a, b, d, name)
					}
				}
			}
		}
		for _, c := range []struct {
			text, on string
			want     float64
		}{
			{"ink", "paper", 7}, {"ink", "raised", 7}, {"quiet", "paper", 4.5},
			{"quiet", "raised", 4.5}, {"link", "paper", 4.5}, {"problem", "paper", 4.5},
			{"problem", "raised", 4.5}, {"edge", "paper", 3}, {"focus", "paper", 3},
		} {
			if got := contrast(colours[c.text], colours[c.on]); got < c.want {
				t.Errorf("%s on %s has a contrast of %.1f, want %v", c.text, c.on, got, c.want)
			}
		}
	}
}

// contrast is the contrast ratio of WCAG.
func contrast(a, b colorful.Color) float64 {
	_, x, _ := a.Xyz()
	_, y, _ := b.Xyz()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// A vision changes colours in linear light, by a matrix.
type vision [9]float64

func (m vision) by(c colorful.Color) colorful.Color {
	r, g, b := c.LinearRgb()
	row := func(i int) float64 { return min(1, max(0, m[i]*r+m[i+1]*g+m[i+2]*b)) }
	return colorful.LinearRgb(row(0), row(3), row(6))
}

// visions are by Machado, Oliveira and Fernandes (2009), at full severity.
var visions = map[string]vision{
	"most people": {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"people with protanopia": {0.152286, 1.052583, -0.204868, 0.114503, 0.786281,
		0.099216, -0.003882, -0.048116, 1.051998},
	"people with deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501,
		0.047413, -0.011820, 0.042940, 0.968881},
	"people with tritanopia": {1.255528, -0.076749, -0.178779, -0.078411,
		0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}
