package access

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/sortid/sortid/internal/check"
)

// A request is answered if its token has the permission.
func TestRequire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	ids, line1, _ := NewToken("ids", []string{PermitIDs}, 0, 0)
	admin, line2, _ := NewToken("admin", []string{PermitAdmin}, 0, 0)
	check.Write(t, path, line1+line2)
	tokens := check.Must(OpenTokens(t.Context(), path, nil))(t)
	for _, c := range []struct {
		tokens     *Tokens
		permission string
		want       [3]int // statuses without a token, with the token ids, with the token admin
	}{
		{tokens, PermitAdmin, [3]int{401, 403, 204}},
		{tokens, PermitNone, [3]int{204, 204, 204}},
		{tokens, PermitAny, [3]int{401, 204, 204}},
		{tokens, PermitIDs, [3]int{401, 204, 204}},
		{tokens, PermitRealms, [3]int{401, 403, 204}},
		{nil, PermitAdmin, [3]int{204, 204, 204}},
	} {
		h := c.tokens.Require(c.permission, func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusNoContent)
			return nil
		})
		for i, text := range []string{"", ids, admin} {
			r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
			r.Header.Set("Authorization", "Bearer "+text)
			c.tokens.Identify(h).ServeHTTP(w, r)
			if w.Code != c.want[i] {
				t.Errorf("%s, token %d: %d, want %d", c.permission, i, w.Code, c.want[i])
			}
		}
	}
}
