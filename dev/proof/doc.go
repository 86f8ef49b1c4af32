// Package proof checks models of the protocol of leases with spin. The models are written from
// docs/leases.md, and share no code with package lease.
package proof
