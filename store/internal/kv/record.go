// Package kv has what the stores on key-value servers share: a record is one value, its JSON, which
// is replaced if it is still the value that was read.
package kv

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sortid/sortid/lease"
)

func Encode(r lease.Record) ([]byte, error) {
	if r.Revision == 0 {
		return nil, errors.New("a record with revision 0 means none and cannot be stored")
	}
	return json.Marshal(r)
}

// Decode fails if Encode did not make the value for the key of realm and b.
func Decode(value []byte, realm string, b lease.Block) (lease.Record, error) {
	var r lease.Record
	err := json.Unmarshal(value, &r)
	switch {
	case err != nil:
	case r.Realm != realm || r.Block != b:
		err = fmt.Errorf("it is the record of %v of realm %q", r.Block, r.Realm)
	case r.Revision == 0:
		err = errors.New("it has no revision")
	}
	if err != nil {
		return lease.Record{}, fmt.Errorf("what is stored for %v of realm %q is not its record: %w",
			b, realm, err)
	}
	return r, nil
}
