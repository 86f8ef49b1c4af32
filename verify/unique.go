package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid/scheme"
)

// A Source is an input of [Unique].
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
	// Once says that it can be opened only once, like standard input. It is then copied
	// to disk, sorted.
	Once bool
}

// FileSource returns the source of a file, opened with [Open].
func FileSource(name string) Source {
	info, err := os.Stat(name)
	return Source{
		Name: name,
		Open: func() (io.ReadCloser, error) { return Open(name) },
		Once: err == nil && !info.Mode().IsRegular(),
	}
}

// UniqueOptions are the options of [Unique]. The zero value will do.
type UniqueOptions struct {
	// Dir is where sources that are not sorted are kept meanwhile; empty: the system's
	// folder for such files. They take 32 bytes an ID.
	Dir string
	// NodeIDSize is the node_id_size of scru64, to name the node IDs that clash; 0:
	// inferred.
	NodeIDSize int
	// Each is called for each duplicate, in order.
	Each func(Duplicate)
	// Progress is called now and then.
	Progress func(Progress)
}

// A Duplicate is an ID on several lines.
type Duplicate struct {
	Text   string
	Count  uint64  // of lines
	Places []Place // the first thousand of them
}

// A Place is a line of a source.
type Place struct {
	Source string
	Line   uint64
}

// A UniqueReport is what [Unique] found.
type UniqueReport struct {
	Scheme     string
	Status     Status // Fail if there are duplicates, or lines that are no IDs
	Sources    []UniqueSource
	IDs        uint64
	Duplicates uint64 // IDs on more than one line
	Extra      uint64 // lines that are too many
	First      []Duplicate
	Clashes    []Clash // of scru64
	Elapsed    time.Duration
}

// A UniqueSource is one of the sources.
type UniqueSource struct {
	Name       string
	Lines, IDs uint64
	Copied     bool      // whether it was sorted on disk, as it is not sorted by itself
	Bad        uint64    // lines that are no IDs
	Examples   []Example // of these
	Node       string    // for scru64: the bits that all its IDs have in front of the counter
	Error      string    // why it could not be read to its end
}

// A Clash is two sources of scru64 IDs with the same node ID, and the same IDs.
type Clash struct {
	Sources    [2]string // the same name twice: within one source
	Node       string    // the node ID, or the bits that it begins with
	Duplicates uint64
}

const (
	maxFirst   = 20
	maxPlaces  = 1000
	maxClashes = 1000

	// maxFan is how many inputs are merged at once, mergeMemory what they all may take
	// for their blocks, and mergeBlock the most that one block may.
	maxFan      = 256
	mergeMemory = 32 << 20
	mergeBlock  = 128 << 10
)

// errUnsorted says that a source that was taken for sorted is not.
var errUnsorted = errors.New("verify: not sorted")

// Unique looks for IDs that are on more than one line of any of the sources. Sources
// that are sorted are merged, which takes memory for a few lines of each; the others are
// sorted piece by piece on disk first. An error means that no answer was found.
func Unique(ctx context.Context, scheme string, sources []Source, o UniqueOptions) (*UniqueReport, error) {
	f := formatOf(scheme)
	switch {
	case f == nil:
		return nil, fmt.Errorf("%w: no scheme %q", ErrOption, scheme)
	case o.NodeIDSize != 0 && f != &formatSCRU64:
		return nil, fmt.Errorf("%w: %s has no node_id_size", ErrOption, f.name)
	case o.NodeIDSize < 0 || o.NodeIDSize >= nodeCtrBits:
		return nil, fmt.Errorf("%w: a node_id_size of %d", ErrOption, o.NodeIDSize)
	}
	start := time.Now()
	u := &unique{ctx: ctx, f: f, o: o, sources: sources, spool: spool{parent: o.Dir}}
	defer u.spool.close()
	if err := u.run(); err != nil {
		return nil, err
	}
	r, err := u.conclude()
	if err != nil {
		return nil, err
	}
	r.Elapsed = time.Since(start)
	return r, nil
}

// A unique is one search.
type unique struct {
	ctx     context.Context
	f       *format
	o       UniqueOptions
	sources []Source
	spool   spool

	found      []UniqueSource
	always     []uint32 // of each source of scru64: the bits set in all IDs
	ever       []uint32 // and those set in any
	duplicates runWriter
	ids        uint64
	shown      time.Time
}

// run merges the sources as they are, if all can be read again. If one turns out not to
// be sorted, those that are not are sorted on disk first.
func (u *unique) run() error {
	copied := make([]bool, len(u.sources))
	for i, s := range u.sources {
		copied[i] = s.Once || len(u.sources) > maxFan
	}
	u.reset()
	if !slices.Contains(copied, true) {
		if err := u.merge(copied, nil); !errors.Is(err, errUnsorted) {
			return err
		}
		u.reset()
	}
	for i := range u.sources {
		if !copied[i] {
			sorted, err := u.sorted(i)
			if err != nil {
				return err
			}
			copied[i] = !sorted
		}
	}
	runs, err := u.copy(copied)
	if err != nil {
		return err
	}
	room := maxFan
	for _, c := range copied {
		if !c {
			room--
		}
	}
	for len(runs) > max(room, 2) {
		n := min(maxFan, len(runs))
		joined, err := u.join(runs[:n])
		if err != nil {
			return err
		}
		runs = append(runs[n:], joined)
	}
	return u.merge(copied, runs)
}

// reset forgets what an attempt has found.
func (u *unique) reset() {
	u.found = make([]UniqueSource, len(u.sources))
	u.always, u.ever = make([]uint32, len(u.sources)), make([]uint32, len(u.sources))
	for i, s := range u.sources {
		u.found[i] = UniqueSource{Name: s.Name}
		u.always[i] = nodeCtrMask
	}
	u.ids = 0
	u.duplicates.abandon()
	u.duplicates = runWriter{spool: &u.spool}
}

// open starts reading a source; blocks takes its blocks.
func (u *unique) open(i, inputs int) (*source, io.Closer, error) {
	r, err := u.sources[i].Open()
	if err != nil {
		return nil, nil, err
	}
	// A block has its text and, for most formats, IDs of nearly the same size.
	size := min(mergeBlock, max(4096, mergeMemory/inputs/6))
	return newSource(u.ctx, r, reading{f: u.f, now: time.Now, size: size, readers: 1}), r, nil
}

// take notes what a block says of its source, and returns the number of its first line.
func (u *unique) take(i int, b *block) (line uint64) {
	s := &u.found[i]
	line = s.Lines + 1
	s.Lines += b.lines
	s.IDs += uint64(len(b.ids))
	u.ids += uint64(len(b.ids))
	for check, n := range b.forms.count {
		if check == formCase || check == formLineEnd || check == formBlank {
			continue
		}
		s.Bad += n
		for _, e := range b.forms.examples[check] {
			if len(s.Examples) < maxExamples {
				e.Line += line
				s.Examples = append(s.Examples, e)
			}
		}
	}
	if u.f == &formatSCRU64 {
		for _, v := range b.ids {
			u.always[i] &= uint32(v.hi)
			u.ever[i] |= uint32(v.hi) & nodeCtrMask
		}
	}
	if b.err != nil && b.err != io.EOF {
		s.Error = b.err.Error()
	}
	if u.o.Progress != nil && b.at.Sub(u.shown) > 200*time.Millisecond {
		u.shown = b.at
		p := Progress{IDs: u.ids}
		for _, s := range u.found {
			p.Lines += s.Lines
		}
		u.o.Progress(p)
	}
	return line
}

// sorted reports whether a source's IDs do not decrease.
func (u *unique) sorted(i int) (bool, error) {
	src, closer, err := u.open(i, 1)
	if err != nil {
		return false, err
	}
	defer closer.Close()
	defer src.close()
	var last id
	for b := src.next(u.ctx); b != nil; b = src.next(u.ctx) {
		for _, v := range b.ids {
			if less(v, last) {
				return false, nil
			}
			last = v
		}
		src.done(b)
	}
	return true, u.ctx.Err()
}

// copy sorts sources in pieces, each as large as the memory allows, on disk.
func (u *unique) copy(which []bool) ([]*run, error) {
	w := sorter{spool: &u.spool}
	for i := range u.sources {
		if !which[i] {
			continue
		}
		if err := u.copyOne(i, &w); err != nil {
			return nil, err
		}
	}
	return w.finish()
}

func (u *unique) copyOne(i int, w *sorter) error {
	src, closer, err := u.open(i, 1)
	if err != nil {
		return err
	}
	defer closer.Close()
	defer src.close()
	u.found[i].Copied = true
	for b := src.next(u.ctx); b != nil; b = src.next(u.ctx) {
		line := u.take(i, b)
		for k, s := range b.segments {
			for n, v := range b.of(k) {
				if err := w.add(record{v, uint32(i), line + s.line + uint64(n)}); err != nil {
					return err
				}
			}
		}
		src.done(b)
	}
	return u.ctx.Err()
}

// inputs opens the sources that were not copied, and the runs.
func (u *unique) inputs(copied []bool, runs []*run) (cursors []*cursor, err error) {
	n := len(runs)
	for _, c := range copied {
		if !c {
			n++
		}
	}
	for i, c := range copied {
		if c {
			continue
		}
		src, closer, err := u.open(i, n)
		if err != nil {
			return cursors, err
		}
		cursors = append(cursors, &cursor{source: uint32(i), lines: &textLines{u: u, index: i, src: src, closer: closer}})
	}
	for _, r := range runs {
		in, err := r.open(n)
		if err != nil {
			return cursors, err
		}
		cursors = append(cursors, &cursor{lines: in})
	}
	return cursors, nil
}

// merge looks for duplicates in the sources that were not copied and in the runs.
func (u *unique) merge(copied []bool, runs []*run) error {
	cursors, err := u.inputs(copied, runs)
	defer func() {
		for _, c := range cursors {
			c.lines.close()
		}
	}()
	if err != nil {
		return err
	}
	// The first line of several with the same ID is noted when the second one comes.
	var last record
	first, noted := true, false
	err = merge(cursors, func(r record) error {
		if r.id != last.id || first {
			last, first, noted = r, false, false
			return nil
		}
		if !noted {
			noted = true
			if err := u.duplicates.add(last); err != nil {
				return err
			}
		}
		return u.duplicates.add(r)
	})
	if err == nil {
		err = context.Cause(u.ctx)
	}
	return err
}

// join merges runs into one.
func (u *unique) join(runs []*run) (*run, error) {
	var cursors []*cursor
	defer func() {
		for _, c := range cursors {
			c.lines.close()
		}
	}()
	for _, r := range runs {
		in, err := r.open(len(runs))
		if err != nil {
			return nil, err
		}
		cursors = append(cursors, &cursor{lines: in})
	}
	w := runWriter{spool: &u.spool}
	if err := merge(cursors, w.add); err != nil {
		return nil, err
	}
	joined, err := w.finish()
	for _, r := range runs {
		r.remove()
	}
	return joined, err
}

// conclude words what was found.
func (u *unique) conclude() (*UniqueReport, error) {
	r := &UniqueReport{Scheme: u.f.name, Status: Pass, Sources: u.found, IDs: u.ids}
	for i := range r.Sources {
		s := &r.Sources[i]
		if u.f == &formatSCRU64 && s.IDs > 0 {
			s.Node = u.node(u.always[i], u.ever[i])
		}
		if s.Bad > 0 || s.Error != "" {
			r.Status = Fail
		}
	}
	if u.ids == 0 {
		r.Status = Fail
	}
	clashes := map[[2]uint32]uint64{}
	err := u.duplicates.groups(func(group []record, n uint64) {
		d := Duplicate{Text: u.f.text(group[0].id, u.f.lengths[0]), Count: n}
		for _, r := range group {
			d.Places = append(d.Places, Place{u.sources[r.source].Name, r.line})
		}
		slices.SortFunc(d.Places, func(a, b Place) int {
			return cmp.Or(strings.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line))
		})
		r.Duplicates++
		r.Extra += n - 1
		if len(r.First) < maxFirst {
			r.First = append(r.First, d)
		}
		if u.o.Each != nil {
			u.o.Each(d)
		}
		if u.f == &formatSCRU64 {
			u.clash(clashes, group)
		}
	})
	if err != nil {
		return nil, err
	}
	if r.Duplicates > 0 {
		r.Status = Fail
	}
	for pair, n := range clashes {
		a, b := pair[0], pair[1]
		r.Clashes = append(r.Clashes, Clash{
			Sources:    [2]string{u.sources[a].Name, u.sources[b].Name},
			Node:       u.node(u.always[a]&u.always[b], u.ever[a]|u.ever[b]),
			Duplicates: n,
		})
	}
	slices.SortFunc(r.Clashes, func(a, b Clash) int {
		return cmp.Or(-cmp.Compare(a.Duplicates, b.Duplicates),
			strings.Compare(a.Sources[0], b.Sources[0]), strings.Compare(a.Sources[1], b.Sources[1]))
	})
	return r, nil
}

// clash counts the pairs of sources that share an ID.
func (u *unique) clash(clashes map[[2]uint32]uint64, group []record) {
	sources := make([]uint32, 0, len(group))
	for _, r := range group {
		sources = append(sources, r.source)
	}
	slices.Sort(sources)
	before := [2]uint32{never32, never32}
	for i := range sources[1:] {
		pair := [2]uint32{sources[i], sources[i+1]}
		if pair == before {
			continue
		}
		before = pair
		if _, known := clashes[pair]; known || len(clashes) < maxClashes {
			clashes[pair]++
		}
	}
}

// node names the node ID of scru64 IDs, given the bits that are set in all of them and
// those set in any.
func (u *unique) node(always, ever uint32) string {
	same := bits.LeadingZeros32((always^ever)<<8 | 1<<7)
	if size := u.o.NodeIDSize; size > 0 {
		if same < size {
			return fmt.Sprintf("several of %d bits", size)
		}
		return fmt.Sprintf("%d/%d", always>>(nodeCtrBits-size), size)
	}
	if same == 0 {
		return "several"
	}
	return fmt.Sprintf("%0*b...", same, always>>(nodeCtrBits-same))
}

// Detect says of which format the lines at the start of an input are.
func Detect(head []byte) (name string, ok bool) {
	for line := range bytes.Lines(head) {
		for _, c := range scheme.Detect(string(bytes.TrimSpace(line))) {
			f := formatOf(c.ID.Scheme().Name)
			if _, _, err := f.read(bytes.TrimSpace(line)); err == nil && c.Plausible {
				return f.name, true
			}
		}
	}
	return "", false
}
