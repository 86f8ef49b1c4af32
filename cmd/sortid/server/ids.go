package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/format"
)

const (
	typeText   = "text/plain; charset=utf-8"
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"

	idsPath   = "/v1/ids/"
	storePath = "/v1/store/"
)

// pieceSize is how many IDs are made and written at a time. It limits memory.
const pieceSize = 1024

// takeTimeout is how long a client may take for one piece.
const takeTimeout = 10 * time.Second

type rawOutput struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

// registerIDs registers requests for IDs. net/http handles them, because they are the most
// frequent; huma only describes them.
func (s *Server) registerIDs() {
	least, most := 1.0, float64(maxIDs)
	var encodings []any
	for _, f := range format.Ours() {
		for _, encoding := range f.Encodings {
			if !slices.Contains(encodings, any(string(encoding))) {
				encodings = append(encodings, string(encoding))
			}
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		op := &huma.Operation{
			OperationID: strings.ToLower(method) + "-ids",
			Method:      method,
			Path:        idsPath + "{format}",
			Summary:     "Make IDs",
			Description: "Returns new IDs, in order. The answer must not be cached. " +
				"scru64 and uid60 need a server with a store.",
			Tags: []string{"ids"},
			Parameters: []*huma.Param{
				{Name: "format", In: "path", Required: true, Description: "The format's name",
					Schema: &huma.Schema{Type: huma.TypeString, Enum: formatNames()}},
				{Name: "n", In: "query", Description: "How many IDs",
					Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most,
						Default: 1}},
				{Name: "encoding", In: "query",
					Description: "The encoding of the IDs; uuid is for formats of 128 bits",
					Schema: &huma.Schema{Type: huma.TypeString, Enum: encodings,
						Default: string(format.Text)}},
				{Name: "Accept", In: "header", Schema: text(""),
					Description: "text/plain, one ID a line, or application/json"},
			},
			Responses: answers("IDs, one a line, or as JSON", "text/plain", text("")),
		}
		op.Responses["200"].Content[typeJSON] = &huma.MediaType{Schema: object(properties{
			"format": text(""), "ids": arrayOf(text(""))}, "format", "ids")}
		s.describeErrors(op, http.StatusUnauthorized, http.StatusForbidden,
			http.StatusNotAcceptable, http.StatusUnprocessableEntity,
			http.StatusTooManyRequests, http.StatusServiceUnavailable)
		s.secure(op, permitIDs)
		s.api.OpenAPI().AddOperation(op)
		s.mux.HandleFunc(method+" "+op.Path, s.serveIDs)
	}
}

func (s *Server) describeErrors(op *huma.Operation, codes ...int) {
	problem := &huma.MediaType{Schema: &huma.Schema{Ref: "#/components/schemas/ErrorModel"}}
	for _, code := range codes {
		op.Responses[strconv.Itoa(code)] = &huma.Response{Description: http.StatusText(code),
			Content: map[string]*huma.MediaType{"application/problem+json": problem}}
	}
}

func (s *Server) serveIDs(w http.ResponseWriter, r *http.Request) {
	if err := s.writeIDs(w, r); err != nil {
		s.refuse(w, err)
	}
}

type idsRequest struct {
	source   *source
	n        int
	encoding format.Encoding
	asJSON   bool
}

// parseIDs checks the whole request, before a token is charged or an ID made.
func (s *Server) parseIDs(r *http.Request) (in idsRequest, err error) {
	name := r.PathValue("format")
	if in.source = s.generators.byName[name]; in.source == nil {
		return in, invalid("unknown format, want one of "+strings.Join(format.Names(), ", "),
			"path.format")
	}
	in.n, in.encoding = 1, format.Text
	if r.URL.RawQuery != "" {
		if err := in.parseQuery(r.URL.RawQuery); err != nil {
			return in, err
		}
	}
	if err := in.source.format.CheckEncoding(in.encoding); err != nil {
		return in, invalid(err.Error(), "query.encoding")
	}
	in.asJSON, err = accepts(r.Header.Get("Accept"))
	return in, err
}

func (in *idsRequest) parseQuery(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return invalid("malformed query: "+err.Error(), "query")
	}
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "n":
			n, err := strconv.Atoi(value)
			if len(values) > 1 || err != nil || n < 1 || n > maxIDs {
				return invalid(fmt.Sprintf("%.20q is not a number of IDs, want 1 to %d", value,
					maxIDs), "query.n")
			}
			in.n = n
		case "encoding":
			in.encoding = format.Encoding(value) // parseIDs checks it
		default:
			return invalid("unknown query parameter", "query."+name)
		}
	}
	return nil
}

var pieces = sync.Pool{New: func() any { return new([]byte) }}

// writeIDs answers a request. It returns an error only before it writes. A later error breaks
// the answer off, so that the client sees that IDs are missing.
func (s *Server) writeIDs(w http.ResponseWriter, r *http.Request) error {
	if err := s.allow(r.Context(), permitIDs); err != nil {
		return err
	}
	in, err := s.parseIDs(r)
	if err != nil {
		return err
	}
	if in.n > pieceSize {
		c := s.client(r)
		if !s.largeAnswers.enter(c) {
			return s.largeAnswers.full()
		}
		defer s.largeAnswers.leave(c)
	}
	if err := s.charge(r, in.source, in.n); err != nil {
		return err
	}
	b := pieces.Get().(*[]byte)
	defer pieces.Put(b)
	if err := in.piece(r.Context(), b, 0); err != nil {
		return busy("%v", err)
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
		n := min(pieceSize, in.n-done)
		in.source.made.Add(float64(n))
		if done += n; done == in.n {
			return nil
		}
		if err := in.piece(r.Context(), b, done); err != nil {
			s.log.Warn("an answer breaks off", slog.String("format", in.source.format.Name),
				slog.Any("error", err))
			panic(http.ErrAbortHandler)
		}
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(takeTimeout))
	}
}

// All answers share these header values.
var (
	headerText    = []string{typeText}
	headerJSON    = []string{typeJSON}
	headerNoStore = []string{"no-store"}
	headerNoSniff = []string{"nosniff"}
	headerClose   = []string{"close"}
)

func (in *idsRequest) piece(ctx context.Context, b *[]byte, done int) error {
	n := min(pieceSize, in.n-done)
	var err error
	if *b, err = in.source.append(ctx, (*b)[:0], n, in.encoding); err != nil || !in.asJSON {
		return err
	}
	list := bytes.ReplaceAll((*b)[:len(*b)-1], []byte("\n"), []byte(`","`))
	*b = (*b)[:0]
	if done == 0 {
		*b = append(*b, `{"format":"`+in.source.format.Name+`","ids":["`...)
	} else {
		*b = append(*b, `","`...)
	}
	*b = append(*b, list...)
	if done+n == in.n {
		*b = append(*b, "\"]}\n"...)
	}
	return nil
}

// accepts reports whether the answer must be JSON. Without a preference, it is text.
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
		case typeJSON, "application/*":
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
		return false, huma.NewError(http.StatusNotAcceptable,
			"the answer is text/plain or application/json; the Accept header allows neither",
			&huma.ErrorDetail{Message: "name one of the two", Location: "header.Accept",
				Value: header})
	}
	return asJSON, nil
}

func busy(format string, args ...any) error {
	return busyFor(retryAfter*time.Second, format, args...)
}

func busyFor(d time.Duration, format string, args ...any) error {
	return huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(fmt.Sprintf(format, args...)),
		http.Header{"Retry-After": {seconds(d)}})
}
