package lease

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
)

// digits are the digits of ULIDs, in lower case.
var digits = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func undigit(s string, b []byte) bool {
	got, err := digits.DecodeString(s)
	return err == nil && len(got) == len(b) && copy(b, got) == len(b) &&
		digits.EncodeToString(b) == s
}

// A leaseID finds the record of a lease, and says which of the record's leases it is.
type leaseID struct {
	block      Block
	generation [4]byte // the first bytes of the realm's generation
	owner      Owner
}

func newLeaseID(root Record, b Block, owner Owner) leaseID {
	id := leaseID{block: b, owner: owner}
	hex.Decode(id.generation[:], []byte(root.Generation)[:min(2*len(id.generation),
		len(root.Generation))])
	return id
}

func (id leaseID) String() string {
	b := binary.BigEndian.AppendUint32(nil, uint32(id.block.Size)<<MaxBits|id.block.NodeID)
	b = append(b, id.generation[:]...)
	return digits.EncodeToString(append(b, id.owner[:]...))
}

func parseLeaseID(s string) (id leaseID, ok bool) {
	var b [4 + len(id.generation) + len(id.owner)]byte
	if !undigit(s, b[:]) {
		return id, false
	}
	n := binary.BigEndian.Uint32(b[:])
	id.block = Block{n & (1<<MaxBits - 1), uint8(n >> MaxBits)}
	id.generation, id.owner = [4]byte(b[4:]), Owner(b[8:])
	return id, id.block.Size >= 1 && id.block.Size <= MaxBits &&
		id.block.NodeID < 1<<id.block.Size && id.owner != Owner{}
}

// of reports whether the lease is of the realm's present generation.
func (id leaseID) of(root Record) bool {
	return newLeaseID(root, id.block, id.owner) == id
}

// A client's secret is a key, whose hash is the owner of the client's lease. Each lessor can
// compute the key from the client's request and the record. Somebody who knows only the records
// cannot.
func clientKey(request, space string, salt Owner) Owner {
	h := hmac.New(sha256.New, []byte(request))
	h.Write(salt[:])
	h.Write([]byte(space))
	return Owner(h.Sum(nil)[:len(Owner{})])
}

func secretOf(key Owner) string { return digits.EncodeToString(key[:]) }

func parseSecret(s string) (key Owner, err error) {
	if !undigit(s, key[:]) {
		return key, &RequestError{"secret", "it is not the secret of any lease"}
	}
	return key, nil
}
