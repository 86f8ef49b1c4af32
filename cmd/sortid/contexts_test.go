package main

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/internal/testids"
)

// TestContexts inspects and converts an ID with each label before it, and in each pair of texts
// around it. The service gives the same answers as inspect.
func TestContexts(t *testing.T) {
	c := testids.ReadContexts(t)
	s := serve(t)
	for _, id := range c.IDs {
		f := check.Must(format.Lookup(id.Format))(t)
		to := string(f.Encodings()[len(f.Encodings())-1]) // without the prefix
		texts := c.Alone(id.Text)
		in := strings.Join(texts, "\n")

		out := sortid(t, in, "inspect", "-o", "json")
		for line := range strings.Lines(out) {
			var r struct{ Format, Text, Input, Prefix string }
			check.OK(t, json.Unmarshal([]byte(line), &r))
			if r.Format != id.Format || r.Prefix == "" && strings.Contains(r.Input, "user_") {
				t.Errorf("%q is %s %s, want %s", r.Input, r.Format, r.Text, id.Format)
			}
		}
		if n := strings.Count(out, "\n"); n != len(texts) {
			t.Errorf("%s: %d of %d", id.Text, n, len(texts))
		}
		said := strings.Split(post(t, s.url+"/v1/inspect", in), "\n")
		for i, line := range strings.Split(out, "\n") {
			if strings.Contains(line, `"stripped":["blanks"`) {
				continue // the service has removed them
			}
			if i >= len(said) || said[i] != line {
				t.Fatalf("the service says\n%s\nand inspect\n%s", said[min(i, len(said)-1)], line)
			}
		}

		args := []string{"convert", "--format", id.Format, "--to"}
		bare := sortid(t, id.Text, append(args, to)...)
		if to == string(format.Text) {
			t.Fatalf("%s has only texts", id.Format)
		}
		ways := slices.Concat(f.Encodings(), []format.Encoding{""})
		for _, base := range inspect.Bases {
			ways = append(ways, format.Encoding(base))
		}
		for _, from := range ways {
			text, given := id.Text, args
			if from != "" && from != format.Text {
				text = strings.TrimSpace(sortid(t, id.Text, append(args, string(from))...))
			}
			if from != "" {
				given = slices.Concat(args[:3], []string{"--from", string(from), "--to"})
			}
			texts := c.Alone(text)
			if from == "base64" { // whose digits can be _
				texts = texts[:len(c.Around)]
			}
			for i, got := range strings.SplitAfter(
				sortid(t, strings.Join(texts, "\n"), append(given, to)...), "\n")[:len(texts)] {
				if got != bare {
					t.Errorf("%q from %s is %s, want %s", texts[i], from, got, bare)
				}
			}
		}
	}
	for _, o := range c.Orders {
		// Every UUID can be a ULID.
		args := []string{"convert", "--format", "ulid", "--from", o.From, "--to"}
		if got := sortid(t, o.Text, append(args, "uuid")...); got != o.UUID+"\n" {
			t.Errorf("%q from %s is %s, want %s", o.Text, o.From, got, o.UUID)
		}
		back := sortid(t, sortid(t, o.UUID, "convert", "--format", "ulid", "--to", o.From),
			append(args, "uuid")...)
		if back != o.UUID+"\n" {
			t.Errorf("%s to %s and back is %s", o.UUID, o.From, back)
		}
	}
	for _, n := range c.Numbers {
		args := []string{"convert", "--format", "snowflake-twitter", "--to", "int"}
		var out strings.Builder
		code, stderr := start(strings.NewReader(n.Text), &out, args...)
		ok, want := code == console.Success, n.Int+"\n"
		if n.Note != "" {
			ok, want = code == console.Failure && strings.Contains(stderr, n.Note+": "+n.Time), ""
		}
		if !ok || out.String() != want {
			t.Errorf("%q: %d, %s%s, want %s%s", n.Text, code, stderr, out.String(), want, n.Note)
		}
		answer := post(t, s.url+"/v1/inspect", n.Text)
		if !strings.Contains(answer, `"int":"`+n.Int+`"`) || !strings.Contains(answer, n.Note) {
			t.Errorf("the service says of %q: %s, want %s %s", n.Text, answer, n.Int, n.Note)
		}
	}
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	answer := check.Must(http.Post(url, "text/plain", strings.NewReader(body)))(t)
	defer answer.Body.Close()
	return string(check.Must(io.ReadAll(answer.Body))(t))
}
