package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/httpapi"
)

// registerPage registers the page for people, and answers for paths that do not exist.
func (s *Server) registerPage() {
	page := access.Require(access.PermitNone, huma.Operation{OperationID: "page",
		Method: http.MethodGet, Path: "/{$}", Summary: "A page for people", Hidden: true,
		Tags: []string{"status"}})
	huma.Register(s.api, page, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			if s.config.Page != nil {
				ctx.SetHeader("Content-Type", "text/html; charset=utf-8")
				ctx.SetHeader("Content-Security-Policy", s.config.PagePolicy)
				ctx.BodyWriter().Write(s.config.Page)
				return
			}
			ctx.SetHeader("Content-Type", httpapi.TypeText)
			ctx.BodyWriter().Write([]byte(s.endpoints()))
		}}, nil
	})
	s.mux.HandleFunc(fallbackPattern, s.fallback)
}

func (s *Server) endpoints() string {
	var b strings.Builder
	b.WriteString("sortid " + s.config.Version + "\n\n")
	paths := s.api.OpenAPI().Paths
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, op := range []*huma.Operation{paths[path].Get, paths[path].Post} {
			if op != nil {
				b.WriteString(op.Method + " " + path + "\n    " + op.Summary + "\n")
			}
		}
	}
	b.WriteString("GET /openapi.json\n    Describe these endpoints for programs\n")
	return b.String()
}

const fallbackPattern = "/"

func (s *Server) fallback(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "" // so that metrics and log count the request to no route
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		other := *r
		other.Method = method
		if _, pattern := s.mux.Handler(&other); pattern != fallbackPattern {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		httpapi.Refuse(w, huma.Error404NotFound("no such path; /openapi.json lists them"))
		return
	}
	w.Header().Set("Allow", strings.Join(append(allowed, http.MethodOptions), ", "))
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	httpapi.Refuse(w, huma.NewError(http.StatusMethodNotAllowed,
		"this path takes "+strings.Join(allowed, ", ")))
}
