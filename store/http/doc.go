// Package http leases through a server, "sortid serve", which gives access to its own store.
// Programs need no database password, only HTTP.
//
//	store, err := http.Open(ctx, "https://ids.example.com?token=env:SORTID_TOKEN")
//
// # URL
//
// https://HOST:PORT/PATH?token=TOKEN, or http:// without encryption. PATH is for a proxy in front
// of the server that needs one. The parameters are
//
//   - token: the token, or env:NAME for the one in an environment variable;
//   - ca: a file with the trusted certificates, by default the system's;
//   - cert and key: files with this client's certificate and key, if the server requires
//     them.
//
// # How it works
//
// Each method of the Store is one POST request to /v1/store/ on the server, with JSON. The package
// sends each request once and follows no redirect. A proxy in front of the server must not repeat
// a POST request: a change that was made would then be reported as refused. Proxies do not repeat
// them by default.
//
// # Guarantee
//
// The guarantee is the same as for the server's own store; see [Store.Conditions]. All servers
// behind one address must use the same store.
package http
