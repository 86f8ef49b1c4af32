// Package http leases through a server, "sortid serve", which hands on its own store. The
// programs that lease need no password of the database, and reach it by HTTP.
//
//	store, err := http.Open(ctx, "https://ids.example.com?token=env:SORTID_TOKEN")
//	...
//	defer store.Close()
//	l, err := lease.Acquire(ctx, store, lease.Config{Realm: "orders", Format: lease.SCRU64, NodeBits: 8})
//
// # URL
//
// https://HOST:PORT/PATH?token=TOKEN, or http:// without encryption. PATH is what a proxy
// in front of the server wants, if anything. The parameters are
//
//   - token: the token, or env:NAME for the one in an environment variable;
//   - ca: a file with the certificates that are trusted; by default the system's;
//   - cert and key: files with the certificate and the key of this client, where the
//     server demands them.
//
// # How it works
//
// Each method of the Store is one POST request to /v1/store/ on the server, with JSON. The
// package sends each request once and follows no redirect. A proxy in front of the server
// must not send a POST request again on its own: a change that was carried out would then
// be reported as refused. Proxies do not, unless told to.
//
// # Guarantee
//
// That of the server's own store, which [Store.Conditions] tells. All servers behind one
// address must use the same store.
package http
