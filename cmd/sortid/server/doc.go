// Package server serves IDs, their inspection and a store of leases over HTTP.
//
// A [Server] keeps no state. With a [lease.Store] it leases its own node IDs, and offers the
// store to other processes. Any number of servers may share one store.
//
//	s, err := server.New(server.Config{Store: store, Logger: logger})
//	if err != nil {
//		...
//	}
//	defer s.Close(context.Background())
//	s.HTTPServer().Serve(listener)
//
// The server describes its endpoints at /openapi.json.
package server
