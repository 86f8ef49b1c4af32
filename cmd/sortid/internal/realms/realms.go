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

// A Realm is what a store or a server shows of a realm at one moment.
type Realm struct {
	Name   string
	Terms  lease.Terms
	MaxAge time.Duration // How old the node IDs may be.
	nodes
	generation string         // Empty if a server shows the realm.
	floor      int64          // No grant starts before it; 0 if there is none.
	now        int64          // The current tick, by the store's clock if it is known.
	skew       *time.Duration // The store's clock minus this machine's; nil if it is unknown.
	column     string         // The heading of what identifies a holder.
}

// nodes are the node IDs of a realm, and how they are divided.
type nodes interface {
	Entries(which Listing) []Entry
	// EntryOf returns what is known of a node ID.
	EntryOf(b lease.Block) Entry
	// Around returns the entries of a node ID, and of others that overlap with it.
	Around(b lease.Block) []Entry
	share() share
}

// An access reads realms from a source of one kind, and takes node IDs back.
type access interface {
	// load reads a realm. If some records cannot be read, it returns the others, and an error that
	// matches [lease.ErrRecord].
	load(ctx context.Context, name string) (*Realm, error)
	// loadNode reads only what overlaps with a block.
	loadNode(ctx context.Context, name string, b lease.Block) (*Realm, error)
	evict(ctx context.Context, e Entry) (held bool, err error)
}

func accessTo(source store.Source) access {
	if remote, ok := source.(store.Remote); ok {
		return server{remote.Server}
	}
	return direct{source.(store.Direct).Store}
}

func ReadAll(ctx context.Context, c *console.Console, source store.Source,
	name string) (realms []*Realm, err error) {
	names := []string{name}
	if name == "" {
		if names, err = source.Realms(ctx); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, errors.New("the store has no realms")
		}
	}
	for _, n := range names {
		r, problem := accessTo(source).load(ctx, n)
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

// Choose returns the name or, if it is empty, the name of the only realm.
func Choose(ctx context.Context, source store.Source, name string) (string, error) {
	if name != "" {
		return name, nil
	}
	names, err := source.Realms(ctx)
	switch {
	case err != nil:
		return "", err
	case len(names) == 0:
		return "", errors.New("the store has no realms")
	case len(names) > 1:
		return "", console.UsageErrorf("the store has several realms; choose one with --realm: %s",
			strings.Join(names, ", "))
	}
	return names[0], nil
}

// ReadNode reads only a node ID, such as 5/17, and those that overlap with it.
func ReadNode(ctx context.Context, source store.Source, name,
	text string) (r *Realm, b lease.Block, err error) {
	if name, err = Choose(ctx, source, name); err != nil {
		return nil, b, err
	}
	if b, err = lease.ParseBlock(text); err != nil {
		return nil, b, console.UsageError(err)
	}
	if r, err = accessTo(source).loadNode(ctx, name, b); err != nil {
		return nil, b, err
	}
	if b.Size < 1 || int(b.Size) > r.Terms.Bits {
		return nil, b, console.UsageErrorf("%s: a node ID of realm %q has 1 to %d bits", text, r.Name,
			r.Terms.Bits)
	}
	return r, b, nil
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
	PodGone    bool   `json:"pod_gone,omitempty"` // the cluster has no pod of the holder's name
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
	owner lease.Owner // zero if a server shows the entry
	lead  time.Duration
}

type Listing int

const (
	WholeBlocks Listing = iota // node IDs that are neither split nor part of a larger one
	AllBlocks
	OutOfUse // node IDs that nobody uses and nobody can have yet
)

func newEntry(realm string, b lease.Block, holder string) Entry {
	return Entry{Realm: realm, Block: b.String(), NodeID: strconv.FormatUint(uint64(b.NodeID), 10),
		Size: int(b.Size), Holder: console.Printable(holder), block: b}
}

func (e Entry) outOfUse() bool {
	return slices.Contains([]string{"expired", "spent", "ahead"}, e.State)
}

func overlap(a, b lease.Block) bool { return a.Contains(b) || b.Contains(a) }

// setTimes sets what follows from the end of all grants, and from when another process can have
// the node ID.
func (e *Entry) setTimes(t lease.Terms, now, mark, from int64) {
	if mark != 0 {
		e.lead = t.Duration(mark - now)
		ms := e.lead.Milliseconds()
		e.Until, e.LeadMS = words.Time(t.Time(mark)), &ms
	}
	if from > now {
		e.FreeFrom = words.Time(t.Time(from))
	}
}

// useOf names the use of a node ID that somebody holds, or that waits after its use. For others, it
// returns an empty string.
func useOf(held bool, t lease.Terms, now, hwm, from int64) string {
	switch {
	case held && now >= hwm:
		return "expired"
	case held:
		return "held"
	case from > now+t.Window:
		return "ahead"
	case from > now:
		return "spent"
	}
	return ""
}

// IsHeld reports whether somebody holds the node ID.
func (e Entry) IsHeld() bool { return e.State == "held" || e.State == "expired" }

// Waits reports whether nobody holds the node ID, and nobody can have it yet.
func (e Entry) Waits() bool { return e.State == "spent" || e.State == "ahead" }

func (e Entry) Who() string {
	if e.Holder != "" {
		return e.Holder
	}
	if e.Owner == "" {
		return "lease " + e.ID
	}
	return "owner " + e.Owner[:8]
}

func (e Entry) holderText() string {
	if e.PodGone {
		return e.Holder + " (no such pod)"
	}
	return e.Holder
}

func (e Entry) lines() [][2]string {
	return [][2]string{
		{"node ID", e.Block}, {"realm", realmText(e.Realm, e.Generation)},
		{"state", e.State},
		{"holder", e.holderText()}, {"owner", e.Owner}, {"request", e.Request}, {"lease", e.ID},
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

// A share says how much of a realm is in each state. The fields add up to 1.
type share struct {
	Held    float64 `json:"held"`
	Expired float64 `json:"expired"` // not renewed in time
	Free    float64 `json:"free"`
	Later   float64 `json:"not_yet"` // free, but a grant could not start yet
}

// partOf returns which part of all node IDs a block is.
func partOf(b lease.Block) float64 { return 1 / float64(uint64(1)<<b.Size) }

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
	t := r.Terms
	ms := func(ticks int64) int64 { return ticks * t.Tick }
	sum := Summary{
		Realm: r.Name, Generation: r.generation, Format: t.Format, Bits: t.Bits,
		NodeBits: t.Only, TickMS: ms(1), EpochTime: words.Time(t.Time(0)), WindowMS: ms(t.Window),
		LeadMS: ms(t.Lead), share: r.share(),
		Conditions: append([]string{}, conditions...),
		terms:      t,
	}
	if r.skew != nil {
		ahead := r.skew.Milliseconds()
		sum.Clock, sum.AheadMS = words.Time(time.Now().Add(*r.skew)), &ahead
		sum.skew = *r.skew
	}
	if r.floor != 0 {
		sum.Floor = words.Time(t.Time(r.floor))
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
	t := r.Terms
	out = fmt.Appendf(out, "%s  %d bits, ticks of %v, windows of %v, lead of %v; %v\n",
		c.Paint(console.Strong, console.Printable(r.Name)), cmp.Or(t.Only, t.Bits),
		t.Duration(1), t.Rounded(t.Window), t.Rounded(t.Lead), r.share())
	if r.floor > r.now+t.Lead {
		out = fmt.Appendf(out, "fenced: node IDs are granted from %s on\n",
			words.Time(t.Time(r.floor)))
	}
	if len(entries) == 0 {
		return out
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "NODE ID\tSTATE\tUNTIL\tFREE FROM\t%s\tHOLDER\n", r.column)
	for _, e := range entries {
		id := cmp.Or(e.Owner, e.ID[max(0, len(e.ID)-8):]) // a lease's ID begins with the node ID
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.8s\t%s\n", e.Block, e.State, e.Until, e.FreeFrom, id,
			e.holderText())
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

// Evict takes a node ID from its holder, and reports whether the holder still had it.
func Evict(ctx context.Context, source store.Source, e Entry) (held bool, err error) {
	return accessTo(source).evict(ctx, e)
}

// Reclaim frees a node ID that waits after its use.
func Reclaim(ctx context.Context, st store.Store, e Entry, ahead time.Duration) error {
	return lease.Reclaim(ctx, st, e.Realm, e.block, ahead)
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
