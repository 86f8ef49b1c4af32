package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func (s *Server) registerStatus() {
	plain := func(description string) map[string]*huma.Response {
		return answers(description, "text/plain", text(""))
	}
	get := func(id, path, summary, permission string, responses map[string]*huma.Response,
		errors ...int) huma.Operation {
		return s.operation("status", permission, huma.Operation{OperationID: id,
			Method: http.MethodGet, Path: path, Summary: summary, Responses: responses,
			Errors: errors})
	}
	said := func(line string) (*rawOutput, error) {
		return &rawOutput{ContentType: typeText, CacheControl: "no-store",
			Body: []byte(line + "\n")}, nil
	}

	huma.Register(s.api, get("healthz", "/healthz", "Say whether the process lives", permitNone,
		plain("the process lives")), func(context.Context, *struct{}) (*rawOutput, error) {
		return said("ok")
	})

	huma.Register(s.api, get("readyz", "/readyz",
		"Say whether the server can make IDs of each format that it serves",
		permitNone, plain("the server can make these IDs"), http.StatusUnprocessableEntity,
		http.StatusServiceUnavailable),
		func(ctx context.Context, _ *struct{}) (*rawOutput, error) {
			if s.draining.Load() {
				return nil, huma.Error503ServiceUnavailable("the server shuts down")
			}
			if err := s.generators.ready(); err != nil {
				s.log.Warn("not ready", "error", err)
				return nil, huma.Error503ServiceUnavailable(
					"a format has no node ID, or can make no ID now; the server's log says more")
			}
			return said("ready")
		})

	metrics := promhttp.HandlerFor(s.metrics.registry,
		promhttp.HandlerOpts{DisableCompression: true})
	huma.Register(s.api, get("metrics", "/metrics", "Metrics for Prometheus", permitAdmin,
		plain("the metrics, in the text format of Prometheus"), http.StatusUnauthorized,
		http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests),
		func(context.Context, *struct{}) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				r, w := humago.Unwrap(ctx)
				metrics.ServeHTTP(w, r)
			}}, nil
		})

	page := get("page", "/{$}", "A page for people", permitNone, nil)
	page.Hidden = true
	huma.Register(s.api, page, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			if s.config.Page != nil {
				ctx.SetHeader("Content-Type", "text/html; charset=utf-8")
				ctx.SetHeader("Content-Security-Policy", s.config.PagePolicy)
				ctx.BodyWriter().Write(s.config.Page)
				return
			}
			ctx.SetHeader("Content-Type", typeText)
			ctx.BodyWriter().Write([]byte(s.endpoints()))
		}}, nil
	})
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
