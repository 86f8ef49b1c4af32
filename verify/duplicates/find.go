// Package duplicates finds IDs that are on more than one line, in any number of inputs of any size.
// If an input is not in order, [Find] first sorts this input on disk. Then it merges all inputs.
package duplicates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/extsort"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/verify/internal/findings"
	"github.com/sortid/sortid/verify/internal/sample"
	"github.com/sortid/sortid/verify/report"
)

// A Source is an input of [Find].
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
	// Once says that the source can be opened only once, like standard input. Find then sorts it on
	// disk.
	Once bool
	// Size is how many bytes there are to read, or 0 if unknown. If Size is known, the reader from
	// Open must have a method Position() int64, which returns how many bytes were read. The method
	// must be safe for concurrent use.
	Size int64
}

// File returns a file as a source. Reading fails if the file becomes shorter.
func File(name string) Source {
	s := Source{Name: name, Open: func() (io.ReadCloser, error) { return sample.Open(name) }}
	if info, err := os.Stat(name); err == nil {
		if s.Once = !info.Mode().IsRegular(); !s.Once {
			s.Size = info.Size()
		}
	}
	return s
}

// Options configure [Find]. The zero value is valid.
type Options struct {
	// Dir is the folder for sorting. Each sorted ID needs 33 bytes there. The default is the
	// system's folder for temporary files.
	Dir string
	// NodeBits is the size of scru64's node IDs in bits. If it is 0, Find does not know where the
	// node ID ends and the counter begins. Then the report has the high bits that are the same in
	// all IDs of a source.
	NodeBits int
	// Variant is the format of the IDs, if it is not nil. Find then ignores the format's name.
	Variant *format.Format
	// If Each is not nil, Find calls it for every duplicate, in the order of IDs.
	Each func(report.Duplicate)
	// Progress is called from time to time.
	Progress func(Progress)
}

// Progress is how much of a stage is done.
type Progress struct {
	Stage       Stage
	Done, Total int64 // bytes; Total is 0 if unknown
}

// A Stage is a part of a search.
type Stage string

// The stages. If Find sorts nothing on disk, there is only the last stage.
const (
	StageOrder   Stage = "checking whether the IDs are in order"
	StageSort    Stage = "sorting"
	StageCompare Stage = "comparing"
)

const (
	maxFirst   = 20
	maxPlaces  = 1000
	maxClashes = 1000

	sortMemory  = 44 << 20  // bytes for the IDs that are sorted at once
	mergeMemory = 32 << 20  // bytes for all sources of a merge
	mergeBlock  = 128 << 10 // bytes of the largest block of a source
)

// Find finds IDs of the named format that are on more than one line, in one source or several. If
// ctx ends early, the report covers what was read and compared. If there is an error, there is no
// report.
func Find(ctx context.Context, formatName string, sources []Source,
	o Options) (*report.Unique, error) {
	f, err := sample.Lookup(formatName, o.Variant)
	switch {
	case err != nil:
	case o.NodeBits != 0 && f.NodeCounter == 0:
		err = fmt.Errorf("%s has no node ID in front of a counter", f.Name)
	case o.NodeBits != 0 && (o.NodeBits < 0 || o.NodeBits >= f.NodeCounter):
		err = fmt.Errorf("a node ID of %d bits, want 1 to %d", o.NodeBits, f.NodeCounter-1)
	}
	if err != nil {
		return nil, &sortid.OptionError{Format: "duplicates", Err: err}
	}
	start := time.Now()
	s := &search{ctx: ctx, f: sample.FormatOf(f), o: o, sources: sources, dir: extsort.Dir{Parent: o.Dir}}
	defer s.dir.Close()
	err = s.run()
	interrupted := err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
	if err != nil && !interrupted {
		return nil, err
	}
	r, err := s.conclude(interrupted)
	if err != nil {
		return nil, err
	}
	r.Elapsed = time.Since(start)
	return r, nil
}

type search struct {
	ctx     context.Context
	f       *sample.Format
	o       Options
	sources []Source
	copied  []bool // which sources are sorted on disk
	dir     extsort.Dir

	found      []found // one for each source
	duplicates extsort.Writer
	ids        uint64 // how many were read
	compared   uint64 // how many were compared
	progress   progress
}

type found struct {
	source report.Source
	bad    findings.Check // lines without an ID
	node   nodeBits       // only for scru64
}

// nodeBits is about the bits of node ID and counter.
type nodeBits struct {
	always uint64 // bits that are 1 in all IDs
	ever   uint64 // bits that are 1 in at least one ID
}

type progress struct {
	Progress
	shown time.Time
	open  []interface{ Position() int64 }
}

// run tries to merge the sources as they are. If some sources are not in order or can be read only
// once, run first sorts these sources on disk.
func (s *search) run() error {
	s.copied = make([]bool, len(s.sources))
	for i, in := range s.sources {
		s.copied[i] = in.Once || len(s.sources) > extsort.MaxFanIn
	}
	s.reset()
	if !slices.Contains(s.copied, true) {
		if err := s.merge(nil); !errors.Is(err, extsort.ErrUnsorted) {
			return err
		}
		s.reset()
	}
	s.begin(StageOrder, false, nil)
	room := extsort.MaxFanIn
	for i := range s.sources {
		if s.copied[i] {
			continue
		}
		if err := s.checkOrder(i); err == nil {
			room--
		} else if s.copied[i] = errors.Is(err, extsort.ErrUnsorted); !s.copied[i] {
			return err
		}
	}
	s.begin(StageSort, true, nil)
	w := extsort.Sorter{Context: s.ctx, Dir: &s.dir, Memory: sortMemory}
	for i, copied := range s.copied {
		if copied {
			if err := s.copy(i, &w); err != nil {
				return err
			}
		}
	}
	runs, err := w.Finish(room)
	if err != nil {
		return err
	}
	return s.merge(runs)
}

func (s *search) reset() {
	s.found = make([]found, len(s.sources))
	for i, in := range s.sources {
		s.found[i].source.Name = in.Name
		s.found[i].node.always = math.MaxUint64
	}
	s.ids, s.compared = 0, 0
	s.duplicates.Discard()
	s.duplicates.Dir = &s.dir
}

// open starts to read source i. All inputs of a merge share the memory.
func (s *search) open(i, inputs int) (*sample.Reader, io.Closer, error) {
	r, err := s.sources[i].Open()
	if err != nil {
		return nil, nil, err
	}
	if p, ok := r.(interface{ Position() int64 }); ok {
		s.progress.open = append(s.progress.open, p)
	}
	// A reader has three blocks. The IDs of a block usually need as much memory as its text, so a
	// reader needs six times the size of a block.
	size := min(mergeBlock, max(4096, mergeMemory/inputs/6))
	return sample.New(s.ctx, r, sample.Options{Format: s.f, Size: size}), r, nil
}

// account counts the lines and IDs of a block of source i. It returns the block's first line.
func (s *search) account(i int, b *sample.Block) (line uint64) {
	in := &s.found[i]
	line = in.source.Lines + 1
	in.source.Lines += b.Lines
	in.source.IDs += uint64(len(b.IDs))
	s.ids += uint64(len(b.IDs))
	for k := range b.Faults {
		if !sample.Fault(k).Readable() {
			in.bad.Join(&b.Faults[k], line)
		}
	}
	if s.f.NodeCounter > 0 {
		place := integer.PlaceOf(0, s.f.NodeCounter)
		for k := range b.IDs {
			v := place.Of(&b.IDs[k])
			in.node.always &= v
			in.node.ever |= v
		}
	}
	if b.Err != nil && b.Err != io.EOF {
		in.source.Error = b.Err.Error()
	}
	s.show(b.At)
	return line
}

// begin begins a stage. The stage reads the runs, and each source i with s.copied[i] == copied.
func (s *search) begin(stage Stage, copied bool, runs []*extsort.Run) {
	p := progress{Progress: Progress{Stage: stage}, shown: s.progress.shown}
	known := true
	for i, in := range s.sources {
		if s.copied[i] == copied {
			p.Total += in.Size
			known = known && in.Size > 0
		}
	}
	for _, r := range runs {
		p.Total += r.Size()
	}
	if !known {
		p.Total = 0
	}
	s.progress = p
}

func (s *search) show(now time.Time) {
	p := &s.progress
	if s.o.Progress == nil || now.Sub(p.shown) < 200*time.Millisecond {
		return
	}
	p.shown, p.Done = now, 0
	for _, r := range p.open {
		p.Done += r.Position()
	}
	s.o.Progress(p.Progress)
}

func (s *search) blocks(i int, each func(b *sample.Block) error) error {
	src, closer, err := s.open(i, 1)
	if err != nil {
		return err
	}
	defer closer.Close()
	defer src.Close()
	for b := src.Next(); b != nil; b = src.Next() {
		if err := each(b); err != nil {
			return err
		}
		src.Release(b)
	}
	return context.Cause(s.ctx)
}

func (s *search) checkOrder(i int) error {
	var last integer.Words
	return s.blocks(i, func(b *sample.Block) error {
		for k := range b.IDs {
			if b.IDs[k].Less(&last) {
				return extsort.ErrUnsorted
			}
			last = b.IDs[k]
		}
		s.show(b.At)
		return nil
	})
}

func (s *search) copy(i int, w *extsort.Sorter) error {
	var buf [originSize]byte
	s.found[i].source.Copied = true
	return s.blocks(i, func(b *sample.Block) error {
		line := s.account(i, b)
		for k, in := range b.Segments {
			for n, v := range b.Segment(k) {
				o := origin{uint32(i), line + in.Line + uint64(n)}
				if err := w.Add(v, o.append(buf[:0])); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (s *search) inputs(runs []*extsort.Run) (inputs []input, err error) {
	n := len(runs)
	for _, c := range s.copied {
		if !c {
			n++
		}
	}
	for i, c := range s.copied {
		if c {
			continue
		}
		src, closer, err := s.open(i, n)
		if err != nil {
			return inputs, err
		}
		inputs = append(inputs, &textInput{s: s, source: i, src: src, closer: closer})
	}
	for _, r := range runs {
		in := r.Open(n)
		s.progress.open = append(s.progress.open, in)
		inputs = append(inputs, runInput{in})
	}
	return inputs, nil
}

func (s *search) merge(runs []*extsort.Run) error {
	s.begin(StageCompare, false, runs)
	inputs, err := s.inputs(runs)
	defer func() {
		for _, in := range inputs {
			in.Close()
		}
	}()
	if err != nil {
		return err
	}
	// The first place of an ID is recorded only when the ID occurs a second time.
	var last record
	var buf [originSize]byte
	first, noted := true, false
	err = extsort.Merge(inputs, func(in input, index int, id integer.Words) error {
		if s.compared++; s.compared%(1<<18) == 0 {
			if s.ctx.Err() != nil {
				return context.Cause(s.ctx)
			}
			s.show(time.Now())
		}
		if id != last.id || first {
			last, first, noted = record{id, in.origin(index)}, false, false
			return nil
		}
		if !noted {
			noted = true
			if err := s.duplicates.Add(id, last.append(buf[:0])); err != nil {
				return err
			}
		}
		return s.duplicates.Add(id, in.origin(index).append(buf[:0]))
	})
	if err == nil {
		err = context.Cause(s.ctx)
	}
	return err
}

func (s *search) conclude(interrupted bool) (*report.Unique, error) {
	r := &report.Unique{Format: s.f.Name, Status: report.Pass, IDs: s.ids, Compared: s.compared,
		Interrupted: interrupted}
	if interrupted {
		r.Status = report.Warn
	}
	for _, in := range s.found {
		in.source.Bad, in.source.Examples = in.bad.Count, in.bad.Examples
		if s.f.NodeCounter > 0 && in.source.IDs > 0 {
			in.source.Node = s.node(in.node)
		}
		if in.source.Bad > 0 || in.source.Error != "" {
			r.Status = report.Fail
		}
		r.Sources = append(r.Sources, in.source)
	}
	if s.ids == 0 && !interrupted {
		r.Status = report.Fail
	}
	clashes := map[[2]uint32]uint64{}
	err := groups(&s.duplicates, func(group []record, n uint64) {
		d := report.Duplicate{Text: s.f.InEncoding(group[0].id, s.f.Encodings[0]), Count: n}
		for _, r := range group {
			d.Places = append(d.Places, report.Place{Source: s.sources[r.source].Name,
				Line: r.line})
		}
		slices.SortFunc(d.Places, func(a, b report.Place) int {
			return cmp.Or(strings.Compare(a.Source, b.Source), cmp.Compare(a.Line, b.Line))
		})
		r.Duplicates++
		r.Extra += n - 1
		if len(r.First) < maxFirst {
			r.First = append(r.First, d)
		}
		if s.o.Each != nil {
			s.o.Each(d)
		}
		if s.f.NodeCounter > 0 {
			s.countClashes(clashes, group)
		}
	})
	if err != nil {
		return nil, err
	}
	if r.Duplicates > 0 {
		r.Status = report.Fail
	}
	r.Clashes = s.clashes(clashes)
	return r, nil
}

func (s *search) countClashes(clashes map[[2]uint32]uint64, group []record) {
	var sources []uint32
	for _, r := range group {
		sources = append(sources, r.source)
	}
	slices.Sort(sources)
	var pairs [][2]uint32
	for i := range sources[1:] {
		pairs = append(pairs, [2]uint32(sources[i:]))
	}
	for _, pair := range slices.Compact(pairs) {
		if _, known := clashes[pair]; known || len(clashes) < maxClashes {
			clashes[pair]++
		}
	}
}

func (s *search) clashes(counts map[[2]uint32]uint64) (all []report.Clash) {
	for pair, n := range counts {
		a, b := &s.found[pair[0]], &s.found[pair[1]]
		all = append(all, report.Clash{Sources: [2]string{a.source.Name, b.source.Name},
			Duplicates: n,
			Node:       s.node(nodeBits{a.node.always & b.node.always, a.node.ever | b.node.ever})})
	}
	slices.SortFunc(all, func(a, b report.Clash) int {
		return cmp.Or(-cmp.Compare(a.Duplicates, b.Duplicates),
			slices.Compare(a.Sources[:], b.Sources[:]))
	})
	return all
}

// node returns the node ID. If its size is unknown, node returns the high bits that are the same in
// all IDs.
func (s *search) node(field nodeBits) string {
	width := s.f.NodeCounter
	same := width - bits.Len64(field.always^field.ever)
	if size := s.o.NodeBits; size > 0 {
		if same < size {
			return "several node IDs of " + words.Plural(uint64(size), "bit")
		}
		return fmt.Sprintf("%d/%d", field.always>>(width-size), size)
	}
	if same == 0 {
		return "several node IDs"
	}
	return fmt.Sprintf("%0*b...", same, field.always>>(width-same))
}
