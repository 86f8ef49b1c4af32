package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/sortid/sortid/format"
)

const (
	typeText   = "text/plain; charset=utf-8"
	typeJSON   = "application/json"
	typeNDJSON = "application/x-ndjson"
)

const idsPath = "/v1/ids/"

// idsRoutes has the patterns of the requests for IDs, by method.
var idsRoutes = map[string]string{
	http.MethodGet:  "GET " + idsPath + "{scheme}",
	http.MethodPost: "POST " + idsPath + "{scheme}",
}

type idsInput struct {
	Scheme string `path:"scheme" doc:"The format's name" enum:"scru64,scru128,scru160,euid,uid60"`
	N      int    `query:"n" doc:"How many IDs" minimum:"1" maximum:"100000" default:"1"`
	Form   string `query:"form" doc:"The form of the IDs; uuid is for formats of 128 bits" enum:"text,hex,int,uuid" default:"text"`
	Accept string `header:"Accept" doc:"text/plain, one ID a line, or application/json"`
}

// A rawOutput is a body that is written as it is.
type rawOutput struct {
	ContentType  string `header:"Content-Type"`
	CacheControl string `header:"Cache-Control"`
	Body         []byte
}

// buffers keeps the memory of answers for the next ones.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

func (s *Server) registerIDs() {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		op := huma.Operation{
			OperationID:  strings.ToLower(method) + "-ids",
			Method:       method,
			Path:         idsPath + "{scheme}",
			Summary:      "Make IDs",
			Description:  "Returns new IDs, in order. Not cached. scru64 and uid60 need a server with a store.",
			Tags:         []string{"ids"},
			MaxBodyBytes: maxBody,
			Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotAcceptable, http.StatusUnprocessableEntity,
				http.StatusTooManyRequests, http.StatusServiceUnavailable},
			Responses: map[string]*huma.Response{"200": {
				Description: "IDs, one in a line, or as JSON",
				Content: map[string]*huma.MediaType{
					"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}},
					typeJSON: {Schema: &huma.Schema{
						Type: huma.TypeObject,
						Properties: map[string]*huma.Schema{
							"scheme": {Type: huma.TypeString},
							"ids":    {Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
						},
						Required: []string{"scheme", "ids"},
					}},
				},
			}},
		}
		op.Middlewares = huma.Middlewares{s.quickIDs}
		s.secure(&op, permitIDs)
		huma.Register(s.api, op, s.ids)
	}
}

func (s *Server) ids(ctx context.Context, in *idsInput) (*huma.StreamResponse, error) {
	a, err := s.makeIDs(ctx, in)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		_, w := humago.Unwrap(ctx)
		a.write(w)
		a.free()
	}}, nil
}

// quickIDs answers the requests that come by far most often, without what it takes to check
// and convert any request. What is unusual or wrong in one is left to next.
func (s *Server) quickIDs(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	in := idsInput{Scheme: r.PathValue("scheme"), Accept: r.Header.Get("Accept")}
	if s.generators.byName[in.Scheme] == nil || !in.parse(r.URL.RawQuery) {
		next(ctx)
		return
	}
	a, err := s.makeIDs(ctx.Context(), &in)
	if err != nil {
		next(ctx)
		return
	}
	a.write(w)
	a.free()
}

// parse reads a query that is valid and has nothing unusual in it, and reports whether
// this one is.
func (in *idsInput) parse(query string) bool {
	for query != "" {
		var part string
		part, query, _ = strings.Cut(query, "&")
		switch name, value, _ := strings.Cut(part, "="); {
		case name == "n" && in.N == 0 && len(value) <= len("100000"):
			for _, c := range []byte(value) {
				if c < '0' || c > '9' {
					return false
				}
				in.N = 10*in.N + int(c-'0')
			}
			if in.N < 1 || in.N > maxIDs {
				return false
			}
		case name == "form" && in.Form == "" && value != "":
			in.Form = value
		default:
			return false
		}
	}
	in.N, in.Form = cmp.Or(in.N, 1), cmp.Or(in.Form, string(format.Text))
	return true
}

// An idsAnswer is the body of an answer, in a buffer that is used again.
type idsAnswer struct {
	contentType string
	body        []byte
	buf         *[]byte
}

func (a idsAnswer) write(w http.ResponseWriter) {
	h := w.Header()
	h["Content-Type"], h["Cache-Control"] = []string{a.contentType}, []string{"no-store"}
	h["Content-Length"] = []string{strconv.Itoa(len(a.body))}
	w.Write(a.body)
}

// free keeps the answer's memory for the next one.
func (a idsAnswer) free() {
	if cap(a.body) <= 1<<20 {
		*a.buf = a.body
		buffers.Put(a.buf)
	}
}

func (s *Server) makeIDs(ctx context.Context, in *idsInput) (a idsAnswer, err error) {
	src := s.generators.byName[in.Scheme]
	form := format.Encoding(in.Form)
	if err := src.format.CheckEncoding(form); err != nil {
		return a, huma.Error422UnprocessableEntity("form does not fit the scheme", &huma.ErrorDetail{
			Message: err.Error(), Location: "query.form", Value: in.Form,
		})
	}
	if err := s.spend(ctx, in.N); err != nil {
		return a, err
	}
	asJSON, err := accepts(in.Accept)
	if err != nil {
		return a, err
	}
	buf := buffers.Get().(*[]byte)
	b := (*buf)[:0]
	sep := byte('\n')
	if asJSON {
		b = append(b, `{"scheme":"`+in.Scheme+`","ids":["`...)
		sep = '"'
	}
	start := len(b)
	if b, err = src.append(ctx, b, in.N, form, sep); err != nil {
		buffers.Put(buf)
		return a, unavailable(err)
	}
	contentType := typeText
	if asJSON {
		contentType = typeJSON
		b = quoteList(b, start)
		b = append(b, "]}\n"...)
	}
	s.metrics.ids.WithLabelValues(in.Scheme).Add(float64(in.N))
	return idsAnswer{contentType, b, buf}, nil
}

// quoteList turns b[start:], IDs that are each followed by a quotation mark, into JSON
// strings with commas between them. The first has its opening mark before start.
func quoteList(b []byte, start int) []byte {
	list := b[start:]
	n := 0
	for _, c := range list {
		if c == '"' {
			n++
		}
	}
	// Each mark but the last becomes `","`: two more characters. From the end on, so that
	// nothing is overwritten before it is read.
	b = append(b, make([]byte, 2*(n-1))...)
	to := len(b)
	last := true
	for from := start + len(list) - 1; from >= start; from-- {
		c := b[from]
		if c == '"' && !last {
			to -= 3
			copy(b[to:], `","`)
			continue
		}
		last = false
		to--
		b[to] = c
	}
	return b
}

// accepts reports whether the answer is to be JSON. Without a preference it is text.
func accepts(header string) (asJSON bool, err error) {
	if header == "" {
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
		return false, huma.NewError(http.StatusNotAcceptable, "the answer is text/plain or application/json; the Accept header takes neither",
			&huma.ErrorDetail{Message: "name one of the two", Location: "header.Accept", Value: header})
	}
	return asJSON, nil
}

// unavailable returns the problem for an error that will pass.
func unavailable(err error) error {
	if errors.Is(err, errUnavailable) {
		detail := strings.TrimPrefix(err.Error(), errUnavailable.Error()+": ")
		return huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(detail), http.Header{"Retry-After": {fmt.Sprint(retryAfter)}})
	}
	return err
}
