// Package http leases through a server, "sortid serve", which gives access to its own store.
// Programs need no database password, only HTTP.
//
//	store, err := http.Open(ctx, "https://ids.example.com?token=env:SORTID_TOKEN")
//
// The URL is https://HOST:PORT/PATH?token=TOKEN, or http:// without encryption. PATH is for a proxy
// in front of the server. The parameters are
//
//   - token: the token, or env:NAME for the one in an environment variable;
//   - ca, cert and key, which package [github.com/sortid/sortid/store] explains.
//
// Each method of the Store is one POST request with JSON, sent once. A proxy must not repeat a POST
// request, which none does by default: a change that was made would be reported as refused.
//
// The guarantee is the same as for the server's own store; see [Store.Conditions]. All servers
// behind one address must use the same store.
package http
