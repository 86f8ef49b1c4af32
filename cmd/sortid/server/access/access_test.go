package access

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/sortid/sortid/internal/check"
)

// An operation without [Require] needs the permission admin.
func TestAuthorize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	ids, line1, _ := NewToken("ids", []string{PermitIDs}, 0, 0)
	admin, line2, _ := NewToken("admin", []string{PermitAdmin}, 0, 0)
	check.Write(t, path, line1+line2)
	tokens := check.Must(OpenTokens(t.Context(), path, nil))(t)
	for _, c := range []struct {
		tokens *Tokens
		op     huma.Operation
		want   [3]int // statuses without a token, with the token ids, with the token admin
	}{
		{tokens, huma.Operation{}, [3]int{401, 403, 204}},
		{tokens, Require(PermitNone, huma.Operation{}), [3]int{204, 204, 204}},
		{tokens, Require(PermitAny, huma.Operation{}), [3]int{401, 204, 204}},
		{tokens, Require(PermitIDs, huma.Operation{}), [3]int{401, 204, 204}},
		{tokens, Require(PermitRealms, huma.Operation{}), [3]int{401, 403, 204}},
		{nil, huma.Operation{}, [3]int{204, 204, 204}},
	} {
		mux := http.NewServeMux()
		api := humago.New(mux, huma.DefaultConfig("test", "1"))
		api.UseMiddleware(c.tokens.Authorize)
		c.op.Method, c.op.Path = http.MethodGet, "/"
		huma.Register(api, c.op, func(context.Context, *struct{}) (*struct{}, error) {
			return nil, nil
		})
		for i, text := range []string{"", ids, admin} {
			r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
			r.Header.Set("Authorization", "Bearer "+text)
			c.tokens.Identify(mux).ServeHTTP(w, r)
			if w.Code != c.want[i] {
				t.Errorf("%v, token %d: %d, want %d", c.op.Metadata, i, w.Code, c.want[i])
			}
		}
	}
}
