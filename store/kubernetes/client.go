package kubernetes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sortid/sortid/store/internal/connect"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// A client sends requests to an API server.
type client struct {
	http *http.Client
	base *url.URL
}

func newClient(config *rest.Config) (*client, error) {
	config = rest.CopyConfig(config)
	if config.Dial == nil {
		config.Dial = connect.Dial // also gives each client its own connections
	}
	// With HTTP/2, requests would use a dead connection for 45 s. A lease has one request at a time.
	config.NextProtos = []string{"http/1.1"}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	c := &client{base: base}
	if c.http, err = rest.HTTPClientFor(config); err != nil {
		return nil, err
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // an API server redirects nobody
	}
	return c, nil
}

// An answer of the server that is not a success, which begins as the type Status of Kubernetes.
type refusal struct {
	Message string
	Reason  string
	Details struct{ Kind string }

	code  int
	after time.Duration // from the header Retry-After
}

func (e *refusal) Error() string {
	return cmp.Or(e.Message, fmt.Sprintf("the server answered %d %s", e.code,
		http.StatusText(e.code)))
}

func (e *refusal) RetryAfter() time.Duration { return e.after }

// isOf reports whether a request was refused with this status because of an object of this kind,
// such as leases.
func isOf(err error, code int, kind string) bool {
	e := (*refusal)(nil)
	return errors.As(err, &e) && e.code == code && e.Details.Kind == kind
}

func isCode(err error, codes ...int) bool {
	e := (*refusal)(nil)
	if errors.As(err, &e) {
		for _, code := range codes {
			if e.code == code {
				return true
			}
		}
	}
	return false
}

// ask sends a request, and puts the answer into the parameter answer. It sends the request again
// only if the server certainly has not handled it: if the server is too busy (429), and once if it
// does not accept the token (401), because a plugin may have got a new one by then.
func (c *client) ask(ctx context.Context, method, path string, query url.Values, body,
	answer any) (header http.Header, err error) {
	for began, signedIn := time.Now(), false; ; {
		header, err = connect.Ask(ctx, func(ctx context.Context) (http.Header, error) {
			return c.send(ctx, method, path, query, body, answer)
		})
		switch {
		case isCode(err, http.StatusUnauthorized) && !signedIn:
			signedIn = true
			continue
		case isCode(err, http.StatusTooManyRequests) && time.Since(began) < connect.Patience &&
			connect.Sleep(ctx, pause(err)) == nil:
			continue
		}
		return header, err
	}
}

// pause returns how long to wait before the next try, with jitter.
func pause(err error) time.Duration {
	e := (*refusal)(nil)
	errors.As(err, &e)
	after := max(e.after, time.Second)
	return after + rand.N(after/2)
}

// send sends a request once.
func (c *client) send(ctx context.Context, method, path string, query url.Values, body,
	answer any) (http.Header, error) {
	u := *c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, u.String(), content)
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // so that nothing sends a change again
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		if e := (*url.Error)(nil); errors.As(err, &e) {
			err = e.Err
		}
		return nil, connect.Sent(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode >= http.StatusMultipleChoices:
		return response.Header, refused(response, text)
	case answer != nil:
		err = json.Unmarshal(text, answer)
	}
	return response.Header, err
}

func refused(response *http.Response, text []byte) error {
	var e refusal
	if json.Unmarshal(text, &e) != nil {
		e = refusal{}
	}
	e.code = response.StatusCode
	e.Message = strings.TrimSpace(e.Message)
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		e.after = time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	return &e
}

func (c *client) closeIdle() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }
