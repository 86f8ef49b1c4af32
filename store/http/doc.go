// Package http leases node IDs through a server, "sortid serve", which gives access to its own
// store. Programs need only HTTP, and no database password.
//
//	store, err := http.Open(ctx, "https://ids.example.com?token=env:SORTID_TOKEN")
//
// The URL is https://HOST:PORT/PATH?token=TOKEN, or http:// without encryption. PATH is only
// needed if a proxy in front of the server wants it. The parameters are
//
//   - token: the token, or env:NAME if the environment variable NAME has the token;
//   - ca, cert and key, which package [github.com/sortid/sortid/store] explains.
//
// Each method of the Store sends a POST request with JSON. A change is sent only once. A proxy must
// not repeat it: the server would refuse the repetition, although the change was made.
//
// This store guarantees what the server's own store guarantees; see [Store.Conditions]. All servers
// behind one address must use the same store.
package http
