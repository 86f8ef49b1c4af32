package kubernetes

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/lease"
)

// An object is a Lease of Kubernetes, without the fields that the store does not need.
type object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       spec     `json:"spec"`
}

type metadata struct {
	Name            string            `json:"name"`
	UID             string            `json:"uid,omitzero"`
	ResourceVersion string            `json:"resourceVersion,omitzero"`
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
}

// The fields of a spec are for people.
type spec struct {
	Holder      string `json:"holderIdentity,omitzero"`
	Acquired    string `json:"acquireTime,omitzero"`
	Renewed     string `json:"renewTime,omitzero"`
	Seconds     int64  `json:"leaseDurationSeconds,omitzero"`
	Transitions int32  `json:"leaseTransitions,omitzero"`
}

const (
	annotation      = "sortid/record"
	labelRealm      = "sortid/realm"
	labelGeneration = "sortid/generation"
	labelNode       = "sortid/node-id"
	labelBlock      = "sortid/block"
	labelState      = "sortid/state"
)

// A version says which object was read. An update of a missing object would create it, so the UID
// is a part of the condition. The zero version is of a missing object.
type version struct {
	uid, resourceVersion string
	spec                 spec
}

func (o *object) version() version {
	return version{o.Metadata.UID, o.Metadata.ResourceVersion, o.Spec}
}

// newObject returns the object of a record. The terms of its realm are zero if they are unknown.
func newObject(r lease.Record, value string, was version, terms lease.Terms,
	now time.Time) *object {
	return &object{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease",
		Metadata: metadata{
			Name: nameOf(r.Realm, r.Block), UID: was.uid, ResourceVersion: was.resourceVersion,
			Labels: labels(r), Annotations: map[string]string{annotation: value},
		},
		Spec: was.spec.next(r, terms, now),
	}
}

func labels(r lease.Record) map[string]string {
	realm, generation := split(r.Realm)
	l := map[string]string{labelRealm: encode(realm), labelState: state(r),
		labelBlock: blockOf(r.Block)}
	if generation != "" {
		l[labelGeneration] = encode(generation)
	}
	if l[labelState] != "realm" && l[labelState] != "bucket" {
		l[labelNode] = strconv.FormatUint(uint64(r.Block.NodeID), 10)
	}
	return l
}

// blockOf returns the value of [labelBlock], such as 42-8.
func blockOf(b lease.Block) string { return strings.Replace(b.String(), "/", "-", 1) }

func state(r lease.Record) string {
	_, generation := split(r.Realm)
	switch {
	case r.Block == (lease.Block{}) && generation == "":
		return "realm"
	case r.Block.Size > lease.MaxBits:
		return "bucket"
	case r.State == lease.Whole && r.Owner != lease.Owner{}:
		return "held"
	case r.State == lease.Whole:
		return "free"
	}
	return r.State.String()
}

const microTime = "2006-01-02T15:04:05.000000Z07:00"

// next returns the spec after s.
func (s spec) next(r lease.Record, terms lease.Terms, now time.Time) spec {
	is := spec{Transitions: s.Transitions}
	if r.Owner == (lease.Owner{}) || r.Block.Size > lease.MaxBits {
		return is
	}
	is.Holder = cmp.Or(r.Name, "?")
	is.Acquired, is.Renewed = s.Acquired, now.UTC().Format(microTime)
	if is.Holder != s.Holder {
		is.Acquired = is.Renewed
		is.Transitions++
	}
	if terms.Tick > 0 {
		left := terms.Time(r.HWM).Sub(now).Round(time.Second)
		is.Seconds = max(1, min(int64(left.Seconds()), 1<<31-1))
	}
	return is
}

// split returns the two parts of a record's realm: the realm's name and, for a block, the realm's
// generation.
func split(realm string) (name, generation string) {
	if i := strings.LastIndexByte(realm, '@'); i >= 0 && i+1 < len(realm) {
		return realm[:i], realm[i+1:]
	}
	return realm, ""
}

// nameOf returns the name of the object. No two records share a name.
func nameOf(realm string, b lease.Block) string {
	name, generation := split(realm)
	parts := []string{"sortid", encode(name)}
	if b != (lease.Block{}) || generation != "" {
		digits := len(strconv.Itoa(1<<b.Size - 1)) // so that kubectl sorts by node ID
		parts = append(parts, fmt.Sprintf("%0*d-%d", digits, b.NodeID, b.Size))
	}
	if generation != "" {
		parts = append(parts, encode(generation))
	}
	return strings.Join(parts, ".")
}

// Most runs of a program that links this package do not use these.
var (
	plain = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	})
	notPlain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })
)

// encode returns a text that can be a label's value, and a part of an object's name. Different
// names have different texts. A name that is not plain gets -- and its hash.
func encode(name string) string {
	if plain().MatchString(name) && !strings.Contains(name, "--") {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	readable := notPlain().ReplaceAllString(strings.ToLower(name), "-")
	readable = strings.Trim(readable[:min(len(readable), 24)], "-")
	return cmp.Or(readable, "realm") + "--" + hex.EncodeToString(sum[:16])
}

// record returns the record in an object that was listed for the realm.
func (o *object) record(realm string) (r lease.Record, err error) {
	err = json.Unmarshal([]byte(o.Metadata.Annotations[annotation]), &r)
	switch {
	case err != nil:
	case r.Revision == 0:
		err = errors.New("it has no revision")
	case r.Realm != realm || nameOf(r.Realm, r.Block) != o.Metadata.Name:
		err = fmt.Errorf("it is the record of %v of realm %q", r.Block, r.Realm)
	}
	if err != nil {
		err = fmt.Errorf("the annotation %s of the Lease %s is not its record: %w", annotation,
			o.Metadata.Name, err)
	}
	return r, err
}
