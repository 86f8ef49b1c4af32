package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

// A realmState is what a store has of a realm at a moment.
type realmState struct {
	name    string
	root    lease.Record
	order   []lease.Block
	records map[lease.Block]lease.Record
	now     int64         // the tick, by the store's clock
	skew    time.Duration // how far the store's clock is ahead of this machine's
}

// readRealms reads the realm of the name, or all that the store has. With errReported it
// has said what it cannot read, and returns the rest.
func (a *app) readRealms(ctx context.Context, st store.Store, name string) (realms []*realmState, err error) {
	names := []string{name}
	if name == "" {
		if names, err = realmNames(ctx, st); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, errors.New("the store has no realms")
		}
	}
	for _, n := range names {
		r, problem := loadRealm(ctx, st, n)
		switch {
		case r == nil && name != "":
			return nil, problem
		case problem != nil:
			a.complain("realm %q: %v", n, problem)
			err = errReported
		}
		if r != nil {
			realms = append(realms, r)
		}
	}
	return realms, err
}

// reported returns an error of readRealms if it comes with what could be read.
func reported(err error) error {
	if errors.Is(err, errReported) {
		return err
	}
	return nil
}

// realmNames returns the names of all realms in order.
func realmNames(ctx context.Context, st store.Store) ([]string, error) {
	names, err := st.Realms(ctx)
	slices.Sort(names)
	return names, err
}

// readRealm is readRealms for one who needs a single realm.
func (a *app) readRealm(ctx context.Context, st store.Store, name string) (*realmState, error) {
	realms, err := a.readRealms(ctx, st, name)
	switch {
	case reported(err) != nil && name == "":
		return nil, errors.New("--realm says which realm is meant")
	case reported(err) == nil && err != nil:
		return nil, err
	}
	if len(realms) > 1 {
		var names []string
		for _, r := range realms {
			names = append(names, r.name)
		}
		return nil, usagef("the store has several realms; --realm says which: %s", strings.Join(names, ", "))
	}
	return realms[0], nil
}

// loadRealm reads a realm. With an error that matches [lease.ErrRecord] it returns what it
// could read.
func loadRealm(ctx context.Context, st store.Store, name string) (*realmState, error) {
	root, blocks, unread := lease.Records(ctx, st, name)
	switch {
	case errors.Is(unread, lease.ErrRecord):
	case errors.Is(unread, lease.ErrConfig):
		return nil, usageError{unread}
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
	r := &realmState{name: name, root: root, records: map[lease.Block]lease.Record{}, now: root.Terms.At(now), skew: now.Sub(here)}
	for _, b := range blocks {
		r.order = append(r.order, b.Block)
		r.records[b.Block] = b
	}
	return r, unread
}

// block reads a node ID of the realm.
func (r *realmState) block(text string) (lease.Block, error) {
	b, err := lease.ParseBlock(text)
	if err != nil {
		return b, usageError{err}
	}
	if b.Size < 1 || int(b.Size) > r.root.Terms.Bits {
		return b, usagef("%s: a node ID of realm %q has 1 to %d bits", text, r.name, r.root.Terms.Bits)
	}
	return b, nil
}

// An item is something to show: as a card, or as JSON.
type item interface{ lines() [][2]string }

// An entry is a record as people see it. Integers of 64 bits are texts.
type entry struct {
	Realm      string `json:"realm"`
	Generation string `json:"generation"`
	Block      string `json:"block"`
	NodeID     string `json:"node_id"`
	Size       int    `json:"node_bits"`
	State      string `json:"state"`
	Holder     string `json:"holder,omitempty"`
	Owner      string `json:"owner,omitempty"`
	Until      string `json:"until,omitempty"`     // the end of all grants
	FreeFrom   string `json:"free_from,omitempty"` // when others may take it
	LeadMS     *int64 `json:"lead_ms,omitempty"`   // of Until over the clock
	HWM        string `json:"hwm"`
	Deadline   string `json:"deadline,omitempty"`
	Request    string `json:"request,omitempty"`
	Revision   string `json:"revision"`

	block lease.Block
	lead  time.Duration
}

// Which entries to list.
type listing int

const (
	wholeBlocks listing = iota // those that are node IDs by themselves
	allBlocks
	outOfUse // those that nobody uses and nobody can have yet
)

func (r *realmState) entries(which listing) (entries []entry) {
	for _, b := range r.order {
		rec := r.records[b]
		if rec.State != lease.Whole && which != allBlocks {
			continue
		}
		e := r.entry(rec)
		if which == outOfUse && e.State != "expired" && e.State != "ahead" {
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

func (r *realmState) entry(rec lease.Record) entry {
	t := r.root.Terms
	e := entry{
		Realm: r.name, Generation: r.root.Generation, Block: rec.Block.String(),
		NodeID: strconv.FormatUint(uint64(rec.Block.NodeID), 10), Size: int(rec.Block.Size),
		State: r.state(rec), Holder: printable(rec.Name),
		HWM: strconv.FormatInt(rec.HWM, 10), Revision: strconv.FormatUint(rec.Revision, 10),
		block: rec.Block,
	}
	if mark := r.mark(rec); mark != 0 {
		e.lead = t.Duration(mark - r.now)
		ms := e.lead.Milliseconds()
		e.Until, e.LeadMS = format.FormatTime(t.Time(mark)), &ms
	}
	if rec.Owner != (lease.Owner{}) {
		e.Owner, e.Request = rec.Owner.String(), strconv.FormatUint(rec.Request, 10)
		e.Deadline = strconv.FormatInt(rec.Deadline, 10)
	}
	if from := r.freeFrom(rec); from > r.now {
		e.FreeFrom = format.FormatTime(t.Time(from))
	}
	return e
}

// mark returns the end of all that was granted of a block: its mark, or that of a block
// around it, or the realm's floor.
func (r *realmState) mark(rec lease.Record) int64 {
	mark := max(rec.HWM, r.root.HWM)
	for b := rec.Block; b.Size > 1; {
		b = lease.Block{NodeID: b.NodeID >> 1, Size: b.Size - 1}
		mark = max(mark, r.records[b].HWM)
	}
	return mark
}

// freeFrom returns the tick from which on a whole block can be granted to another process
// than its holder, if that does not renew it.
func (r *realmState) freeFrom(rec lease.Record) int64 {
	from := r.mark(rec) - r.root.Terms.Lead
	if rec.Held(r.now) {
		from = max(from, rec.Deadline)
	}
	return from
}

// state says in a word what a record means to people.
func (r *realmState) state(rec lease.Record) string {
	switch {
	case rec.Revision == 0:
		return "unused"
	case rec.State != lease.Whole:
		return rec.State.String()
	case rec.Held(r.now) && r.now >= rec.HWM:
		return "expired"
	case rec.Held(r.now):
		return "held"
	case r.freeFrom(rec) > r.now:
		return "ahead"
	case rec.Owner != (lease.Owner{}):
		return "lapsed"
	}
	return "free"
}

// who names the holder.
func (e entry) who() string {
	if e.Holder != "" {
		return e.Holder
	}
	return "owner " + e.Owner[:8]
}

func (e entry) lines() [][2]string {
	return [][2]string{
		{"node ID", e.Block}, {"realm", fmt.Sprintf("%s, generation %s", e.Realm, e.Generation)}, {"state", e.State},
		{"holder", e.Holder}, {"owner", e.Owner}, {"request", e.Request}, {"granted until", e.Until}, {"lead", e.leadText()},
		{"others from", e.FreeFrom}, {"changes", e.Revision},
	}
}

func (e entry) leadText() string {
	switch {
	case e.LeadMS == nil:
		return ""
	case e.lead > 0:
		return "+" + e.lead.String()
	}
	return e.lead.String()
}

// around returns the block and those that are node IDs by themselves and overlap it.
func (r *realmState) around(b lease.Block) []entry {
	rec, ok := r.records[b]
	if !ok {
		rec.Block = b
	}
	entries := []entry{r.entry(rec)}
	for _, other := range r.order {
		if o := r.records[other]; other != b && o.State == lease.Whole && (other.Contains(b) || b.Contains(other)) {
			entries = append(entries, r.entry(o))
		}
	}
	return entries
}

// A share says how much of a realm can be had; it adds up to 1.
type share struct {
	held, free float64
	expired    float64 // held by those who have not renewed it in time
	later      float64 // free, but not before a time beyond the lead
}

func (r *realmState) share() (s share) {
	for i := range uint32(2) {
		r.count(&s, lease.Block{NodeID: i, Size: 1}, r.root.HWM)
	}
	return s
}

// count adds a block; mark is the highest of those around it.
func (r *realmState) count(s *share, b lease.Block, mark int64) {
	rec := r.records[b]
	mark = max(mark, rec.HWM)
	part := 1 / float64(uint64(1)<<b.Size)
	switch {
	case rec.State == lease.Split || rec.State == lease.Merging:
		for i := range uint32(2) {
			r.count(s, lease.Block{NodeID: b.NodeID<<1 | i, Size: b.Size + 1}, mark)
		}
	case rec.Held(r.now) && r.now >= rec.HWM:
		s.expired += part
	case rec.Held(r.now):
		s.held += part
	case mark > r.now+r.root.Terms.Lead:
		s.later += part
	default:
		s.free += part
	}
}

func (s share) String() string {
	text := fmt.Sprintf("%s held, %s free, %s not available yet", percent(s.held), percent(s.free), percent(s.later))
	if s.expired != 0 {
		text = fmt.Sprintf("%s held, %s expired, %s free, %s not available yet", percent(s.held), percent(s.expired), percent(s.free), percent(s.later))
	}
	return text
}

func percent(f float64) string { return strconv.FormatFloat(100*f, 'g', 3, 64) + "%" }

// A summary tells about a realm.
type summary struct {
	Realm      string   `json:"realm"`
	Generation string   `json:"generation"`
	Bits       int      `json:"bits"`
	TickMS     int64    `json:"tick_ms"`
	EpochTime  string   `json:"epoch"`
	WindowMS   int64    `json:"window_ms"`
	LeadMS     int64    `json:"max_lead_ms"`
	Floor      string   `json:"floor,omitempty"` // no grant starts before
	Held       float64  `json:"held"`
	Expired    float64  `json:"expired"`
	Free       float64  `json:"free"`
	Later      float64  `json:"not_yet"`
	Clock      string   `json:"clock"`
	AheadMS    int64    `json:"clock_ahead_ms"` // of this machine's
	Conditions []string `json:"conditions"`

	terms lease.Terms
	share share
	skew  time.Duration
}

func (r *realmState) summary(conditions []string) summary {
	t, s := r.root.Terms, r.share()
	ms := func(ticks int64) int64 { return ticks * t.Tick }
	sum := summary{
		Realm: r.name, Generation: r.root.Generation, Bits: t.Bits,
		TickMS: ms(1), EpochTime: format.FormatTime(t.Time(0)), WindowMS: ms(t.Window), LeadMS: ms(t.Lead),
		Held: s.held, Expired: s.expired, Free: s.free, Later: s.later,
		Clock: format.FormatTime(time.Now().Add(r.skew)), AheadMS: r.skew.Milliseconds(),
		Conditions: append([]string{}, conditions...),
		terms:      t, share: s, skew: r.skew,
	}
	if r.root.HWM != 0 {
		sum.Floor = format.FormatTime(t.Time(r.root.HWM))
	}
	return sum
}

func (s summary) lines() [][2]string {
	t := s.terms
	lines := [][2]string{
		{"realm", fmt.Sprintf("%s, generation %s", s.Realm, s.Generation)},
		{"node IDs", fmt.Sprintf("up to %d bits; %v", s.Bits, s.share)},
		{"ticks", fmt.Sprintf("of %v from %s on", t.Duration(1), s.EpochTime)},
		{"windows", fmt.Sprintf("up to %v", t.Duration(t.Window))},
		{"lead", fmt.Sprintf("up to %v", t.Duration(t.Lead))},
		{"granted from", s.Floor},
		{"store's clock", fmt.Sprintf("%s, %v ahead of this machine's", s.Clock, s.skew.Round(time.Millisecond))},
	}
	if len(s.Conditions) == 0 {
		lines = append(lines, [2]string{"guarantee", "no ID is made twice; the store's settings were checked, and docs/leases.md has its limits"})
	}
	for _, c := range s.Conditions {
		lines = append(lines, [2]string{"conditions", c})
	}
	return lines
}

// leaseCard appends an item, a line for each of its parts.
func (a *app) leaseCard(out []byte, it item) []byte {
	const indent = 15
	for _, line := range it.lines() {
		if line[1] != "" {
			out = fmt.Appendf(out, "%s%s\n", a.paint(strong, fmt.Sprintf("%-*s", indent, line[0])), wrap(printable(line[1]), max(a.width-indent, 20), strings.Repeat(" ", indent)))
		}
	}
	return out
}

// leaseTable appends a realm and its node IDs.
func (a *app) leaseTable(out []byte, r *realmState, entries []entry) []byte {
	t := r.root.Terms
	out = fmt.Appendf(out, "%s  %d bits, ticks of %v, windows of %v, lead of %v; %v\n", a.paint(strong, printable(r.name)), t.Bits,
		t.Duration(1), t.Duration(t.Window), t.Duration(t.Lead), r.share())
	if r.root.HWM > r.now+t.Lead {
		out = fmt.Appendf(out, "fenced: node IDs are granted from %s on\n", format.FormatTime(t.Time(r.root.HWM)))
	}
	if len(entries) == 0 {
		return out
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NODE ID\tSTATE\tUNTIL\tFREE FROM\tOWNER\tHOLDER")
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.8s\t%s\n", e.Block, e.State, e.Until, e.FreeFrom, e.Owner, e.Holder)
	}
	w.Flush()
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		style := plain
		if i == 0 {
			style = strong
		}
		out = append(append(out, a.paint(style, strings.TrimRight(line, " "))...), '\n')
	}
	return out
}
