package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testserver"
)

// A documented command is a line of an "sh" block, or of a "console" block with its output.
type documented struct {
	file, line, output string
	console            bool
}

var notHere = []struct{ pattern, reason string }{
	{`^(make|docker|kubectl|go|CGO_ENABLED=0 go|export) `, "other tests run these, or they need a network"},
	{`kubernetes:`, "TestKubernetes runs these"},
	{`example\.com`, "the reader's own server"},
	{`RNG_test|dieharder`, "programs that may be missing"},
	{`my_ids\.py|^python3 `, "TestDocumentedExample runs these"},
}

// goesOn matches commands that do not end by themselves.
var goesOn = regexp.MustCompile(`^tail -f|--forever|^sortid serve --|^\S+ lease exec|^SORTID_URL=`)

// Documented commands print what the documents show, except for new IDs and times.
func TestDocuments(t *testing.T) {
	t.Parallel()
	testserver.Long(t, "runs a hundred commands")
	for _, program := range []string{"bash", "curl", "jq", "python3", "timeout", "zcat"} {
		testserver.Program(t, program)
	}
	dir := t.TempDir()
	address := freeAddress(t)
	postgres := testserver.Postgres(t)
	here := strings.NewReplacer("127.0.0.1:8420", address, "--listen :8420", "--listen 127.0.0.1:0",
		"postgres://localhost/ids", "'"+postgres+"'", "curl ", "curl -sS ",
		"psql ", "cat >postgres.sql #", "mariadb ", "cat >mariadb.sql #", "duckdb -init ", "cat ",
		"node app.js",
		"sleep 1000", "python3 app.py", "sleep 1000", "gunicorn -c gunicorn.conf.py app:app",
		"sleep 1000")
	commands := readDocuments(t)
	samples(t, dir)
	client := check.Must(filepath.Abs("../../examples/worker-ids/worker_ids.py"))(t)
	check.OK(t, os.Symlink(client, filepath.Join(dir, "worker_ids.py")))
	cert, key := testserver.Certificate(t)
	for name, file := range map[string]string{"cert.pem": cert, "key.pem": key} {
		check.OK(t, os.Symlink(file, filepath.Join(dir, name)))
	}
	startServerAt(t, address, "--store", "bolt:"+filepath.Join(dir, "ids.db"), "--create")

	ran := 0
	for _, c := range commands {
		if why := skipped(c.line); why != "" {
			continue
		}
		ran++
		line := here.Replace(c.line)
		if strings.HasPrefix(line, "sortid serve token ") {
			os.Remove(filepath.Join(dir, "tokens.txt"))
		}
		if goesOn.MatchString(c.line) && !c.console {
			line = "timeout -s INT 1 bash -c " + quoted(line) +
				"; code=$?; [ $code = 124 ] || [ $code = 130 ] || [ $code = 0 ]"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TZ=UTC", "STORE_URL=bolt:documents.db",
			"PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		cancel()
		if err != nil {
			t.Errorf("%s: %s: %v\n%s%s", c.file, c.line, err, out, stderr.String())
			continue
		}
		shown := string(out)
		if strings.Contains(c.output, "sortid: ") { // a terminal shows messages, too
			shown = stderr.String() + shown
		}
		if c.console && c.output != "" && !same(shown, c.output) {
			t.Errorf("%s: %s\ngot\n%s\nwant\n%s", c.file, c.line, shown, c.output)
		}
	}
	if ran < 40 {
		t.Errorf("%d commands ran, want at least 40", ran)
	}
}

// Links in documents lead to files and headings that exist.
func TestLinks(t *testing.T) {
	t.Parallel()
	files := check.Must(filepath.Glob("../../docs/*.md"))(t)
	files = append(files, check.Must(filepath.Glob("../../*.md"))(t)...)
	link := regexp.MustCompile(`\]\(([^)\s#:]*)(?:#([^)\s]+))?\)`)
	for _, file := range append(files, "web/README.md") {
		for _, m := range link.FindAllStringSubmatch(string(check.Must(os.ReadFile(file))(t)), -1) {
			target := file
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(file), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", file, err)
			} else if m[2] != "" && !slices.Contains(anchors(t, target), m[2]) {
				t.Errorf("%s: %s has no heading #%s", file, target, m[2])
			}
		}
	}
}

var (
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\w -]`)
)

// anchors returns the names that GitHub gives to a document's headings.
func anchors(t *testing.T, file string) (names []string) {
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(string(check.Must(os.ReadFile(file))(t)), -1) {
		name := strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if seen[name]++; seen[name] > 1 {
			name += fmt.Sprintf("-%d", seen[name]-1)
		}
		names = append(names, name)
	}
	return names
}

func readDocuments(t *testing.T) []documented {
	files := check.Must(filepath.Glob("../../docs/*.md"))(t)
	var all []documented
	block := regexp.MustCompile("(?ms)^ *```(sh|console)\n(.*?)^ *```$")
	comment := regexp.MustCompile(`\s{2,}#.*`)
	for _, file := range append(files, "../../README.md") {
		text := check.Must(os.ReadFile(file))(t)
		for _, m := range block.FindAllStringSubmatch(string(text), -1) {
			lines := strings.SplitAfter(m[2], "\n")
			for _, line := range lines {
				command, isCommand := strings.CutPrefix(line, "$ ")
				switch command = strings.TrimSpace(comment.ReplaceAllString(command, "")); {
				case isCommand || m[1] == "sh" && command != "":
					all = append(all, documented{file: filepath.Base(file), line: command,
						console: m[1] == "console"})
				case len(all) > 0:
					all[len(all)-1].output += line
				}
			}
		}
	}
	return all
}

func skipped(line string) string {
	for _, s := range notHere {
		if regexp.MustCompile(s.pattern).MatchString(line) {
			return s.reason
		}
	}
	return ""
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

var (
	newText = regexp.MustCompile(`\b0[0-9a-z]{11}\b|\b03[0-9a-z]{23}\b|\b[0-9]{18}\b`)
	newTime = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?`)
	newNode = regexp.MustCompile(`(node ID |NODE=|NODE_IDS?=)\d+`)
	token   = regexp.MustCompile(`sortid_[\w-]{43}`)
)

func masked(line string) string {
	line = newTime.ReplaceAllString(newText.ReplaceAllString(line, "ID"), "TIME")
	line = newNode.ReplaceAllString(line, "${1}NODE")
	return token.ReplaceAllString(strings.TrimSpace(line), "TOKEN")
}

// same ignores IDs and times. In want, "..." means any number of lines.
func same(got, want string) bool {
	g, w := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(want),
		"\n")
	for len(w) > 0 && w[0] != "..." {
		if len(g) == 0 || masked(g[0]) != masked(w[0]) {
			return false
		}
		g, w = g[1:], w[1:]
	}
	if len(w) == 0 {
		return len(g) == 0
	}
	rest := strings.Join(w[1:], "\n")
	for i := range len(g) + 1 {
		if rest == "" || same(strings.Join(g[i:], "\n"), rest) {
			return true
		}
	}
	return false
}

func samples(t *testing.T, dir string) {
	const script = `
set -e
sortid new scru128 -n 20 >a.txt
sortid new scru128 -n 20 >b.txt
cp a.txt node1.txt; cp b.txt node2.txt; sortid new scru128 -n 20 >node3.txt
cp a.txt ids.txt
sed 's/.*/1,2,&,x/' a.txt >orders.csv
(printf 'a\tb\tid\n'; sed 's/.*/1\t2\t&\tx/' a.txt) >orders.tsv
sed 's/.*/{"order":{"id":"&"}}/' a.txt | gzip >orders.json.gz
first=$(sortid bounds scru128 --on 2026-11-17 -o text | head -1)
(cat a.txt; echo 0372ijojuxuhjsfkeryi2mrtm; echo $first) | sed 's/.*/order & was made/' >app.log
gzip <app.log >app.log.1.gz
mkdir -p bin
printf '#!/bin/sh\nexec sortid new ${1:-scru128} -n 1000\n' >bin/my-generator
cp bin/my-generator gen
printf 'import subprocess\nsubprocess.run(["sortid", "new", "scru128", "-n", "1000"])\n' >gen.py
chmod +x bin/my-generator gen
`
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func freeAddress(t *testing.T) string {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

func startServer(t *testing.T, args ...string) (url string) {
	t.Helper()
	address := freeAddress(t)
	startServerAt(t, address, args...)
	return "http://" + address
}

// startServerAt runs "sortid serve", and waits until it is ready.
func startServerAt(t *testing.T, address string, args ...string) {
	t.Helper()
	server := exec.Command("sortid", append([]string{"serve", "--listen", address}, args...)...)
	check.OK(t, server.Start())
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	if !check.Soon(func() bool {
		resp, err := http.Get("http://" + address + "/readyz")
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}) {
		t.Fatal("the server is never ready")
	}
}
