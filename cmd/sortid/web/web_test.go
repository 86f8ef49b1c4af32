package web

import (
	"bytes"
	"embed"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/sortid/sortid/format"
)

//go:embed ours/*.js
var own embed.FS

func TestEveryFormat(t *testing.T) {
	for _, f := range format.Ours() {
		name := "ours/" + f.Name() + ".js"
		text, err := own.ReadFile(name)
		if err != nil || !strings.Contains(string(text), "\nexport const "+f.Name()+" = new ") {
			t.Errorf("cmd/sortid/web/%s: it does not export %s (%v)", name, f.Name(), err)
		}
	}
}

func TestPage(t *testing.T) {
	page, header := Page()
	if most := 104_000 + 6000*len(format.Ours()); len(page) >= most {
		t.Errorf("%d bytes, want fewer than %d", len(page), most)
	}
	if bytes.Contains(page, []byte("{policy}")) || bytes.Contains(page, []byte("{script}")) ||
		bytes.Contains(page, []byte("{style}")) {
		t.Error("a piece is missing")
	}

	policy := regexp.MustCompile(
		`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindSubmatch(page)
	if policy == nil || bytes.Contains(policy[1], []byte("unsafe")) {
		t.Fatalf("the policy is %q", policy)
	}
	if want := string(policy[1]) + "; frame-ancestors 'none'"; html.UnescapeString(want) != header {
		t.Errorf("the policy for the header is %s, want %s", header, want)
	}
	for _, tag := range []string{"script", "style"} {
		pieces := regexp.MustCompile(`(?s)<`+tag+`[^>]*>(.*?)</`+tag+`>`).FindAllSubmatch(page, -1)
		if len(pieces) != 1 {
			t.Fatalf("%d elements %s, want 1", len(pieces), tag)
		}
		if want := tag + "-src " + hash(string(pieces[0][1])) + ";"; !bytes.Contains(policy[1],
			[]byte(want)) {
			t.Errorf("the policy %s has not %s", policy[1], want)
		}
	}
	if found := regexp.MustCompile(`(?i)<[^>]* (on[a-z]+|style)=`).Find(
		regexp.MustCompile(`(?s)<script.*</script>`).ReplaceAll(page, nil)); found != nil {
		t.Errorf("an attribute that the policy forbids: %s", found)
	}

	// The page must not make HTML or code from text, load anything, or keep anything.
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
		"eval(", "Function(", "import(", "fetch(", "XMLHttpRequest", "WebSocket",
		"sendBeacon", "localStorage", "cookie"} {
		if strings.Contains(string(page), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}
