// Package http leases node IDs from a server, "sortid serve". Programs need only HTTP, and no
// database password.
//
//	client, err := http.Open(ctx, "https://ids.example.com?token=env:SORTID_TOKEN")
//	...
//	l, err := lease.AcquireFrom(ctx, client, lease.Config{
//		Realm: "orders", Format: lease.SCRU64(), NodeBits: 8,
//	})
//
// The URL is https://HOST:PORT/PATH?token=TOKEN, or http:// without encryption. PATH is only
// needed if a proxy in front of the server requires it. The parameters are
//
//   - token: the token, or env:NAME if the environment variable NAME has the token;
//   - ca, cert and key, which package [github.com/sortid/sortid/store] explains.
//
// A [Client] sends requests to the resources below /v1/realms, which docs/service.md describes. The
// server and any proxy may get each request several times: the outcome is the same. So all servers
// behind one address must use the same store.
//
// Leases of a server guarantee what the server's store guarantees; see [Client.Conditions].
package http
