package server

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
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/cmd/sortid/internal/when"
	"github.com/sortid/sortid/format"
)

const (
	lineTimeout  = 30 * time.Second // for the next part of a body of lines
	linesTimeout = 10 * time.Minute // for the whole body
)

func (s *Server) registerInspect() {
	object := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
	const oneALine = "one object a line"
	get := func(id, path, summary, description string,
		responses map[string]*huma.Response) huma.Operation {
		return s.operation("inspect", permitAny, huma.Operation{OperationID: id,
			Method: http.MethodGet, Path: path, Summary: summary, Description: description,
			Responses: responses, Errors: []int{http.StatusUnauthorized,
				http.StatusUnprocessableEntity, http.StatusTooManyRequests}})
	}

	huma.Register(s.api, get("inspect", "/v1/inspect/{id}", "Show what is in an ID",
		"Returns what `sortid inspect -o json` prints.",
		answers("the ID's format, encodings, time and fields", typeJSON, object)), s.inspect)

	op := get("inspect-lines", "/v1/inspect", "Show what is in IDs, one a line",
		"Returns one JSON object for each line that is not blank, as it reads them. "+
			"If a line is not an ID, its object has `line` and `error`. All lines are read.",
		answers(oneALine, typeNDJSON, text("")))
	op.Method, op.Middlewares = http.MethodPost, huma.Middlewares{s.within(s.lineBodies)}
	op.Errors = append(op.Errors, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable)
	op.RequestBody = &huma.RequestBody{Required: true, Description: "IDs, one a line",
		Content: map[string]*huma.MediaType{"text/plain": {Schema: text("")}}}
	huma.Register(s.api, op, s.inspectBody)

	huma.Register(s.api, get("bounds", "/v1/bounds/{format}",
		"Show the first ID of a time range and the first after it",
		"Returns what `sortid bounds -o json` prints. A time is one of "+when.Accepted+".",
		answers("the first ID of the range and the first after it", typeJSON, object)), s.bounds)

	huma.Register(s.api, get("formats", "/v1/formats", "Describe the formats",
		"Returns what `sortid formats -o json` prints: one object a line.",
		answers(oneALine, typeNDJSON, text(""))),
		func(context.Context, *struct{}) (*rawOutput, error) {
			return &rawOutput{ContentType: typeNDJSON, Body: format.Table()}, nil
		})
}

func (s *Server) operation(tag, permission string, op huma.Operation) huma.Operation {
	op.Tags = []string{tag}
	s.secure(&op, permission)
	return op
}

func answers(description, mediaType string, schema *huma.Schema) map[string]*huma.Response {
	return map[string]*huma.Response{"200": {Description: description,
		Content: map[string]*huma.MediaType{mediaType: {Schema: schema}}}}
}

func (s *Server) inspect(ctx context.Context, in *struct {
	ID     string     `path:"id" maxLength:"200" doc:"An ID in any encoding"`
	Format formatName `query:"format" doc:"The ID's format, if it is known"`
}) (*rawOutput, error) {
	given, err := lookup(in.Format)
	if err != nil {
		return nil, err
	}
	if err := s.spendLines(ctx, 1, len(in.ID)); err != nil {
		return nil, err
	}
	b, err := inspect.AppendJSON(nil, given, in.ID)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("not an ID",
			&huma.ErrorDetail{Message: err.Error(), Location: "path.id", Value: in.ID})
	}
	return rawJSON(append(b, '\n')), nil
}

func (s *Server) inspectBody(_ context.Context, in *struct {
	Format formatName `query:"format" doc:"The format of all IDs, if it is known"`
	Length int64      `header:"Content-Length" hidden:"true"`
}) (*huma.StreamResponse, error) {
	given, err := lookup(in.Format)
	if err != nil {
		return nil, err
	}
	if in.Length > maxLines {
		return nil, huma.NewError(http.StatusRequestEntityTooLarge, fmt.Sprintf(
			"the body has %d bytes, want at most %d; send it in parts", in.Length, int64(maxLines)))
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) { s.inspectLines(ctx, given) }}, nil
}

func rawJSON(b []byte) *rawOutput { return &rawOutput{ContentType: typeJSON, Body: b} }

type formatName string

func (formatName) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: formatNames()}
}

func formatNames() (names []any) {
	for _, name := range format.Names() {
		names = append(names, name)
	}
	return names
}

func lookup(name formatName) (*format.Format, error) {
	if name == "" {
		return nil, nil
	}
	return format.Lookup(string(name))
}

func (s *Server) inspectLines(ctx huma.Context, given *format.Format) {
	r, w := humago.Unwrap(ctx)
	control := http.NewResponseController(w)
	control.EnableFullDuplex() // answers may begin before the body ends
	w.Header().Set("Content-Type", typeNDJSON)
	body := deadlineReader{http.MaxBytesReader(w, r.Body, maxLines), control,
		time.Now().Add(linesTimeout)}
	in := bufio.NewReaderSize(body, 16<<10)
	out := bufio.NewWriterSize(deadlineWriter{w, control}, 16<<10)
	defer out.Flush()
	var b []byte
	for number := 1; ; number++ {
		line, long, err := s.readLine(ctx.Context(), in)
		if err == nil || errors.Is(err, io.EOF) {
			b = s.appendInspected(b[:0], given, number, line, long)
		} else {
			wrong, tooLarge := bodyError(err)
			out.Write(appendLineError(nil, number, wrong))
			if !tooLarge { // otherwise the rest would be read as another request
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

// readLine reads a line and charges it to the token. If a line is too long, it returns only the
// beginning.
func (s *Server) readLine(ctx context.Context,
	in *bufio.Reader) (line string, long bool, err error) {
	part, err := in.ReadSlice('\n')
	line = string(part[:min(len(part), maxLine+1)])
	for lines := 1; ; lines = 0 {
		if wait := s.waitLines(ctx, lines, len(part)); wait != nil {
			return line, long, wait
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimSpace(line), long || len(part) > maxLine, err
		}
		long = true
		part, err = in.ReadSlice('\n')
	}
}

// maxLine is a line's greatest length in bytes. All IDs are much shorter.
const maxLine = 1 << 10

func (s *Server) appendInspected(b []byte, given *format.Format, number int, line string,
	long bool) []byte {
	switch {
	case long:
		return appendLineError(b, number, fmt.Errorf("longer than %d bytes, so it is not an ID",
			maxLine))
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
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return fmt.Errorf("the body is longer than %d bytes; send it in parts", limit.Limit), true
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf(
			"nothing came for %v, or the body took longer than %v, so the rest was not read",
			lineTimeout, linesTimeout), false
	}
	if errors.Is(err, errLimit) {
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
	deadline := time.Now().Add(lineTimeout)
	if deadline.After(d.end) {
		deadline = d.end
	}
	d.control.SetReadDeadline(deadline)
	return d.Reader.Read(p)
}

// A deadlineWriter limits the time that a client takes for each part of an answer.
type deadlineWriter struct {
	io.Writer
	control *http.ResponseController
}

func (d deadlineWriter) Write(p []byte) (int, error) {
	d.control.SetWriteDeadline(time.Now().Add(lineTimeout))
	return d.Writer.Write(p)
}

func (s *Server) bounds(_ context.Context, in *struct {
	Format formatName `path:"format" doc:"The format's name"`
	From   string     `query:"from" required:"true" maxLength:"100" doc:"The first time of the range"`
	To     string     `query:"to" maxLength:"100" doc:"The first time after the range, by default now"`
}) (*rawOutput, error) {
	f, err := format.Lookup(string(in.Format))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	times := [2]time.Time{1: now}
	for i, text := range []string{in.From, in.To} {
		if text == "" {
			continue
		}
		if times[i], err = when.Parse(text, now); err != nil {
			name := [2]string{"from", "to"}[i]
			return nil, huma.Error422UnprocessableEntity("not a time",
				&huma.ErrorDetail{Message: err.Error(), Location: "query." + name, Value: text})
		}
	}
	bounds, err := inspect.NewBounds(f, times[0], times[1])
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("not a range of IDs",
			&huma.ErrorDetail{Message: err.Error(), Location: "query"})
	}
	b, err := json.Marshal(bounds)
	if err != nil {
		return nil, err
	}
	return rawJSON(append(b, '\n')), nil
}
