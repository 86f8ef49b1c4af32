package leaseapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/store/http/wire"
)

// readBody reads the JSON of a request. A browser lets a page of another origin send JSON only if
// the server permits it.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != api.TypeJSON {
		return nil, api.NewProblem(http.StatusUnsupportedMediaType, wire.ContentType,
			"the body must be JSON: send the header \"Content-Type: %s\"", api.TypeJSON)
	}
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(api.BodyTimeout))
	if r.ContentLength > api.MaxBody {
		return nil, tooLarge()
	}
	var b bytes.Buffer
	b.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(r.Body, api.MaxBody+1))
	var timeout net.Error
	switch {
	case b.Len() > api.MaxBody:
		return nil, tooLarge()
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, api.NewProblem(http.StatusRequestTimeout, wire.Timeout,
			"the body did not arrive within %v; send the request again", api.BodyTimeout)
	case err != nil:
		return nil, api.NewProblem(http.StatusBadRequest, wire.CutOff,
			"the body ends too soon; send the request again")
	}
	return b.Bytes(), nil
}

func tooLarge() error {
	return api.NewProblem(http.StatusRequestEntityTooLarge, wire.TooLarge,
		"the body has more than %d bytes; /openapi.json describes a smaller one", api.MaxBody)
}

// decode reads a JSON object into a struct. All fields of the struct are pointers to strings,
// integers or truth values. Their tags describe them to users and to decode. A field that is missing or null stays
// nil. If a field is wrong, decode returns a problem that lists all wrong fields.
func decode(body []byte, into any) error {
	v := reflect.ValueOf(into).Elem()
	fields := fieldsOf(v.Type())
	const most = 10 // mistakes, to save memory
	var wrong []wire.Mistake
	mistake := func(field, format string, args ...any) {
		wrong = append(wrong, wire.Mistake{Field: field, Detail: fmt.Sprintf(format, args...)})
	}
	seen := make([]string, 0, 8)
	d := json.NewDecoder(bytes.NewReader(body))
	if err := object(body, d, func(name string, value json.RawMessage) (more bool) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case i < 0:
			mistake(api.Shorten(name), "unknown; the known fields are %s", names(fields))
		case slices.Contains(seen, name):
			mistake(name, "given twice")
		default:
			seen = append(seen, name)
			if string(value) == "null" {
				break
			}
			if detail := fields[i].set(v.Field(i), value); detail != "" {
				mistake(name, "%s", detail)
			}
		}
		return len(wrong) < most
	}); err != nil {
		return api.Invalid("body", "%v; want a JSON object as /openapi.json describes", err)
	}
	for i, f := range fields {
		if f.required && v.Field(i).IsNil() &&
			!slices.ContainsFunc(wrong, func(m wire.Mistake) bool { return m.Field == f.name }) {
			mistake(f.name, "missing; want %s", f.want())
		}
	}
	if len(wrong) > 0 {
		return api.Mistaken(wrong...)
	}
	return nil
}

// object calls each for all members of the only JSON value in body, until each returns false.
func object(body []byte, d *json.Decoder, each func(string, json.RawMessage) bool) error {
	switch {
	case len(body) == 0:
		return errors.New("empty")
	case !utf8.Valid(body):
		return errors.New("not UTF-8")
	}
	begin, err := d.Token()
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if begin != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		if !each(name.(string), value) {
			return nil
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// A field is what decode must know about a field of a struct.
type field struct {
	name     string
	kind     reflect.Kind
	required bool
	min, max int64 // of an integer, or of the length of a text
}

var known sync.Map // []field by reflect.Type

func fieldsOf(t reflect.Type) []field {
	if fields, ok := known.Load(t); ok {
		return fields.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		tag := t.Field(i).Tag
		number := func(name string) int64 {
			n, err := strconv.ParseInt(tag.Get(name), 10, 64)
			if err != nil {
				panic(fmt.Sprintf("%v.%s: the tag %s: %v", t, t.Field(i).Name, name, err))
			}
			return n
		}
		f := field{required: tag.Get("required") == "true"}
		f.name, _, _ = strings.Cut(tag.Get("json"), ",")
		switch f.kind = t.Field(i).Type.Elem().Kind(); f.kind {
		case reflect.String:
			f.min, f.max = number("minLength"), number("maxLength")
		case reflect.Int64:
			f.min, f.max = number("minimum"), number("maximum")
		}
		fields[i] = f
	}
	known.Store(t, fields)
	return fields
}

func names(fields []field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

func (f field) want() string {
	switch f.kind {
	case reflect.String:
		return fmt.Sprintf("a string of %d to %d characters", f.min, f.max)
	case reflect.Bool:
		return "true or false"
	}
	return fmt.Sprintf("a whole number from %d to %d", f.min, f.max)
}

// set stores a value. If the value is wrong, it returns why. It never repeats a string, because it
// may be a secret.
func (f field) set(v reflect.Value, value json.RawMessage) (wrong string) {
	isText := value[0] == '"'
	switch {
	case f.kind == reflect.Bool:
		var b bool
		if json.Unmarshal(value, &b) != nil {
			return "not a truth value; want " + f.want()
		}
		v.Set(reflect.ValueOf(&b))
	case f.kind == reflect.String && isText:
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return "not a JSON string; want " + f.want()
		}
		if n := int64(utf8.RuneCountInString(s)); n < f.min || n > f.max {
			return fmt.Sprintf("%d characters; want %s", n, f.want())
		}
		v.Set(reflect.ValueOf(&s))
	case f.kind == reflect.String:
		return "not a string; want " + f.want()
	case isText:
		return "a string; want " + f.want()
	default:
		n, err := strconv.ParseInt(string(value), 10, 64)
		switch {
		case strings.ContainsAny(string(value[:1]), "{[tf"):
			return "not a number; want " + f.want()
		case err != nil || n < f.min || n > f.max:
			return fmt.Sprintf("%s; want %s", api.Shorten(string(value)), f.want())
		}
		v.Set(reflect.ValueOf(&n))
	}
	return ""
}
