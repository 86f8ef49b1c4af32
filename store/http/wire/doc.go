// Package wire has the bodies of requests and answers about leases over HTTP, and the codes of
// errors. Package [github.com/sortid/sortid/store/http] and the server of "sortid serve" use it.
// Programs need only package http. docs/service.md says what the fields mean.
//
// Names in JSON that end in _ms are milliseconds; times count from 1970.
package wire
