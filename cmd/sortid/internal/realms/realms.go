// Package realms reads realms and node IDs of a store or a server, and shows them.
package realms

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

// A Realm is a snapshot of a realm.
type Realm struct {
	Name    string
	Root    lease.Record
	order   []lease.Block
	records map[lease.Block]lease.Record
	now     int64         // the current tick, by the store's clock
	skew    time.Duration // the store's clock minus this machine's

	// Only from a server, which shows leases instead of records:
	ids  map[lease.Block]string
	free float64 // the free share
}

func (r *Realm) fromServer() bool { return r.ids != nil }

// ReadAll reads the named realm or, without a name, all realms. If it cannot read some records, it
// prints why, and returns the rest with console.ErrReported.
func ReadAll(ctx context.Context, c *console.Console, source *store.Source,
	name string) (realms []*Realm, err error) {
	names := []string{name}
	if name == "" {
		if names, err = namesOf(ctx, source); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, errors.New("the store has no realms")
		}
	}
	for _, n := range names {
		r, problem := loadFrom(ctx, source, n)
		switch {
		case r == nil && name != "":
			return nil, problem
		case problem != nil:
			c.Say("realm %q: %v", n, problem)
			err = console.ErrReported
		}
		if r != nil {
			realms = append(realms, r)
		}
	}
	return realms, err
}

func realmNames(ctx context.Context, st store.Store) ([]string, error) {
	names, err := st.Realms(ctx)
	slices.Sort(names)
	return names, err
}

func namesOf(ctx context.Context, source *store.Source) (names []string, err error) {
	if source.Store != nil {
		return realmNames(ctx, source.Store)
	}
	for next := ""; len(names) == 0 || next != ""; {
		var some []lease.RealmInfo
		if some, next, err = source.Server.Realms(ctx, nil, next, pageSize); err != nil {
			return nil, err
		}
		for _, r := range some {
			names = append(names, r.Name)
		}
		if len(some) == 0 {
			break
		}
	}
	return names, nil
}

const pageSize = 1000

func loadFrom(ctx context.Context, source *store.Source, name string) (*Realm, error) {
	if source.Store != nil {
		return load(ctx, source.Store, name)
	}
	return loadServer(ctx, source.Server, name)
}

func ReadOne(ctx context.Context, c *console.Console, source *store.Source,
	name string) (*Realm, error) {
	realms, err := ReadAll(ctx, c, source, name)
	switch {
	case err == console.ErrReported && name == "":
		return nil, errors.New("choose the realm with --realm")
	case err != nil && err != console.ErrReported:
		return nil, err
	}
	if len(realms) > 1 {
		var names []string
		for _, r := range realms {
			names = append(names, r.Name)
		}
		return nil, console.UsageErrorf("the store has several realms; choose one with --realm: %s",
			strings.Join(names, ", "))
	}
	return realms[0], nil
}

// If some records cannot be read, load returns the others, and an error that matches
// [lease.ErrRecord].
func load(ctx context.Context, st store.Store, name string) (*Realm, error) {
	root, blocks, unread := lease.Records(ctx, st, name)
	switch {
	case errors.Is(unread, lease.ErrRecord):
	case errors.Is(unread, lease.ErrConfig):
		return nil, console.UsageError(unread)
	case unread != nil:
		return nil, unread
	}
	here := time.Now()
	now, err := st.Time(ctx)
	if errors.Is(err, lease.ErrNoTime) {
		now, err = here, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Realm{Name: name, Root: root, records: map[lease.Block]lease.Record{},
		now: root.Terms.At(now), skew: now.Sub(here)}
	for _, b := range blocks {
		r.order = append(r.order, b.Block)
		r.records[b.Block] = b
	}
	return r, unread
}

func (r *Realm) Block(text string) (lease.Block, error) {
	b, err := lease.ParseBlock(text)
	if err != nil {
		return b, console.UsageError(err)
	}
	if b.Size < 1 || int(b.Size) > r.Root.Terms.Bits {
		return b, console.UsageErrorf("%s: a node ID of realm %q has 1 to %d bits", text, r.Name,
			r.Root.Terms.Bits)
	}
	return b, nil
}

type Item interface{ lines() [][2]string }

// An Entry is a record for people. 64-bit integers are texts.
type Entry struct {
	Realm      string `json:"realm"`
	Generation string `json:"generation,omitempty"`
	Block      string `json:"block"`
	NodeID     string `json:"node_id"`
	Size       int    `json:"node_bits"`
	State      string `json:"state"`
	Holder     string `json:"holder,omitempty"`
	Owner      string `json:"owner,omitempty"`
	Until      string `json:"until,omitempty"`     // the end of all grants
	FreeFrom   string `json:"free_from,omitempty"` // when another process can have it
	LeadMS     *int64 `json:"lead_ms,omitempty"`   // how far Until is ahead of the clock
	HWM        string `json:"hwm,omitempty"`
	Deadline   string `json:"deadline,omitempty"`
	Request    string `json:"request,omitempty"`
	Revision   string `json:"revision,omitempty"`
	ID         string `json:"id,omitempty"` // of the lease; only from a server

	block lease.Block
	lead  time.Duration
}

type Listing int

const (
	WholeBlocks Listing = iota // node IDs that are neither split nor part of a larger one
	AllBlocks
	OutOfUse // node IDs that nobody uses and nobody can have yet
)

func (r *Realm) Entries(which Listing) (entries []Entry) {
	for _, b := range r.order {
		rec := r.records[b]
		if rec.State != lease.Whole && which != AllBlocks {
			continue
		}
		e := r.entry(rec)
		if which == OutOfUse && !slices.Contains([]string{"expired", "spent", "ahead"}, e.State) {
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

func (r *Realm) entry(rec lease.Record) Entry {
	t := r.Root.Terms
	e := Entry{
		Realm: r.Name, Generation: r.Root.Generation, Block: rec.Block.String(),
		NodeID: strconv.FormatUint(uint64(rec.Block.NodeID), 10), Size: int(rec.Block.Size),
		State: r.state(rec), Holder: console.Printable(rec.Name),
		HWM: strconv.FormatInt(rec.HWM, 10), Revision: strconv.FormatUint(rec.Revision, 10),
		block: rec.Block,
	}
	if mark := r.mark(rec); mark != 0 {
		e.lead = t.Duration(mark - r.now)
		ms := e.lead.Milliseconds()
		e.Until, e.LeadMS = words.Time(t.Time(mark)), &ms
	}
	if rec.Owner != (lease.Owner{}) {
		e.Owner, e.Request = rec.Owner.String(), strconv.FormatUint(rec.Request, 10)
		e.Deadline = strconv.FormatInt(rec.Deadline, 10)
	}
	if from := r.freeFrom(rec); from > r.now {
		e.FreeFrom = words.Time(t.Time(from))
	}
	if e.State == "free" {
		e.Holder = "" // it was given back
	}
	if r.fromServer() { // the other members are known only to the store
		e.ID = r.ids[rec.Block]
		e.HWM, e.Revision, e.Owner, e.Request, e.Deadline = "", "", "", "", ""
	}
	return e
}

// IsHeld reports whether somebody holds the node ID.
func (e Entry) IsHeld() bool { return e.State == "held" || e.State == "expired" }

// Waits reports whether nobody holds the node ID, and nobody can have it yet.
func (e Entry) Waits() bool { return e.State == "spent" || e.State == "ahead" }

// mark returns the end of all grants that include a block: the largest HWM (high-water mark) of the
// block, of the blocks that contain it, and of the realm.
func (r *Realm) mark(rec lease.Record) int64 {
	mark := max(rec.HWM, r.Root.HWM)
	for b := rec.Block; b.Size > 1; {
		b = lease.Block{NodeID: b.NodeID >> 1, Size: b.Size - 1}
		mark = max(mark, r.records[b].HWM)
	}
	return mark
}

// freeFrom returns the first tick at which another process can have the block, if the lease is not
// renewed.
func (r *Realm) freeFrom(rec lease.Record) int64 {
	from := r.mark(rec) - r.Root.Terms.Lead
	if rec.Held(r.now) {
		from = max(from, rec.Deadline)
	}
	return from
}

func (r *Realm) state(rec lease.Record) string {
	switch {
	case rec.Revision == 0:
		return "unused"
	case rec.State != lease.Whole:
		return rec.State.String()
	case rec.Held(r.now) && r.now >= rec.HWM:
		return "expired"
	case rec.Held(r.now):
		return "held"
	case r.freeFrom(rec) > r.now+r.Root.Terms.Window:
		return "ahead"
	case r.freeFrom(rec) > r.now:
		return "spent"
	case rec.Owner != (lease.Owner{}):
		return "lapsed"
	}
	return "free"
}

func (e Entry) Who() string {
	if e.Holder != "" {
		return e.Holder
	}
	if e.Owner == "" {
		return "lease " + e.ID
	}
	return "owner " + e.Owner[:8]
}

func (e Entry) lines() [][2]string {
	return [][2]string{
		{"node ID", e.Block}, {"realm", realmText(e.Realm, e.Generation)},
		{"state", e.State},
		{"holder", e.Holder}, {"owner", e.Owner}, {"request", e.Request}, {"lease", e.ID},
		{"granted until", e.Until}, {"lead", e.leadText()},
		{"free from", e.FreeFrom}, {"changes", e.Revision},
	}
}

func realmText(name, generation string) string {
	if generation == "" {
		return name
	}
	return name + ", generation " + generation
}

func (e Entry) leadText() string {
	switch {
	case e.LeadMS == nil:
		return ""
	case e.lead > 0:
		return "+" + e.lead.String()
	}
	return e.lead.String()
}

// Around returns the entries of the block, and of blocks that overlap with it.
func (r *Realm) Around(b lease.Block) []Entry {
	rec, ok := r.records[b]
	if !ok {
		rec.Block = b
	}
	entries := []Entry{r.entry(rec)}
	for _, other := range r.order {
		if o := r.records[other]; other != b && o.State == lease.Whole &&
			(other.Contains(b) || b.Contains(other)) {
			entries = append(entries, r.entry(o))
		}
	}
	return entries
}

// A share says how much of a realm is in each state. The fields add up to 1.
type share struct {
	Held    float64 `json:"held"`
	Expired float64 `json:"expired"` // not renewed in time
	Free    float64 `json:"free"`
	Later   float64 `json:"not_yet"` // free, but a grant could not start yet
}

func (r *Realm) share() (s share) {
	for i := range uint32(2) {
		r.count(&s, lease.Block{NodeID: i, Size: 1}, r.Root.HWM)
	}
	if r.fromServer() && r.free < s.Free { // after a fence, only the server knows what is free
		s.Later, s.Free = s.Later+s.Free-r.free, r.free
	}
	return s
}

// count adds a block to s. The parameter mark is the highest HWM of the blocks that contain it.
func (r *Realm) count(s *share, b lease.Block, mark int64) {
	rec := r.records[b]
	mark = max(mark, rec.HWM)
	part := 1 / float64(uint64(1)<<b.Size)
	switch {
	case rec.State == lease.Split || rec.State == lease.Merging:
		for i := range uint32(2) {
			r.count(s, lease.Block{NodeID: b.NodeID<<1 | i, Size: b.Size + 1}, mark)
		}
	case rec.Held(r.now) && r.now >= rec.HWM:
		s.Expired += part
	case rec.Held(r.now):
		s.Held += part
	case mark > r.now+r.Root.Terms.Lead:
		s.Later += part
	default:
		s.Free += part
	}
}

func (s share) String() string {
	expired := ""
	if s.Expired != 0 {
		expired = percent(s.Expired) + " expired, "
	}
	return fmt.Sprintf("%s held, %s%s free, %s not available yet", percent(s.Held), expired,
		percent(s.Free), percent(s.Later))
}

func percent(f float64) string { return strconv.FormatFloat(100*f, 'g', 3, 64) + "%" }

type Summary struct {
	Realm      string `json:"realm"`
	Generation string `json:"generation,omitempty"`
	Format     string `json:"format,omitempty"`
	Bits       int    `json:"bits"`
	NodeBits   int    `json:"node_bits,omitempty"` // the only size of node IDs
	TickMS     int64  `json:"tick_ms"`
	EpochTime  string `json:"epoch"`
	WindowMS   int64  `json:"window_ms"`
	LeadMS     int64  `json:"max_lead_ms"`
	Floor      string `json:"floor,omitempty"` // no grant starts before it
	share
	Clock      string   `json:"clock,omitempty"`          // the store's
	AheadMS    *int64   `json:"clock_ahead_ms,omitempty"` // Clock minus this machine's clock
	Conditions []string `json:"conditions"`

	terms lease.Terms
	skew  time.Duration
}

func (r *Realm) Summary(conditions []string) Summary {
	t := r.Root.Terms
	ms := func(ticks int64) int64 { return ticks * t.Tick }
	sum := Summary{
		Realm: r.Name, Generation: r.Root.Generation, Format: t.Format, Bits: t.Bits,
		NodeBits: t.Only, TickMS: ms(1), EpochTime: words.Time(t.Time(0)), WindowMS: ms(t.Window),
		LeadMS: ms(t.Lead), share: r.share(),
		Conditions: append([]string{}, conditions...),
		terms:      t, skew: r.skew,
	}
	if !r.fromServer() {
		ahead := r.skew.Milliseconds()
		sum.Clock, sum.AheadMS = words.Time(time.Now().Add(r.skew)), &ahead
	}
	if r.Root.HWM != 0 {
		sum.Floor = words.Time(t.Time(r.Root.HWM))
	}
	return sum
}

func (s Summary) lines() [][2]string {
	t := s.terms
	lines := [][2]string{
		{"realm", realmText(s.Realm, s.Generation)},
		{"format", s.Format},
		{"node IDs", fmt.Sprintf("%s; %v", bitsText(t), s.share)},
		{"ticks", fmt.Sprintf("of %v from %s on", t.Duration(1), s.EpochTime)},
		{"windows", fmt.Sprintf("up to %v", t.Rounded(t.Window))},
		{"lead", fmt.Sprintf("up to %v", t.Rounded(t.Lead))},
		{"granted from", s.Floor},
	}
	if s.Clock != "" {
		lines = append(lines, [2]string{"store's clock", fmt.Sprintf(
			"%s, %v ahead of this machine's", s.Clock, s.skew.Round(time.Millisecond))})
	}
	if len(s.Conditions) == 0 {
		lines = append(lines, [2]string{"guarantee",
			"no ID is made twice; the store's settings were checked, and docs/leases.md names the limits"})
	}
	for _, condition := range s.Conditions {
		lines = append(lines, [2]string{"conditions", condition})
	}
	return lines
}

func bitsText(t lease.Terms) string {
	if t.Only != 0 {
		return fmt.Sprintf("of %d bits", t.Only)
	}
	return fmt.Sprintf("up to %d bits", t.Bits)
}

func AppendCard(c *console.Console, out []byte, it Item) []byte {
	const indent = 15
	for _, line := range it.lines() {
		if line[1] != "" {
			out = fmt.Appendf(out, "%s%s\n",
				c.Paint(console.Strong, fmt.Sprintf("%-*s", indent, line[0])),
				c.Hang(console.Printable(line[1]), indent))
		}
	}
	return out
}

func AppendTable(c *console.Console, out []byte, r *Realm, entries []Entry) []byte {
	t := r.Root.Terms
	out = fmt.Appendf(out, "%s  %d bits, ticks of %v, windows of %v, lead of %v; %v\n",
		c.Paint(console.Strong, console.Printable(r.Name)), cmp.Or(t.Only, t.Bits),
		t.Duration(1), t.Rounded(t.Window), t.Rounded(t.Lead), r.share())
	if r.Root.HWM > r.now+t.Lead {
		out = fmt.Appendf(out, "fenced: node IDs are granted from %s on\n",
			words.Time(t.Time(r.Root.HWM)))
	}
	if len(entries) == 0 {
		return out
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	who := "OWNER"
	if r.fromServer() {
		who = "LEASE"
	}
	fmt.Fprintf(w, "NODE ID\tSTATE\tUNTIL\tFREE FROM\t%s\tHOLDER\n", who)
	for _, e := range entries {
		id := cmp.Or(e.Owner, e.ID[max(0, len(e.ID)-8):]) // a lease's ID begins with the node ID
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.8s\t%s\n", e.Block, e.State, e.Until, e.FreeFrom, id,
			e.Holder)
	}
	w.Flush()
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		style := console.Plain
		if i == 0 {
			style = console.Strong
		}
		out = append(append(out, c.Paint(style, strings.TrimRight(line, " "))...), '\n')
	}
	return out
}

func (r *Realm) EntryOf(b lease.Block) Entry { return r.entry(r.records[b]) }

// Evict takes a node ID from its holder, and reports whether the holder still had it.
func (r *Realm) Evict(ctx context.Context, source *store.Source, e Entry) (held bool, err error) {
	if source.Store != nil {
		return lease.Evict(ctx, source.Store, r.Name, e.block, r.records[e.block].Owner)
	}
	err = source.Server.Evict(ctx, r.Name, e.ID)
	if errors.Is(err, lease.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Reclaim frees a node ID that waits after its last use; see [lease.Reclaim].
func (r *Realm) Reclaim(ctx context.Context, source *store.Source, e Entry,
	ahead time.Duration) error {
	return lease.Reclaim(ctx, source.Store, r.Name, e.block, ahead)
}

func AppendJSON[T Item](out []byte, items ...T) []byte {
	for _, it := range items {
		b, err := json.Marshal(it)
		if err != nil {
			panic(err) // impossible: an item has only strings and numbers
		}
		out = append(append(out, b...), '\n')
	}
	return out
}
