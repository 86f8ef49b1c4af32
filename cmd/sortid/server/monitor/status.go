package monitor

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sortid/sortid/cmd/sortid/server/access"
	"github.com/sortid/sortid/cmd/sortid/server/httpapi"
)

// Register registers /healthz, /readyz and /metrics.
func (m *Monitor) Register(api huma.API) {
	get := func(id, path, summary, permission, answer string, errors ...int) huma.Operation {
		return access.Require(permission, huma.Operation{OperationID: id, Method: http.MethodGet,
			Path: path, Summary: summary, Tags: []string{"status"}, Errors: errors,
			Responses: httpapi.Answers(answer, "text/plain", httpapi.Text(""))})
	}
	said := func(line string) (*httpapi.Raw, error) {
		return &httpapi.Raw{ContentType: httpapi.TypeText, CacheControl: "no-store",
			Body: []byte(line + "\n")}, nil
	}

	huma.Register(api, get("healthz", "/healthz", "Say whether the process lives", access.PermitNone,
		"the process lives"), func(context.Context, *struct{}) (*httpapi.Raw, error) {
		return said("ok")
	})

	huma.Register(api, get("readyz", "/readyz",
		"Say whether the server can make IDs of each format that it serves",
		access.PermitNone, "the server can make these IDs", http.StatusUnprocessableEntity,
		http.StatusServiceUnavailable),
		func(ctx context.Context, _ *struct{}) (*httpapi.Raw, error) {
			if m.draining.Load() {
				return nil, huma.Error503ServiceUnavailable("the server shuts down")
			}
			if err := m.sources.Ready(); err != nil {
				m.log.Warn("not ready", "error", err)
				return nil, huma.Error503ServiceUnavailable(
					"a format has no node ID, or can make no ID now; the server's log says more")
			}
			return said("ready")
		})

	metrics := promhttp.HandlerFor(m.Registry,
		promhttp.HandlerOpts{DisableCompression: true})
	huma.Register(api, get("metrics", "/metrics", "Metrics for Prometheus", access.PermitAdmin,
		"the metrics, in the text format of Prometheus", http.StatusUnauthorized,
		http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusTooManyRequests),
		func(context.Context, *struct{}) (*huma.StreamResponse, error) {
			return &huma.StreamResponse{Body: func(ctx huma.Context) {
				r, w := humago.Unwrap(ctx)
				metrics.ServeHTTP(w, r)
			}}, nil
		})
}
