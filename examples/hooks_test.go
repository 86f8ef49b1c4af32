package examples

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/labstack/echo/v4"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/swaggo/swag"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/typed"
	"github.com/sortid/sortid/uid60"
)

// The tests of this file show the sections "With other packages" and "In tests and in API
// descriptions" of docs/formats.md.

type account struct {
	ID   accountID
	Name string
}

func (account) Prefix() string { return "account" }

type accountID = typed.ID[account, scru128.ID]

var (
	anAccount = typed.MustParse[accountID]("account_0372ijojuxuhjsfkeryi2mrtm")
	aNumber   = scru64.MustParse("0u2pf62ji4b9")
)

// get sends a request to h and returns the answer.
func get(h http.Handler, path string) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Body.String()
}

type wanted struct {
	Account accountID   `uri:"account" query:"account" form:"account"`
	Number  scru64.ID   `uri:"number" param:"number"`
	List    []accountID `form:"list" query:"list"`
}

func (w wanted) text(err error) string {
	b, _ := json.Marshal(w)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestGin(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.GET("/:number/:account", func(c *gin.Context) {
		var w wanted
		c.String(http.StatusOK, w.text(c.ShouldBindUri(&w)))
	})
	g.GET("/query", func(c *gin.Context) {
		var w wanted
		c.String(http.StatusOK, w.text(c.ShouldBindQuery(&w)))
	})
	for path, want := range map[string]string{
		"/" + aNumber.String() + "/" + anAccount.String(): `"Account":"` + anAccount.String() +
			`","Number":"` + aNumber.String() + `"`,
		"/12345/" + anAccount.String():                        "wrong length: 5 bytes",
		"/" + aNumber.String() + "/order_1":                   `wrong prefix "order", want "account"`,
		"/query?list=" + anAccount.String():                   `"List":["` + anAccount.String() + `"]`,
		"/query?account=" + strings.ToUpper(aNumber.String()): "wrong prefix",
	} {
		if got := get(g, path); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

func TestEcho(t *testing.T) {
	e := echo.New()
	e.GET("/:number", func(c echo.Context) error {
		var w wanted
		return c.String(http.StatusOK, w.text(c.Bind(&w)))
	})
	for path, want := range map[string]string{
		"/" + aNumber.String() + "?account=" + anAccount.String(): `"Account":"` +
			anAccount.String() + `","Number":"` + aNumber.String() + `"`,
		"/12345": "wrong length: 5 bytes",
	} {
		if got := get(e, path); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// For validator, a typed ID is a struct, so required needs the option.
func TestValidator(t *testing.T) {
	type request struct {
		ID accountID `validate:"required" binding:"required"`
	}
	v := validator.New(validator.WithRequiredStructEnabled())
	if err := v.Struct(request{}); err == nil || !strings.Contains(err.Error(), "'required'") {
		t.Errorf("without the ID: %v, want an error about required", err)
	}
	check.OK(t, v.Struct(request{anAccount}))

	validator.WithRequiredStructEnabled()(binding.Validator.Engine().(*validator.Validate))
	if err := binding.Validator.ValidateStruct(request{}); err == nil {
		t.Error("gin: the missing ID passes")
	}
	check.OK(t, binding.Validator.ValidateStruct(request{anAccount}))
}

func TestCmp(t *testing.T) {
	a, b := account{ID: anAccount, Name: "Ada"}, account{ID: typed.New[accountID](), Name: "Ada"}
	if d := cmp.Diff(a, b); !strings.Contains(d, a.ID.String()) || !strings.Contains(d,
		b.ID.String()) {
		t.Errorf("the difference has not both texts:\n%s", d)
	}
	testDiff(t, scru64.ID(1), 2)
	testDiff(t, scru128.New(), scru128.New())
	testDiff(t, scru160.New(), scru160.New())
	testDiff(t, euid.New(), euid.New())
	testDiff(t, uid60.ID(1), 2)
	for _, same := range []any{a, anAccount.Any(), anAccount.Text(), anAccount.Bytes(), aNumber} {
		if d := cmp.Diff(same, same); d != "" {
			t.Errorf("%v differs from itself:\n%s", same, d)
		}
	}
}

func testDiff[T fmt.Stringer](t *testing.T, a, b T) {
	t.Helper()
	type row struct{ ID T }
	d := cmp.Diff(row{a}, row{b})
	if !strings.Contains(d, a.String()) || !strings.Contains(d, b.String()) {
		t.Errorf("the difference has not both texts:\n%s", d)
	}
}

type messages struct{ strings.Builder }

func (m *messages) Errorf(format string, args ...any) {
	for _, arg := range args {
		if s, ok := arg.(string); ok {
			m.WriteString(s)
		}
	}
}

func TestTestify(t *testing.T) {
	var m messages
	assert.Equal(&m, anAccount, typed.New[accountID]())
	if want := `("account_0372ijojuxuhjsfkeryi2mrtm")`; !strings.Contains(m.String(), want) {
		t.Errorf("testify prints %s, want %s", &m, want)
	}
}

func TestPflag(t *testing.T) {
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	var id accountID
	flags.TextVar(&id, "account", id, "the `ID` of an account")
	flags.Lookup("account").DefValue = ""
	if got, want := flags.FlagUsages(), "      --account ID   the ID of an account\n"; got != want {
		t.Errorf("help is %q, want %q", got, want)
	}
	if err := flags.Parse([]string{"--account", anAccount.String()}); err != nil || id != anAccount {
		t.Errorf("the flag is %v, %v", id, err)
	}
	if err := flags.Parse([]string{"--account=account_0"}); !errors.Is(err, sortid.ErrLength) {
		t.Errorf("the error of a short text is %v", err)
	}
}

// The Mapper makes a string of each type with a text.
func TestJSONSchema(t *testing.T) {
	text := reflect.TypeFor[encoding.TextMarshaler]()
	r := jsonschema.Reflector{Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t.Implements(text) && t != reflect.TypeFor[time.Time]() {
			return &jsonschema.Schema{Type: "string"}
		}
		return nil
	}}
	b := check.Must(json.Marshal(r.Reflect(wanted{})))(t)
	if n := strings.Count(string(b), `"type":"string"`); n != 3 {
		t.Errorf("%d strings, want 3: %s", n, b)
	}
}

// Tags say that an ID is a string.
func TestSwag(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(`package main

import (
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru64"
)

type Event struct {
	ID     scru128.ID `+"`json:\"id\" swaggertype:\"string\"`"+`
	Number scru64.ID  `+"`json:\"number\" swaggertype:\"string\"`"+`
}

// @Success 200 {object} Event
// @Router /event [get]
func main() {}
`), 0o600))
	p := swag.New()
	check.OK(t, p.ParseAPI(dir, "main.go", 1))
	b := check.Must(json.Marshal(p.GetSwagger()))(t)
	if n := strings.Count(string(b), `{"type":"string"}`); n != 2 || strings.Contains(string(b),
		"enum") {
		t.Errorf("%d strings, want 2, and no enum: %s", n, b)
	}
}

// In a bubble, a generator needs the bubble's clock. New has a clock from outside.
func TestSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := scru128.NewGenerator(scru128.Options{
			GeneratorOptions: sortid.GeneratorOptions{Clock: time.Now}})
		check.OK(t, err)
		time.Sleep(time.Hour)
		id := check.Must(g.Generate())(t)
		if !id.Time().Equal(time.Now()) {
			t.Errorf("the ID's time is %v, the bubble's is %v", id.Time(), time.Now())
		}
	})
}

// A message has the ID's text in a string field, or its bytes in a bytes field.
func TestProtobuf(t *testing.T) {
	b := check.Must(proto.Marshal(wrapperspb.String(anAccount.String())))(t)
	var text wrapperspb.StringValue
	check.OK(t, proto.Unmarshal(b, &text))
	if id, err := typed.Parse[accountID](text.Value); err != nil || id != anAccount {
		t.Errorf("from a string: %v, %v", id, err)
	}
	b = check.Must(proto.Marshal(wrapperspb.Bytes(anAccount.Inner().Bytes())))(t)
	var raw wrapperspb.BytesValue
	check.OK(t, proto.Unmarshal(b, &raw))
	if id, err := scru128.FromBytes(raw.Value); err != nil || id != anAccount.Inner() {
		t.Errorf("from bytes: %v, %v", id, err)
	}
}

func TestYAML(t *testing.T) {
	testYAML(t, scru64.ID(scru64.Max()))
	testYAML(t, scru128.New())
	testYAML(t, scru128.UUID(scru128.New()))
	testYAML(t, scru128.Bytes(scru128.New()))
	testYAML(t, scru160.New())
	testYAML(t, euid.UUID(euid.New()))
	testYAML(t, uid60.Max())
	testYAML(t, anAccount)
	testYAML(t, anAccount.Bytes())
}

// testYAML checks that YAML has the text of an ID, as a value and as a key.
func testYAML[T interface {
	comparable
	encoding.TextMarshaler
}](t *testing.T, id T) {
	t.Helper()
	text := check.Must(id.MarshalText())(t)
	b := check.Must(yaml.Marshal(map[T]T{id: id}))(t)
	var raw map[string]string
	check.OK(t, yaml.Unmarshal(b, &raw))
	if raw[string(text)] != string(text) {
		t.Errorf("%T %s is written as %s", id, text, b)
	}
	var back map[T]T
	if err := yaml.Unmarshal(b, &back); err != nil || len(back) != 1 || back[id] != id {
		t.Errorf("%T: %s is read as %v, %v", id, b, back, err)
	}
}

func TestPatterns(t *testing.T) {
	page := check.Must(os.ReadFile(filepath.Join("..", "docs", "formats.md")))(t)
	for format, ids := range map[string][]fmt.Stringer{
		"scru64":  {scru64.ID(0), scru64.First(time.Now()), scru64.Max()},
		"scru128": {scru128.ID{}, scru128.New(), scru128.Max()},
		"scru160": {scru160.ID{}, scru160.New(), scru160.Max()},
		"euid":    {euid.ID{}, euid.New(), euid.Max()},
		"uid60":   {uid60.ID(0), uid60.First(time.Now()), uid60.Max()},
	} {
		row := regexp.MustCompile("\n\\| `" + format + "` \\| `(\\^.+\\$)` \\|\n").FindSubmatch(page)
		if row == nil {
			t.Errorf("docs/formats.md has no pattern of %s", format)
			continue
		}
		pattern := regexp.MustCompile(string(row[1]))
		for _, id := range ids {
			if s := id.String(); !pattern.MatchString(s) || pattern.MatchString(s+".") {
				t.Errorf("%s does not describe %s %s", pattern, format, s)
			}
		}
	}
	if !regexp.MustCompile(`^account_[0-9a-z]{25}$`).MatchString(anAccount.String()) {
		t.Errorf("the pattern does not describe %s", anAccount)
	}
}
