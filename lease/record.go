package lease

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Format is what a lease must know about an ID format.
type Format struct {
	Name  string        // Such as "scru64", or "" if any generator may lease.
	Mixed bool          // Leases of several sizes may share a realm.
	Bits  int           // the largest node ID size
	Tick  time.Duration // the unit of the timestamp; whole milliseconds
	Epoch time.Time     // the start of tick 0; whole milliseconds
}

// SCRU64 returns the Format of SCRU64. Package nodefield has the Formats of all formats with node IDs.
func SCRU64() Format {
	return Format{Name: "scru64", Mixed: true, Bits: 23, Tick: 256 * time.Millisecond,
		Epoch: time.UnixMilli(0).UTC()}
}

// SCRU160 returns the Format of SCRU160.
func SCRU160() Format {
	return Format{Name: "scru160", Bits: 16, Tick: time.Millisecond, Epoch: time.UnixMilli(0).UTC()}
}

// UID60 returns the Format of uid60, with the epoch 2018-03-01.
func UID60() Format {
	return Format{Name: "uid60", Bits: 9, Tick: time.Millisecond,
		Epoch: time.UnixMilli(1519862400000).UTC()}
}

// MaxBits is the largest size of a node ID, in bits.
const MaxBits = 24

// A Block is a node ID with its size in bits. It contains all node IDs of more bits that begin with
// its bits: 42/8 contains its halves 84/9 and 85/9. The zero Block is the whole realm. A Block of
// 25 bits is not a node ID: its record helps a [StoreLessor] to find leases.
type Block struct {
	NodeID uint32
	Size   uint8
}

func (b Block) String() string {
	return strconv.FormatUint(uint64(b.NodeID), 10) + "/" + strconv.Itoa(int(b.Size))
}

func (b Block) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// ErrBlock: a text is not a [Block].
var ErrBlock = newError("not a node ID and its size, such as 42/8")

// ParseBlock reads a text such as 42/8. An error matches [ErrBlock].
func ParseBlock(s string) (Block, error) {
	node, size, _ := strings.Cut(s, "/")
	n, err1 := strconv.ParseUint(node, 10, 32)
	k, err2 := strconv.ParseUint(size, 10, 8)
	b := Block{uint32(n), uint8(k)}
	if err1 != nil || err2 != nil || k > bucketSize || n >= 1<<min(k, MaxBits) || b.String() != s {
		return Block{}, errorf(ErrBlock, "%.40q", s)
	}
	return b, nil
}

func (b *Block) UnmarshalText(text []byte) (err error) {
	parsed, err := ParseBlock(string(text))
	if err == nil {
		*b = parsed
	}
	return err
}

// Contains reports whether the bits of b are the first bits of c.
func (b Block) Contains(c Block) bool {
	return b.Size <= c.Size && c.NodeID>>(c.Size-b.Size) == b.NodeID
}

func (b Block) parent() Block { return Block{b.NodeID >> 1, b.Size - 1} }

func (b Block) child(i uint32) Block { return Block{b.NodeID<<1 | i, b.Size + 1} }

func (b Block) toward(c Block) Block { return b.child(c.NodeID >> (c.Size - b.Size - 1) & 1) }

// An Owner identifies the holder of one node ID. It is the hash of a random key that only the
// holder knows. The zero Owner is nobody.
type Owner [16]byte

func ownerOf(key Owner) Owner {
	sum := sha256.Sum256(key[:])
	return Owner(sum[:len(Owner{})])
}

func newGeneration() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func (o Owner) String() string { return hex.EncodeToString(o[:]) }

func (o Owner) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

func (o *Owner) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(o) {
		return fmt.Errorf("lease: an owner is %d hexadecimal digits, not %.40q", 2*len(o), text)
	}
	*o = Owner(b)
	return nil
}

// A State says what may be done with a block. Whole blocks never overlap.
type State uint8

const (
	// Retired: the block is not in use, like a block without a record. A retired half of a split
	// block can become whole.
	Retired State = iota
	// Whole: the block may be granted or split.
	Whole
	// Split: the two halves of the block may become whole.
	Split
	// Merging: a process retires the two halves, and then makes the block whole.
	Merging
)

var states = []string{"retired", "whole", "split", "merging"}

func (s State) String() string {
	if int(s) < len(states) {
		return states[s]
	}
	return "state " + strconv.Itoa(int(s))
}

func (s State) MarshalText() ([]byte, error) {
	if int(s) >= len(states) {
		return nil, fmt.Errorf("lease: there is no %v", s)
	}
	return []byte(states[s]), nil
}

func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(states, string(text))
	if i < 0 {
		return fmt.Errorf("lease: there is no state %.40q", text)
	}
	*s = State(i)
	return nil
}

// Terms are the settings that all leases of a realm share. [SetTerms] and [Fence] can change the
// window and the lead.
type Terms struct {
	Bits  int   `json:"bits"`  // the largest node ID size
	Tick  int64 `json:"tick"`  // in milliseconds
	Epoch int64 `json:"epoch"` // the start of tick 0, in Unix milliseconds

	Format string `json:"format,omitzero"` // the format's name; "" if any generator may lease
	Only   int    `json:"only,omitzero"`   // the only size of node IDs; 0: any up to Bits

	Window int64 `json:"window"` // how many ticks ahead a renewal extends a lease
	Lead   int64 `json:"lead"`   // how many ticks ahead a grant may start

	// The longest window and lead since the last fence. 0 means the same as Window or Lead.
	MostWindow int64 `json:"most_window,omitzero"`
	MostLead   int64 `json:"most_lead,omitzero"`
}

// checkTerms returns [ErrRealm] if these terms cannot come from a valid [Config].
func checkTerms(root Record) error {
	const hour = int64(time.Hour / time.Millisecond)
	t := root.Terms
	if t.Bits < 1 || t.Bits > MaxBits || t.Tick < 1 || t.Tick > hour ||
		t.Window < 1 || t.Window > 24*hour/t.Tick || t.Lead < 1 || t.Lead > 24*hour/t.Tick ||
		t.MostWindow < 0 || t.MostWindow > 24*hour/t.Tick || t.MostLead < 0 ||
		t.MostLead > 24*hour/t.Tick {
		return errorf(ErrRealm, "the terms of %q make no sense, "+
			"so another program has written its record: %+v", root.Realm, t)
	}
	return nil
}

// LeaseFormat returns the Format of a [Config] for leases of a realm with these terms.
func (t Terms) LeaseFormat() Format {
	return Format{Name: t.Format, Mixed: t.Only == 0, Bits: t.Bits, Tick: t.Duration(1),
		Epoch: time.UnixMilli(t.Epoch)}
}

// Time returns when a tick begins, in UTC.
func (t Terms) Time(tick int64) time.Time {
	return time.UnixMilli(t.Epoch + tick*t.Tick).UTC()
}

// At returns the tick of a time, negative before the epoch.
func (t Terms) At(at time.Time) int64 {
	ms := at.UnixMilli() - t.Epoch
	if ms < 0 {
		return (ms+1)/t.Tick - 1
	}
	return ms / t.Tick
}

// Duration returns the length of a number of ticks.
func (t Terms) Duration(ticks int64) time.Duration {
	return time.Duration(ticks*t.Tick) * time.Millisecond
}

func (t Terms) ticks(d time.Duration) int64 {
	tick := t.Duration(1)
	n := int64(d / tick)
	if d%tick != 0 && d < 24*time.Hour {
		n++
	}
	return n
}

// Rounded returns a round duration that needs this number of ticks. For example, it returns 1
// minute for 235 ticks of 256 ms, which take 60.16 s.
func (t Terms) Rounded(ticks int64) time.Duration {
	exact := t.Duration(ticks)
	for _, unit := range []time.Duration{time.Minute, time.Second, 100 * time.Millisecond,
		10 * time.Millisecond} {
		if d := exact.Truncate(unit); d > t.Duration(ticks-1) {
			return d
		}
	}
	return exact
}

// A Record is what a [Store] keeps: one for each realm, with the zero Block, and one for each block
// that was ever needed. Records are comparable with ==.
type Record struct {
	// Realm is the realm's name. In a block's record, @ and the realm's Generation follow. [Fence]
	// changes the Generation, so older records of blocks no longer belong to the realm.
	Realm string `json:"realm"`
	Block Block  `json:"block"`
	// Revision counts the changes, from 0 for a missing record.
	Revision uint64 `json:"revision,string"`
	// HWM, the high-water mark, is the first tick that can still be granted. For a whole block,
	// grants of overlapping blocks count, too. Only a release and [Reclaim] lower HWM. In the
	// realm's record, HWM is the floor: no grant of the generation starts below it.
	HWM   int64 `json:"hwm,string"`
	State State `json:"state"`

	// The holder of a whole block, or zero.
	Owner Owner `json:"owner,omitzero"`
	// The first tick granted to the owner.
	From int64 `json:"from,omitzero,string"`
	// Request is a new random number for each request of a session. A client of a [StoreLessor] can
	// determine it for each renewal.
	Request  uint64 `json:"request,omitzero,string"`
	Deadline int64  `json:"deadline,omitzero,string"` // the tick when others may take the block
	// The holder's name. After a release or an eviction, Name and From are the former owner's.
	Name string `json:"name,omitzero"`
	// Window is the lease's own window in ticks; 0 means the realm's.
	Window int64 `json:"window,omitzero"`
	// Peak is the highest HWM that the block ever had. No release lowers it.
	Peak int64 `json:"peak,omitzero,string"`
	// Released is the tick of the store's clock at which the holder released the block without
	// saying which ticks it had used. It is 0 after any other change, such as an eviction.
	Released int64 `json:"released,omitzero,string"`

	// While a client of a [StoreLessor] holds the block, Key is a hash of the client's request and
	// of this grant. After a release or an eviction, Key is the former Owner.
	Key Owner `json:"key,omitzero"`

	// Only the realm's record has Terms and Generation. Generation is random.
	Terms      Terms  `json:"terms,omitzero"`
	Generation string `json:"generation,omitzero"`
}

// Matches reports whether CompareAndSet may replace r, the stored record, for a caller who has read
// prev. If r.Revision is 0, the store holds no record.
func (r Record) Matches(prev Record) bool {
	return r.Revision == prev.Revision && (r.HWM == prev.HWM || r.Revision == 0)
}

// Held reports whether somebody holds the node ID at a tick of the store's clock.
func (r Record) Held(now int64) bool {
	return r.State == Whole && r.Owner != Owner{} && now < r.Deadline
}

const maxName = 100 // bytes

func checkName(what, s string) error {
	switch {
	case len(s) > maxName:
		return errorf(ErrConfig, "the %s has %d bytes, want at most %d", what, len(s), maxName)
	case !utf8.ValidString(s):
		return errorf(ErrConfig, "the %s %q is not UTF-8", what, s)
	case strings.ContainsFunc(s, unicode.IsControl):
		return errorf(ErrConfig, "the %s %q has control characters", what, s)
	}
	return nil
}

func checkRealm(name string) error {
	switch {
	case name == "" || strings.Contains(name, "@"):
		return errorf(ErrConfig, "the realm %q: want a name without @", name)
	case name == "." || name == ".." || name == "/": // a URL cannot have it
		return errorf(ErrConfig, "the realm %q: want another name than \".\", \"..\" and \"/\"", name)
	}
	return checkName("realm", name)
}
