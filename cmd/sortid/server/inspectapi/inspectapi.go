// Package inspectapi serves the contents of IDs, the bounds of time ranges, and the formats.
package inspectapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/internal/words"
)

type Endpoints struct {
	Tokens *access.Tokens
	Bodies *api.Gate // for bodies of lines
}

func (e *Endpoints) Register(h huma.API) {
	object := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	lines := func() map[string]*huma.Response {
		return api.Answers("one object in each line", api.TypeNDJSON, api.Text())
	}
	get := func(id, path, summary, description string,
		answers map[string]*huma.Response) huma.Operation {
		return access.Require(access.PermitAny, huma.Operation{OperationID: id,
			Method: http.MethodGet, Path: path, Summary: summary, Description: description,
			Tags: []string{"inspect"}, Responses: answers, Errors: []int{
				http.StatusUnauthorized, http.StatusUnprocessableEntity,
				http.StatusTooManyRequests}})
	}

	huma.Register(h, get("inspect", "/v1/inspect/{id}", "Show what is in an ID",
		"Returns what `sortid inspect -o json` prints.",
		api.Answers("the ID's format, encodings, time and fields", api.TypeJSON, object)),
		e.inspect)

	op := get("inspect-lines", "/v1/inspect", "Show what is in IDs, one in each line",
		"The answer has one JSON object for each line that is not blank. It begins before all "+
			"lines have arrived. If a line is not an ID, its object has the line's number in "+
			"`line`, and the reason in `error`. Then the answer continues.", lines())
	op.Method, op.Middlewares = http.MethodPost, huma.Middlewares{e.Tokens.Through(e.Bodies)}
	op.Errors = append(op.Errors, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable)
	op.RequestBody = &huma.RequestBody{Required: true, Description: "IDs, one in each line",
		Content: map[string]*huma.MediaType{"text/plain": {Schema: api.Text()}}}
	huma.Register(h, op, e.inspectBody)

	huma.Register(h, get("bounds", "/v1/bounds/{format}",
		"Show the first ID of a time range and the first ID after the range",
		"Returns what `sortid bounds -o json` prints. A time is one of "+words.AcceptedTimes+".",
		api.Answers("the first ID of the range and the first ID after the range",
			api.TypeJSON, object)), bounds)

	table := sync.OnceValue(catalog.Table)
	huma.Register(h, get("formats", "/v1/formats", "Describe the formats",
		"Returns what `sortid formats -o json` prints: one object in each line.", lines()),
		func(context.Context, *struct{}) (*api.Raw, error) {
			return &api.Raw{ContentType: api.TypeNDJSON, Body: table()}, nil
		})
}

func (e *Endpoints) inspect(ctx context.Context, in *struct {
	ID     string         `path:"id" maxLength:"200" doc:"An ID in any encoding"`
	Format api.FormatName `query:"format" doc:"The ID's format, if it is known"`
}) (*api.Raw, error) {
	given, err := lookup(in.Format)
	if err != nil {
		return nil, err
	}
	if err := spendLines(e.Tokens.IDs(ctx), 1, len(in.ID)); err != nil {
		return nil, err
	}
	b, err := inspect.AppendJSON(nil, given, in.ID)
	if err != nil {
		return nil, api.Invalid("id", "%v", err)
	}
	return jsonLine(b), nil
}

func (e *Endpoints) inspectBody(_ context.Context, in *struct {
	Format api.FormatName `query:"format" doc:"The format of all IDs, if it is known"`
	Length int64          `header:"Content-Length" hidden:"true"`
}) (*huma.StreamResponse, error) {
	given, err := lookup(in.Format)
	if err != nil {
		return nil, err
	}
	if in.Length > api.MaxLines {
		return nil, api.NewProblem(http.StatusRequestEntityTooLarge, api.TooLarge,
			"the body has %d bytes, want at most %d; send it in parts", in.Length, api.MaxLines)
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) { e.inspectLines(ctx, given) }}, nil
}

func jsonLine(b []byte) *api.Raw {
	return &api.Raw{ContentType: api.TypeJSON, Body: append(b, '\n')}
}

func lookup(name api.FormatName) (*format.Format, error) {
	if name == "" {
		return nil, nil
	}
	return generate.Lookup(string(name))
}

func (e *Endpoints) inspectLines(ctx huma.Context, given *format.Format) {
	r, w := humago.Unwrap(ctx)
	control := http.NewResponseController(w)
	control.EnableFullDuplex() // answers may begin before the body ends
	w.Header().Set("Content-Type", api.TypeNDJSON)
	body := deadlineReader{http.MaxBytesReader(w, r.Body, api.MaxLines), control,
		time.Now().Add(api.LinesTimeout)}
	in := bufio.NewReaderSize(body, 16<<10)
	out := bufio.NewWriterSize(deadlineWriter{w, control}, 16<<10)
	defer out.Flush()
	l := e.Tokens.IDs(ctx.Context())
	var b []byte
	for number := 1; ; number++ {
		line, long, err := readLine(ctx.Context(), l, in)
		if err == nil || errors.Is(err, io.EOF) {
			b = appendInspected(b[:0], given, number, line, long)
		} else {
			wrong, tooLarge := bodyError(err)
			out.Write(appendLineError(nil, number, wrong))
			if !tooLarge { // the rest of the body must not be read as another request
				out.Flush()
				control.Flush()
				panic(http.ErrAbortHandler)
			}
			return
		}
		if _, werr := out.Write(b); werr != nil || err != nil {
			return
		}
		if in.Buffered() == 0 { // answer before waiting for more
			out.Flush()
			control.Flush()
		}
	}
}

// spendLines takes from the limit l what the lines cost. The parameter size is the sum
// of their bytes.
func spendLines(l *rate.Limiter, lines, size int) error {
	if wait := api.Take(l, linesCost(lines, size)); wait > 0 {
		return api.TooMany(wait,
			"the token's limit of IDs a second is reached; each inspected line counts as one")
	}
	return nil
}

// waitLines is spendLines for an answer that has begun. It waits for the limit, up to
// [api.LineTimeout].
func waitLines(ctx context.Context, l *rate.Limiter, lines, size int) error {
	if l == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, api.LineTimeout)
	defer cancel()
	if err := l.WaitN(ctx, linesCost(lines, size)); err != nil {
		return errLimit
	}
	return nil
}

var errLimit = errors.New("the token's limit of IDs a second is reached, so the rest was not read")

// linesCost returns how many IDs the lines count as: one for each line or, if that is more, one for
// each 64 bytes.
func linesCost(lines, size int) int { return max(lines, (size+63)/64) }

// readLine reads a line and takes its cost from the limit l. Of a long line, it returns only the
// beginning.
func readLine(ctx context.Context, l *rate.Limiter,
	in *bufio.Reader) (line string, long bool, err error) {
	part, err := in.ReadSlice('\n')
	line = string(part[:min(len(part), api.MaxLine+1)])
	for lines := 1; ; lines = 0 {
		if wait := waitLines(ctx, l, lines, len(part)); wait != nil {
			return line, long, wait
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimSpace(line), long || len(part) > api.MaxLine, err
		}
		long = true
		part, err = in.ReadSlice('\n')
	}
}

func appendInspected(b []byte, given *format.Format, number int, line string, long bool) []byte {
	switch {
	case long:
		return appendLineError(b, number, fmt.Errorf("longer than %d bytes, so it is not an ID",
			api.MaxLine))
	case line == "":
		return b
	}
	b, err := inspect.AppendJSON(b, given, line)
	if err != nil {
		return appendLineError(b[:0], number, err)
	}
	return append(b, '\n')
}

func bodyError(err error) (wrong error, tooLarge bool) {
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return fmt.Errorf("the body is longer than %d bytes; send it in parts", tooLong.Limit), true
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf(
			"nothing came for %v, or the body took longer than %v, so the rest was not read",
			api.LineTimeout, api.LinesTimeout), false
	case errors.Is(err, errLimit):
		return err, false
	}
	return errors.New("the body broke off"), false
}

func appendLineError(b []byte, number int, err error) []byte {
	line, _ := json.Marshal(struct {
		Line  int    `json:"line"`
		Error string `json:"error"`
	}{number, err.Error()})
	return append(append(b, line...), '\n')
}

// A deadlineReader limits the time for each read, and for the whole body.
type deadlineReader struct {
	io.Reader
	control *http.ResponseController
	end     time.Time
}

func (d deadlineReader) Read(p []byte) (int, error) {
	deadline := time.Now().Add(api.LineTimeout)
	if deadline.After(d.end) {
		deadline = d.end
	}
	d.control.SetReadDeadline(deadline)
	return d.Reader.Read(p)
}

type deadlineWriter struct {
	io.Writer
	control *http.ResponseController
}

func (d deadlineWriter) Write(p []byte) (int, error) {
	d.control.SetWriteDeadline(time.Now().Add(api.LineTimeout))
	return d.Writer.Write(p)
}

func bounds(_ context.Context, in *struct {
	Format api.FormatName `path:"format" doc:"The format's name"`

	From string `query:"from" required:"true" maxLength:"100" doc:"The first time of the range"`
	To   string `query:"to" maxLength:"100" doc:"The first time after the range; default: now"`
}) (*api.Raw, error) {
	f, err := generate.Lookup(string(in.Format))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	times := [2]time.Time{1: now}
	for i, text := range []string{in.From, in.To} {
		if text == "" {
			continue
		}
		if times[i], err = words.ParseTime(text, now, time.UTC); err != nil {
			name := [2]string{"from", "to"}[i]
			return nil, api.Invalid(name, "%v", err)
		}
	}
	bounds, err := inspect.NewBounds(f, times[0], times[1])
	if err != nil {
		return nil, api.Invalid("from", "%v", err)
	}
	b, err := json.Marshal(bounds)
	if err != nil {
		return nil, err
	}
	return jsonLine(b), nil
}
