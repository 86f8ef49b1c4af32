package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/sortid/sortid/internal/spec"
)

const (
	// maxRisk limits the probability of two equal IDs over all years.
	maxRisk = 1e-6

	secondsPerYear = 365.2425 * 24 * 60 * 60

	// allowance is the default rollback allowance, in seconds.
	allowance = 10

	// maxOverflow limits the share of ticks in which the counter overflows.
	maxOverflow = 1e-3

	// Keys of Options.
	nodeBits      = "node_bits"
	overflowGuard = "overflow_guard"
)

type Request struct {
	Rate      float64 `json:"rate"`      // IDs a second, of all processes together
	Burst     float64 `json:"burst"`     // the most IDs that one process asks for at once; 0: unknown
	Processes int     `json:"processes"` // at the same time
	Years     float64 `json:"years"`     // how long
	Bits      int     `json:"bits"`      // of the widest ID that fits the column: 64 or 128; 0: any
	Nodes     bool    `json:"can_assign_nodes"`
	From      string  `json:"from"` // first day, as in 2026-11-21
}

type Plan struct {
	Request     Request  `json:"asked"`
	IDs         float64  `json:"ids"`         // made in all years
	Recommended string   `json:"recommended"` // a format's name; "" if none fits
	Command     string   `json:"command,omitempty"`
	Formats     []Format `json:"formats"`
}

// A Format says how well one format fits.
type Format struct {
	Format  string   `json:"format"`
	Fits    bool     `json:"fits"`
	Reasons []string `json:"reasons"` // why it does not fit, or what makes its IDs unique

	// Collision is the probability of two equal IDs over all years.
	Collision float64 `json:"collision_probability"`

	// PerTick is how many IDs one process can make in a tick, on average.
	PerTick float64 `json:"ids_per_tick"`
	Tick    float64 `json:"tick_seconds"`

	// How long a burst waits, or how far its IDs are ahead of the clock.
	BurstWaits float64 `json:"burst_waits_seconds"`
	BurstAhead float64 `json:"burst_ahead_seconds"`

	Ends    string         `json:"ends"`  // the last day of the timestamps
	Bytes   int            `json:"bytes"` // in a column of PostgreSQL
	Column  string         `json:"column"`
	Options map[string]int `json:"options"` // what to give the generator
}

type load struct {
	request   Request
	perSecond float64 // IDs of one process
	pairs     float64 // the result of the function pairs
}

// Compute returns the plan, or an error that names the field out of range.
func Compute(r Request) (*Plan, error) {
	from, err := r.check()
	if err != nil {
		return nil, err
	}
	p := &Plan{Request: r, IDs: r.Rate * r.Years * secondsPerYear}
	l := &load{request: r, perSecond: r.Rate / float64(r.Processes), pairs: pairs(r)}
	end := from.AddDate(0, 0, int(math.Ceil(r.Years*365.2425)))
	preferred := 0
	for _, s := range spec.Ours() {
		f := l.format(s, end)
		if rank := s.Plan.Model.Preference; f.Fits && (preferred == 0 || rank < preferred) {
			preferred, p.Recommended, p.Command = rank, s.Name, f.command(s, r.Processes)
		}
		p.Formats = append(p.Formats, f)
	}
	return p, nil
}

func (l *load) format(s *spec.Format, end time.Time) Format {
	m, sql := &s.Plan.Model, s.SQL
	f := Format{
		Format: s.Name, Fits: true, Tick: s.Tick.Seconds(), PerTick: math.Floor(m.PerTick),
		Ends: s.Last.UTC().Format(time.DateOnly), Bytes: sql.Bytes, Column: sql.Postgres,
		Options: map[string]int{}, Reasons: []string{},
	}
	if s.NodeCounter > 0 {
		l.byNode(s, m, &f)
	} else {
		l.byChance(s, m, &f)
	}
	if l.request.Processes == 1 && f.Fits {
		f.Reasons = []string{"one generator never makes an ID twice"}
	}
	if f.Collision > maxRisk {
		f.refuse("collision: %s; the limit is one in a million", Odds(f.Collision))
	}
	if end.After(s.Last) {
		f.refuse("its timestamps end in %d", s.Last.Year())
	}
	if l.request.Bits != 0 && s.Bits > l.request.Bits {
		f.refuse("an ID has %d bits", s.Bits)
	}
	return f
}

func (r *Request) check() (from time.Time, err error) {
	switch from, err = time.Parse(time.DateOnly, r.From); {
	case err != nil:
		return from, fmt.Errorf("from is %q, want a day such as 2026-11-21", r.From)
	case !(r.Rate > 0 && r.Rate <= 1e15):
		return from, fmt.Errorf("rate is %v, want IDs a second: more than 0, at most 1e15", r.Rate)
	case !(r.Burst >= 0 && r.Burst <= 1e12):
		return from, fmt.Errorf("burst is %v, want IDs at once: 0 to 1e12", r.Burst)
	case r.Processes < 1 || r.Processes > 1e9:
		return from, fmt.Errorf("processes is %d, want 1 to 1000000000", r.Processes)
	case !(r.Years > 0 && r.Years <= 10000):
		return from, fmt.Errorf("years is %v, want more than 0, at most 10000", r.Years)
	case r.Bits != 0 && r.Bits != 64 && r.Bits != 128:
		return from, errors.New("bits is neither 64 nor 128 nor any")
	}
	return from, nil
}

// pairs returns how often, over all years, two processes are expected to make IDs in the same
// millisecond. Only such IDs can be equal.
func pairs(r Request) float64 {
	processes := float64(r.Processes)
	perMilli := r.Rate / processes / 1000
	return r.Years * secondsPerYear * 1000 * processes * (processes - 1) / 2 * perMilli * perMilli
}

// collision returns the probability of two equal IDs. The IDs of a pair are equal with probability
// 2^-bits.
func (l *load) collision(bits float64) float64 {
	return -math.Expm1(-l.pairs * math.Exp2(-bits))
}

func (f *Format) refuse(format string, args ...any) {
	if f.Fits {
		f.Fits, f.Reasons = false, nil
	}
	f.Reasons = append(f.Reasons, fmt.Sprintf(format, args...))
}

func (f *Format) because(format string, args ...any) {
	if !f.Fits {
		return
	}
	f.Reasons = append(f.Reasons, fmt.Sprintf(format, args...))
}

// byChance plans a format that needs no node IDs, but can have them.
func (l *load) byChance(s *spec.Format, m *spec.Model, f *Format) {
	if m.Least > 0 {
		f.judgeWaits(l, m.PerTick, m.Least)
	}
	nodes := l.request.Nodes && m.NodeBits > 0
	if sizes := nodeSizes(l.request.Processes, m.NodeBits); nodes && l.request.Processes > 1 &&
		len(sizes) > 0 {
		f.Options[nodeBits] = sizes[0]
		f.because("a %s ID of %d bits for each process", s.Maker.Node, sizes[0])
		return
	}
	f.Collision = l.collision(m.RandomBits)
	if nodes {
		f.because("there are %s IDs for at most %d processes", s.Maker.Node, 1<<m.NodeBits)
	} else {
		f.because("%s", m.Unique)
	}
}

// judgeWaits judges rates and bursts in a format that waits if a millisecond is full. The
// parameters mean and least say how many IDs fit in a millisecond, on average and at least.
func (f *Format) judgeWaits(l *load, mean, least float64) {
	if l.request.Burst > 0 {
		f.BurstWaits = math.Floor((l.request.Burst-1)/mean) * f.Tick
	}
	if l.perSecond*f.Tick > least {
		f.refuse("a process makes at most %.0f IDs a second", least/f.Tick)
	}
}

// nodeSizes returns sizes of node IDs. The first has room for twice the processes, for rolling
// deployments. The last has just enough room.
func nodeSizes(processes, most int) (sizes []int) {
	least := max(1, int(math.Ceil(math.Log2(float64(processes)))))
	roomy := max(1, int(math.Ceil(math.Log2(2*float64(processes)))))
	for size := min(roomy, most); size >= least; size-- {
		sizes = append(sizes, size)
	}
	return sizes
}

// byNode plans a format that needs node IDs. If its counter overflows, IDs get the next tick.
func (l *load) byNode(s *spec.Format, m *spec.Model, f *Format) {
	if l.request.Processes > 1 && !l.request.Nodes {
		f.refuse("each process needs a node ID of its own, assigned or leased")
	}
	sizes := nodeSizes(l.request.Processes, m.NodeBits)
	if len(sizes) == 0 {
		f.refuse("there are at most 2^%d node IDs", m.NodeBits)
		return
	}
	// If no size is enough, the plan shows the last size.
	perTick := l.perSecond * f.Tick
	peak := perTick + 6*math.Sqrt(perTick)
	rate, burst := false, false
	for _, size := range sizes {
		var guard int
		var mean float64
		guard, mean, rate = counter(s.NodeCounter-size, peak)
		f.Options[nodeBits], f.Options[overflowGuard] = size, guard
		f.PerTick = math.Floor(mean)
		if l.request.Burst > 0 {
			f.BurstAhead = math.Floor((l.request.Burst-1)/mean) * f.Tick
		}
		if burst = f.BurstAhead <= allowance; rate && burst {
			break
		}
	}
	if !rate {
		f.refuse("a process would make more IDs than its counter of %d bits holds in %s",
			s.NodeCounter-f.Options[nodeBits], Seconds(f.Tick))
	}
	if !burst {
		f.refuse("a burst would run %s ahead of the clock, more than the allowance of %d s",
			Seconds(f.BurstAhead), allowance)
	}
	f.because("a node ID of %d bits for each process", f.Options[nodeBits])
}

// counter returns the number of guard bits: high bits of the counter that start at zero. With
// them, perTick IDs overflow the counter in at most one tick of a thousand. The result mean is how
// many IDs fit in a tick on average. The result ok is false if no number of guard bits is enough.
func counter(bits int, perTick float64) (guard int, mean float64, ok bool) {
	if bits <= 4 {
		guard = 1 // the default of scru64 for node IDs of 20 or more bits
	}
	size := math.Exp2(float64(bits))
	for ; ; guard++ {
		starts := math.Exp2(float64(bits - guard)) // values at which a counter can start
		mean = size - (starts-1)/2
		full := perTick - 1 - (size - starts) // starts that leave too little room
		if ok = full/starts <= maxOverflow; ok || guard == bits {
			return guard, mean, ok
		}
	}
}

func (f *Format) command(s *spec.Format, processes int) string {
	command := "sortid new " + s.Name
	switch size := f.Options[nodeBits]; {
	case size == 0:
	case processes == 1:
		command += fmt.Sprintf(" --%s 0/%d", s.Maker.Node, size)
	default:
		command += fmt.Sprintf(" --lease STORE --node-bits %d", size)
	}
	if guard := f.Options[overflowGuard]; guard > 0 {
		command += fmt.Sprintf(" --guard %d", guard)
	}
	return command
}

// Preferred returns the format to recommend first.
func Preferred() *spec.Format {
	return slices.MinFunc(spec.Ours(), func(a, b *spec.Format) int {
		return a.Plan.Model.Preference - b.Plan.Model.Preference
	})
}
