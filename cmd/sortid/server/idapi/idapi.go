// Package idapi makes IDs and serves them.
package idapi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/spec"
	"github.com/sortid/sortid/store/http/wire"
)

type Endpoint struct {
	Sources *Sources
	Tokens  *access.Tokens
	Large   *api.Gate // for answers of more than [api.Piece] IDs
	Log     *slog.Logger
}

// Register registers the requests for IDs.
func (e *Endpoint) Register(mux *http.ServeMux) {
	h := e.Tokens.Require(access.PermitIDs, e.serve)
	mux.Handle("GET "+api.IDsPath+"{format}", h)
	mux.Handle("POST "+api.IDsPath+"{format}", h)
}

type request struct {
	source   *source
	n        int
	encoding format.Encoding
	asJSON   bool
}

// parse checks the whole request, before the server charges a token or makes an ID.
func (e *Endpoint) parse(r *http.Request) (in request, err error) {
	if in.source = e.Sources.byName[r.PathValue("format")]; in.source == nil {
		return in, api.UnknownFormat()
	}
	in.n, in.encoding = 1, format.Text
	if r.URL.RawQuery != "" {
		if err := in.parseQuery(r.URL.RawQuery); err != nil {
			return in, err
		}
	}
	if err := spec.Of(in.source.format).CheckEncoding(spec.Encoding(in.encoding)); err != nil {
		return in, api.Invalid("encoding", "%v", err)
	}
	in.asJSON, err = accepts(r.Header.Get("Accept"))
	return in, err
}

func (in *request) parseQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return api.Invalid("query", "malformed: %v", err)
	}
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "n":
			n, err := strconv.Atoi(value)
			if len(values) > 1 || err != nil || n < 1 || n > api.MaxIDs {
				return api.Invalid("n", "%.20q is not a number of IDs, want 1 to %d", value,
					api.MaxIDs)
			}
			in.n = n
		case "encoding":
			in.encoding = format.Encoding(value) // parse checks it
		default:
			return api.Invalid(name, "unknown query parameter")
		}
	}
	return nil
}

// charge takes the IDs from the limits of the token and of the format. If either limit has too
// few, charge takes nothing.
func (e *Endpoint) charge(r *http.Request, in request) error {
	mine := e.Tokens.IDs(r.Context())
	if in.source.queue != nil {
		return in.source.queue.take(r.Context(), e.Tokens.Client(r), in.n, mine)
	}
	if wait := api.Take(mine, in.n); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

var pieces = sync.Pool{New: func() any { return new([]byte) }}

// serve returns a problem only before it writes. After a later error, it breaks the answer off, so
// that the client sees that IDs are missing.
func (e *Endpoint) serve(w http.ResponseWriter, r *http.Request) error {
	in, err := e.parse(r)
	if err != nil {
		return err
	}
	if in.n > api.Piece {
		c := e.Tokens.Client(r)
		if !e.Large.Enter(c) {
			return e.Large.Full()
		}
		defer e.Large.Leave(c)
	}
	if err := e.charge(r, in); err != nil {
		return err
	}
	b := pieces.Get().(*[]byte)
	defer pieces.Put(b)
	if err := in.piece(r.Context(), b, 0); err != nil {
		return api.Busy(time.Second, wire.Unavailable, "%v", err)
	}
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = headerText, headerNoStore
	if in.asJSON {
		h["Content-Type"] = headerJSON
	}
	for done := 0; ; {
		if _, err := w.Write(*b); err != nil {
			panic(http.ErrAbortHandler)
		}
		n := min(api.Piece, in.n-done)
		in.source.made.Add(float64(n))
		if done += n; done == in.n {
			return nil
		}
		if err := in.piece(r.Context(), b, done); err != nil {
			e.Log.Warn("an answer breaks off", slog.String("format", in.source.format.Name()),
				slog.Any("error", err))
			panic(http.ErrAbortHandler)
		}
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(api.TakeTimeout))
	}
}

var (
	headerText    = []string{api.TypeText}
	headerJSON    = []string{api.TypeJSON}
	headerNoStore = []string{"no-store"}
)

func (in *request) piece(ctx context.Context, b *[]byte, done int) error {
	n := min(api.Piece, in.n-done)
	var err error
	if *b, err = in.source.append(ctx, (*b)[:0], n, in.encoding); err != nil || !in.asJSON {
		return err
	}
	list := bytes.ReplaceAll((*b)[:len(*b)-1], []byte("\n"), []byte(`","`))
	*b = (*b)[:0]
	if done == 0 {
		*b = append(*b, `{"format":"`+in.source.format.Name()+`","ids":["`...)
	} else {
		*b = append(*b, `","`...)
	}
	*b = append(*b, list...)
	if done+n == in.n {
		*b = append(*b, "\"]}\n"...)
	}
	return nil
}

// accepts reports whether an Accept header prefers JSON. Without a preference, the answer is text.
func accepts(header string) (asJSON bool, err error) {
	if header == "" || header == "*/*" {
		return false, nil
	}
	best := 0.0
	found := false
	for part := range strings.SplitSeq(header, ",") {
		mediaType, params, _ := strings.Cut(part, ";")
		quality := 1.0
		for param := range strings.SplitSeq(params, ";") {
			if value, ok := strings.CutPrefix(strings.TrimSpace(param), "q="); ok {
				if _, err := fmt.Sscanf(value, "%g", &quality); err != nil {
					quality = 0
				}
			}
		}
		var isJSON bool
		switch strings.ToLower(strings.TrimSpace(mediaType)) {
		case api.TypeJSON, "application/*":
			isJSON = true
		case "text/plain", "text/*", "*/*":
		default:
			continue
		}
		if quality > best {
			best, asJSON, found = quality, isJSON, true
		}
	}
	if !found {
		return false, api.NewProblem(http.StatusNotAcceptable, wire.NotAcceptable,
			"the answer is text/plain or application/json; the header \"Accept: %.100s\" allows "+
				"neither, so name one of these types", header)
	}
	return asJSON, nil
}
