package leaseapi

import (
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
	"github.com/sortid/sortid/store/http/wire"
)

type evictBody struct{}

// realmConfig returns the configuration of a new realm. Without a Format, the realm is for any
// generator. Without NodeBits, it has the sizes of the format.
func realmConfig(realm string, b wire.MakeRealm) (lease.Config, error) {
	bits := 0
	if b.NodeBits != nil {
		bits = int(*b.NodeBits)
	}
	c := lease.Config{NodeBits: bits}
	switch {
	case b.Format == nil && b.NodeBits == nil:
		return c, invalid("format", "missing; want a format, node_bits, or both")
	case b.Format != nil:
		f, err := nodefield.Lookup(*b.Format)
		if err != nil {
			return c, invalid("format", "%v", err)
		}
		if c, err = nodefield.Config(f, bits); err != nil {
			return c, invalid("node_bits", "%v", err)
		}
	}
	c.Realm, c.Window, c.MaxLead = realm, wire.Duration(b.WindowMS), wire.Duration(b.LeadMS)
	return c, nil
}
