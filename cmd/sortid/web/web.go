// Package web makes the page of "sortid page" from files in this folder. sortid.js reads and makes
// IDs, and is also an npm package.
package web

import (
	"crypto/sha256"
	_ "embed" // for the files of the page
	"encoding/base64"
	"fmt"
	"strings"
)

//go:generate go run ./generate

// The page has one script, because scripts inside a page cannot import each other. So the bundle
// has page.js, sortid.js and formats.js.
var (
	//go:embed page.html
	document string
	//go:embed bundle/page.js
	script string
	//go:embed bundle/page.css
	style string
)

// Page returns the page, and its content security policy for a header. The page contains this
// policy, too, but only a header can forbid frames.
func Page() (page []byte, policy string) {
	policy = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; "+
		"base-uri 'none'; form-action 'none'; worker-src blob:; require-trusted-types-for 'script'; "+
		"trusted-types worker", hash(script), hash(style))
	pieces := strings.NewReplacer("{policy}", policy, "{style}", style, "{script}", script)
	return []byte(pieces.Replace(document)), policy + "; frame-ancestors 'none'"
}

// hash returns the expression that permits the text in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
