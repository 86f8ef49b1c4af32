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
	"unicode/utf8"

	"golang.org/x/time/rate"

	"github.com/sortid/sortid/cmd/sortid/internal/catalog"
	"github.com/sortid/sortid/cmd/sortid/internal/inspect"
	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/store/http/wire"
)

type Endpoints struct {
	Tokens *access.Tokens
	Bodies *api.Gate // for bodies of lines
}

func (e *Endpoints) Register(mux *http.ServeMux) {
	handle := func(pattern string, h api.Handler) {
		mux.Handle(pattern, e.Tokens.Require(access.PermitAny, h))
	}
	handle("GET /v1/inspect/{id}", e.inspect)
	handle("POST /v1/inspect", func(w http.ResponseWriter, r *http.Request) (err error) {
		e.Tokens.Within(e.Bodies, w, r, func() { err = e.inspectBody(w, r) })
		return err
	})
	handle("GET /v1/bounds/{format}", bounds)
	table := sync.OnceValue(catalog.Table)
	handle("GET /v1/formats", func(w http.ResponseWriter, r *http.Request) error {
		if _, err := api.Query(r); err != nil {
			return err
		}
		return api.Answer(w, api.TypeNDJSON, table())
	})
}

// The longest texts, in characters.
const (
	maxID   = 200
	maxTime = 100
)

func tooLong(field, text string, most int) error {
	if utf8.RuneCountInString(text) <= most {
		return nil
	}
	return api.Invalid(field, "longer than %d characters", most)
}

func (e *Endpoints) inspect(w http.ResponseWriter, r *http.Request) error {
	given, err := givenFormat(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	if err := tooLong("id", id, maxID); err != nil {
		return err
	}
	if err := spendLines(e.Tokens.IDs(r.Context()), 1, len(id)); err != nil {
		return err
	}
	b, err := inspect.AppendJSON(nil, given, id)
	if err != nil {
		return api.Invalid("id", "%v", err)
	}
	return api.Answer(w, api.TypeJSON, append(b, '\n'))
}

// givenFormat returns the format that a request names, or nil.
func givenFormat(r *http.Request) (*format.Format, error) {
	query, err := api.Query(r, "format")
	if err != nil || query.Get("format") == "" {
		return nil, err
	}
	return api.Format(query.Get("format"))
}

func (e *Endpoints) inspectBody(w http.ResponseWriter, r *http.Request) error {
	given, err := givenFormat(r)
	if err != nil {
		return err
	}
	if r.ContentLength > api.MaxLines {
		return api.NewProblem(http.StatusRequestEntityTooLarge, wire.TooLarge,
			"the body has %d bytes, want at most %d; send it in parts", r.ContentLength, api.MaxLines)
	}
	e.inspectLines(w, r, given)
	return nil
}

func (e *Endpoints) inspectLines(w http.ResponseWriter, r *http.Request, given *format.Format) {
	control := http.NewResponseController(w)
	control.EnableFullDuplex() // answers may begin before the body ends
	w.Header().Set("Content-Type", api.TypeNDJSON)
	body := deadlineReader{http.MaxBytesReader(w, r.Body, api.MaxLines), control,
		time.Now().Add(api.LinesTimeout)}
	in := bufio.NewReaderSize(body, 16<<10)
	out := bufio.NewWriterSize(deadlineWriter{w, control}, 16<<10)
	defer out.Flush()
	l := e.Tokens.IDs(r.Context())
	var b []byte
	for number := 1; ; number++ {
		line, long, err := readLine(r.Context(), l, in)
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

func bounds(w http.ResponseWriter, r *http.Request) error {
	query, err := api.Query(r, "from", "to")
	if err != nil {
		return err
	}
	f, err := api.Format(r.PathValue("format"))
	if err != nil {
		return err
	}
	if query.Get("from") == "" {
		return api.Invalid("from", "missing; want the first time of the range")
	}
	now := time.Now()
	times := [2]time.Time{1: now}
	for i, name := range []string{"from", "to"} {
		text := query.Get(name)
		if err := tooLong(name, text, maxTime); err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if times[i], err = words.ParseTime(text, now, time.UTC); err != nil {
			return api.Invalid(name, "%v", err)
		}
	}
	bounds, err := inspect.NewBounds(f, times[0], times[1])
	if err != nil {
		return api.Invalid("from", "%v", err)
	}
	b, err := json.Marshal(bounds)
	if err != nil {
		return err
	}
	return api.Answer(w, api.TypeJSON, append(b, '\n'))
}
