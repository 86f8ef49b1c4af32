package lease

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"
)

// A lessor must find the lease that an earlier copy of a request got, without a list of all leases.
// So each grant to a client also writes an entry into a bucket, in the same CompareAndSetMany. A
// bucket is a record of the space. Its Block has the size bucketSize, and its Name has the entries.
// The request's hash determines the bucket. An entry has a tag, which is a part of that hash,
// a block, and the revision of the grant. The tag is also the beginning of the Key of the block's
// record.
//
// Some stores may write an entry without the grant. If the revision shows that the grant was not
// made, another copy of the request may replace the entry.
const (
	bucketSize    = MaxBits + 1
	bucketEntries = 7
	bucketsKept   = 3  // of a full bucket, enter keeps at least this many entries
	maxBucketBits = 16 // 65,536 buckets take about 20 MB
)

type tag [6]byte

type entry struct {
	tag      tag
	block    Block
	revision uint32 // its low bits
}

// bucketOf returns the bucket and the tag of a request.
func bucketOf(request string, t Terms) (Block, tag) {
	h := hmac.New(sha256.New, []byte(request))
	h.Write([]byte("bucket"))
	sum := h.Sum(nil)
	bits := t.Bits
	if t.Only != 0 {
		bits = t.Only
	}
	n := binary.BigEndian.Uint32(sum) & (1<<min(maxBucketBits, bits-1) - 1)
	return Block{n, bucketSize}, tag(sum[4:])
}

// entries returns the entries of a bucket, the oldest first.
func entries(bucket Record) (es []entry, err error) {
	text, err := base64.RawStdEncoding.DecodeString(bucket.Name)
	const size = len(tag{}) + 8
	if err != nil || len(text)%size != 0 {
		return nil, errorf(ErrRecord, "%.120q is not a list of leases, in the record of %v of %q",
			bucket.Name, bucket.Block, bucket.Realm)
	}
	for e := range slices.Chunk(text, size) {
		n, revision := binary.BigEndian.Uint32(e[len(tag{}):]), e[len(tag{})+4:]
		es = append(es, entry{tag(e), Block{n & (1<<MaxBits - 1), uint8(n >> MaxBits)},
			binary.BigEndian.Uint32(revision)})
	}
	return es, nil
}

func bucketName(es []entry) string {
	var text []byte
	for _, e := range es {
		text = append(text, e.tag[:]...)
		text = binary.BigEndian.AppendUint32(text,
			uint32(e.block.Size)<<MaxBits|e.block.NodeID)
		text = binary.BigEndian.AppendUint32(text, e.revision)
	}
	return base64.RawStdEncoding.EncodeToString(text)
}

// A foundError says that a request has an entry in its bucket.
type foundError struct{ entry }

func (e *foundError) Error() string {
	return "lease: an earlier copy of this request got " + e.block.String()
}

// keys returns the Key of the granted record, and the client's key. No other grant of the space has
// this block and revision, so no other lease has these keys.
func (e entry) keys(request, space string) (salt, key Owner) {
	h := hmac.New(sha256.New, []byte(request))
	fmt.Fprintf(h, "salt %v %d %s", e.block, e.revision, space)
	copy(salt[copy(salt[:], e.tag[:]):], h.Sum(nil))
	return salt, clientKey(request, space, salt)
}

// see remembers the bucket's record. It fails with a foundError if the claimant's request has an
// entry that is not void.
func (c *claimant) see(bucket Record) error {
	es, err := entries(bucket)
	if err != nil {
		return err
	}
	c.record = bucket
	if i := c.index(es); i >= 0 && es[i] != c.void {
		return &foundError{es[i]}
	}
	return nil
}

func (c *claimant) index(es []entry) int {
	return slices.IndexFunc(es, func(e entry) bool { return e.tag == c.tag })
}

// enter returns the change that enters the grant into the bucket.
func (c *claimant) enter(ctx context.Context, s *session, grant *Record) ([]Change, error) {
	prev := c.record
	es, err := entries(prev)
	if err != nil {
		return nil, err
	}
	if i := c.index(es); i >= 0 { // the entry is void
		es = slices.Delete(es, i, i+1)
	}
	if len(es) >= bucketEntries {
		if es, err = c.tidy(ctx, s, es); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil { // the client has hung up
		return nil, context.Cause(ctx)
	}
	c.entry = entry{c.tag, grant.Block, uint32(grant.Revision)}
	grant.Key, c.key = c.entry.keys(c.Request, s.space())
	grant.Owner = ownerOf(c.key)
	next := prev
	next.Revision++
	next.Name = bucketName(append(es, c.entry))
	return []Change{{prev, next}}, nil
}

// tidy removes entries whose lease has ended or, if there is none, the oldest entry. If the request
// of a removed entry is repeated, it gets another lease. This wastes a node ID until that lease
// ends.
func (c *claimant) tidy(ctx context.Context, s *session, es []entry) ([]entry, error) {
	blocks := make([]Block, len(es))
	for i, e := range es {
		blocks[i] = e.block
	}
	records, err := s.store.GetMany(ctx, s.space(), blocks)
	if err != nil {
		return nil, s.failed("read node IDs", err)
	}
	left := len(es)
	var kept []entry
	for i, e := range es {
		r := records[i]
		if left > bucketsKept && (r.State != Whole || r.Owner == (Owner{}) || tag(r.Key[:]) != e.tag) {
			left--
			continue
		}
		kept = append(kept, e)
	}
	return kept[len(kept)-min(len(kept), bucketEntries-1):], nil
}

// confirmed reads the bucket again if the store may have written it without the grant. Then another
// copy of the request may have changed it before the grant was made.
func (c *claimant) confirmed(ctx context.Context, s *session) (bool, error) {
	if c.lessor.atomic {
		return true, nil
	}
	records, err := s.store.GetMany(ctx, s.space(), []Block{c.bucket})
	if err != nil {
		return false, s.failed("read node IDs", err)
	}
	es, err := entries(records[0])
	if err != nil {
		return false, err
	}
	i := c.index(es)
	return i >= 0 && es[i] == c.entry, nil
}
