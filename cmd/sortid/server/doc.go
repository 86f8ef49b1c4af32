// Package server serves IDs, their inspection and a store of leases over HTTP.
//
// A [Server] keeps no state of its own: with a [lease.Store] it leases the node IDs that
// it needs itself, and hands the store to other processes. Any number of servers may stand
// side by side on one store.
//
//	s, err := server.New(server.Config{Store: store, Logger: logger})
//	if err != nil {
//		...
//	}
//	defer s.Close(context.Background())
//	s.HTTPServer().Serve(listener)
//
// The endpoints are described by the server itself, at /openapi.json.
package server
