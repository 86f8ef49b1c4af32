// Package http leases node IDs from the store of a server, "sortid serve". Programs need only HTTP,
// and no database password.
//
//	store, err := http.Open(ctx, "https://ids.example.com?token=env:SORTID_TOKEN")
//
// The URL is https://HOST:PORT/PATH?token=TOKEN, or http:// without encryption. PATH is only
// needed if a proxy in front of the server requires it. The parameters are
//
//   - token: the token, or env:NAME if the environment variable NAME has the token;
//   - ca, cert and key, which package [github.com/sortid/sortid/store] explains.
//
// The methods of the Store send POST requests with JSON. They send a change only once. A proxy must
// not repeat a request. Otherwise the client can get a refusal, although the first request made the
// change.
//
// This store guarantees what the server's own store guarantees; see [Store.Conditions]. All servers
// behind one address must use the same store.
package http
