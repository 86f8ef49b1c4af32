package leaseapi

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sortid/sortid/internal/check"
	"github.com/sortid/sortid/store/http/wire"
)

type property struct {
	Type                 any
	Minimum, Maximum     *int64
	MinLength, MaxLength *int64
}

// The schemas in openapi.json have the fields of the bodies, and the same limits.
func TestSchemas(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties           map[string]property
				Required             []string
				AdditionalProperties any
			}
		}
	}
	check.OK(t, json.Unmarshal(check.Must(os.ReadFile("../openapi.json"))(t), &doc))
	for name, of := range map[string]any{
		"RealmBody": wire.MakeRealm{}, "SpansBody": wire.ChangeRealm{}, "AcquireBody": wire.Acquire{},
		"RenewBody": wire.Renew{}, "ReleaseBody": wire.Release{}, "RealmAnswer": wire.Realm{},
		"RealmsAnswer": wire.Realms{}, "LeaseAnswer": wire.Lease{},
		"HoldingAnswer": wire.Holding{}, "LeasesAnswer": wire.Leases{}, "Problem": wire.Problem{},
		"Mistake": wire.Mistake{},
	} {
		s, of := doc.Components.Schemas[name], reflect.TypeOf(of)
		request := strings.HasSuffix(name, "Body")
		if strict := s.AdditionalProperties == false; request && !strict {
			t.Errorf("%s may have any field", name)
		}
		for i := range of.NumField() {
			f := of.Field(i)
			field, omitted, _ := strings.Cut(f.Tag.Get("json"), ",")
			if field == "" {
				continue
			}
			p, ok := s.Properties[field]
			delete(s.Properties, field)
			if required := omitted == ""; !ok || slices.Contains(s.Required, field) != required {
				t.Errorf("%s.%s: described: %v, want required: %v", name, field, ok, required)
			}
			if want := typeOf(f.Type); !slices.Contains(types(p.Type), want) {
				t.Errorf("%s.%s: %v, want %s", name, field, p.Type, want)
			}
			if !request {
				continue
			}
			for limit, got := range map[string]*int64{"minimum": p.Minimum, "maximum": p.Maximum,
				"minLength": p.MinLength, "maxLength": p.MaxLength} {
				if got := number(got); got != f.Tag.Get(limit) {
					t.Errorf("%s.%s: %s %q, want %q", name, field, limit, got, f.Tag.Get(limit))
				}
			}
		}
		for field := range s.Properties {
			t.Errorf("%s.%s is described, but does not exist", name, field)
		}
	}
}

func typeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeOf(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		return "array"
	case reflect.Float64:
		return "number"
	}
	return "integer"
}

func types(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			all = append(all, one.(string))
		}
	}
	return all
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
