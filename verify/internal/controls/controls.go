// Package controls has small generators of all formats. They make mistakes on demand, which the
// tests of verify must find.
package controls

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/sortid/sortid/euid"
	"github.com/sortid/sortid/internal/integer"
	"github.com/sortid/sortid/scru128"
	"github.com/sortid/sortid/scru160"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/uid60"
)

// A Model makes IDs with its own clock.
type Model struct {
	*rand.Rand
	MS int64 // Unix milliseconds

	fault string // the mistake to make, or empty
	n     int
	pace  float64
}

var (
	start = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC).UnixMilli()

	// Now is later than all IDs of the models.
	Now = time.UnixMilli(start).Add(12 * time.Hour)
)

// New returns a model that makes n IDs. Before each ID, the clock advances with probability pace.
func New(seed uint64, fault string, n int, pace float64) *Model {
	return &Model{Rand: rand.New(rand.NewPCG(seed, 99)), fault: fault, n: n, MS: start, pace: pace}
}

// happens returns true with probability 1/sides if the model has this fault.
func (m *Model) happens(fault string, sides int) bool {
	return fault != "" && m.fault == fault && (sides == 1 || m.IntN(sides) == 0)
}

func (m *Model) Tick() {
	switch {
	case m.Float64() >= m.pace:
	case m.fault == "coarse":
		m.MS += 1000
	case m.happens("rollback", 100):
		m.MS -= 12_345
	default:
		m.MS += 1 + m.Int64N(3)
		if m.fault != "rollback" && m.IntN(200) == 0 {
			m.MS += m.Int64N(20_000)
		}
	}
}

func (m *Model) step(jump uint64) uint64 {
	switch {
	case m.happens("race", 50):
		return 0
	case m.happens("jump", 50):
		return jump
	}
	return 1
}

// Timestamp returns the clock's timestamp. The model's fault can change it.
func (m *Model) Timestamp(epoch time.Time, unit int64) uint64 {
	ms := m.MS - epoch.UnixMilli()
	switch m.fault {
	case "seconds":
		return uint64(ms / 1000)
	case "micros":
		return uint64(ms*1000) & (1<<48 - 1)
	case "tick250":
		return uint64(ms / 250)
	case "epoch2010":
		return uint64((ms - time.Date(2010, 11, 4, 1, 42, 54, 0, time.UTC).UnixMilli()) / unit)
	case "unixepoch":
		return uint64(m.MS / unit)
	}
	return uint64(ms / unit)
}

// bits returns random bits. The other parameters are names of faults. With biased, one bit is 1 too
// often. With short, the seed has 16 bits. With stuck, one bit is always 0.
func (m *Model) bits(bits int, biased, short, stuck string) uint64 {
	v := m.Uint64()
	if m.happens(short, 1) {
		v = v & 0xffff * 0xd1342543de82ef95
		v ^= v >> 29
		v *= 0x2545f4914f6cdd1d
		v ^= v >> 32
	}
	v >>= 64 - bits
	if m.happens(biased, 4) {
		v |= 1 << (bits / 2)
	}
	if m.happens(stuck, 1) {
		v &^= 1 << (bits / 3)
	}
	return v
}

func SCRU128(m *Model) (lines []string) {
	var last, renewed, counter uint64
	for range m.n {
		if m.Tick(); m.fault == "frozen" {
			m.MS = start
		}
		now := m.Timestamp(time.UnixMilli(0), 1)
		switch {
		case now != last:
			lo := m.bits(24, "lo-biased", "", "")
			switch m.fault {
			case "lo-zero":
				lo = 0
			case "lo-kept":
				lo = (counter + 1) & (1<<24 - 1)
			case "lo-sequential":
				lo = now * 977 & (1<<24 - 1)
			}
			every := uint64(1000)
			switch m.fault {
			case "hi-often":
				every = 0
			case "hi-late":
				every = 1500
			case "hi-kept":
				every = 1 << 48
			}
			if now-renewed >= every || now < last {
				if renewed = now; !m.happens("hi-half", 2) {
					counter = m.bits(24, "hi-biased", "", "") << 24
					if m.happens("hi-biased", 2) {
						counter |= 1 << 36
					}
				}
			}
			counter = counter&^(1<<24-1) | lo
			if m.happens("carry-lost", 200) {
				counter |= (1<<24 - 1) - lo&63
			}
		case m.fault == "stuck":
		case m.fault == "carry-lost" && counter&(1<<24-1) == (1<<24-1):
			counter &^= (1<<24 - 1)
		default:
			counter += m.step(2)
		}
		last = now
		entropy := m.bits(32, "biased", "short", "stuck-bit")
		switch m.fault {
		case "entropy-counts":
			entropy = uint64(len(lines))
		case "entropy-repeats-last":
			if len(lines)%2 == 1 {
				entropy = uint64(scru128.MustParse(lines[len(lines)-1]).Entropy())
			}
		case "entropy-mirrored":
			entropy = entropy&0xffff<<16 | entropy&0xffff
		}
		id := scru128.FromUint128(now<<16|counter>>32, counter<<32|entropy)
		lines = append(lines, id.String())
	}
	return lines
}

const nodeID, nodeIDSize = 42, 8

// SCRU64 returns texts of IDs with the node spec 42/8.
func SCRU64(m *Model) (lines []string) {
	const size = 24 - nodeIDSize
	var last, counter uint64
	node := uint64(nodeID)
	for i := range m.n {
		m.MS += 20 // ticks are long
		m.Tick()
		now := m.Timestamp(time.UnixMilli(0), 256)
		switch {
		case now != last:
			counter = m.bits(size, "biased", "", "stuck-bit")
			switch m.fault {
			case "zero":
				counter = 0
			case "kept":
				counter = uint64(i) & (1<<size - 1)
			case "guard":
				counter >>= 3
			case "overflow", "wrap":
				if m.IntN(50) == 0 {
					counter |= 1<<size - 1 - 31&m.Uint64()
				}
			}
			if m.happens("node", 400) {
				node ^= 1
			}
		case m.fault == "wrap" && counter == 1<<size-1:
			counter = 0
		default:
			counter += m.step(2)
		}
		if counter >= 1<<size && m.fault != "overflow" && m.fault != "kept" {
			for now == last {
				m.MS++
				now = m.Timestamp(time.UnixMilli(0), 256)
			}
			counter = m.bits(size, "", "", "")
		}
		last = now
		v := now<<24 + node<<size + counter
		if m.happens("two-nodes", 2) {
			v ^= 1 << size
		}
		lines = append(lines, scru64.ID(v).String())
	}
	return lines
}

// SCRU160 returns texts of IDs. In the field random16, ext is the number of bits that extend the
// counter, and node is the size of the node ID. If micros is true, the counter contains
// microseconds.
func SCRU160(m *Model, ext, node int, micros bool) (lines []string) {
	var last, counter uint64
	size := 16 + ext
	us := int64(0)
	for range m.n {
		if m.Tick(); micros {
			if us += m.Int64N(3) / 2; uint64(m.MS) != last/1000 || us > 999 {
				m.MS += us / 1000
				us = m.Int64N(600)
			}
		}
		tick := m.Timestamp(time.UnixMilli(0), 1)
		now := tick
		if micros {
			size, now = 6, tick*1000+uint64(us)
		}
		switch {
		case now != last:
			counter = m.bits(size-1, "start-biased", "", "")
			switch m.fault {
			case "five":
				counter = 5
			case "wide":
				counter = m.bits(size, "", "", "")
			case "zero":
				counter = 0
			}
		default:
			counter += m.step(2)
		}
		if counter >= 1<<size {
			m.MS++
			counter = m.bits(size-1, "", "", "")
			tick = m.Timestamp(time.UnixMilli(0), 1)
			if now, us = tick, 0; micros {
				now *= 1000
			}
		}
		last = now
		head, tail := counter, m.bits(16, "biased16", "", "")
		if micros {
			us := uint64(us)
			if m.fault == "micros-nano" {
				us += 410
			}
			head = us<<6 | counter
		} else if ext > 0 {
			head = counter >> ext
			tail = tail&(1<<(16-ext)-1) | counter<<(16-ext)&0xffff
		}
		if node > 0 {
			shift := 16 - ext - node
			tail = tail&^((1<<node-1)<<shift) | 5<<shift
			if m.happens("node", 100) {
				tail ^= 1 << shift
			}
		}
		hi, lo := m.bits(40, "biased80", "", ""), m.bits(40, "", "short", "stuck-bit")
		v := integer.Words{High: tick >> 16,
			Mid: tick<<48 | head<<32 | tail<<16 | hi>>24, Low: hi<<40 | lo}
		var b [24]byte
		v.Put(&b)
		lines = append(lines, scru160.ID(b[4:]).String())
	}
	return lines
}

// EUID returns texts of IDs. The parameter ext is the size of the extension in bits.
func EUID(m *Model, ext int) (lines []string) {
	var last, high, header uint64
	for range m.n {
		m.Tick()
		now := m.Timestamp(time.UnixMilli(0), 1)
		switch {
		case now != last:
			before := high
			high = m.bits(32, "high-biased", "", "")
			header = m.bits(15, "header-biased", "", "")>>ext<<ext | 1<<ext>>1
			switch m.fault {
			case "high-zero":
				high = 0
			case "high-kept":
				high = before + 1
			case "wrap":
				if m.IntN(200) == 0 {
					high |= 1<<32 - 1 - 15&m.Uint64()
				}
			}
		default:
			if m.happens("header", 50) {
				header += 1 << ext
			}
			high += m.step(7) // with the fault "wrap", high goes from all ones to 0
		}
		high &= 1<<32 - 1
		last = now
		version := uint64(0)
		if m.happens("version", 1) {
			version = 2
		}
		low := m.bits(32, "biased", "short", "stuck-bit")
		id := euid.FromUint128(now<<22|header&0x7fff<<7|uint64(ext)<<3|version, high<<32|low)
		lines = append(lines, id.String())
	}
	return lines
}

// UID60 returns texts of IDs. The parameter worker is the size of the worker ID in bits.
func UID60(m *Model, worker int) (lines []string) {
	sequence, used := uint64(511), 0
	var last uint64
	for range m.n {
		m.Tick()
		now := m.Timestamp(uid60.ID(0).Time(), 1)
		again := now == last
		repeated := uint64(0)
		switch {
		case again && m.happens("race", 50):
		case m.happens("jump", 50) && sequence < 500:
			sequence += 2
		case m.fault == "each-zero" && !again:
			sequence = 0
		case m.fault == "hurry": // from 511 to 0 without a wait
			sequence = (sequence + 1) & 511
		case m.fault == "wrap" && again && used == 512:
			m.MS++
			now = m.Timestamp(uid60.ID(0).Time(), 1)
			sequence = (sequence + 1) & 511
		case m.happens("again", 50) && again && used >= 4 && sequence >= 4:
			repeated = 3
		case sequence == 511 && again && m.fault != "wrap":
			m.MS++
			now = m.Timestamp(uid60.ID(0).Time(), 1)
			sequence = 0
		default:
			sequence = (sequence + 1) & 511
		}
		if now != last {
			used = 0
		}
		last = now
		used++
		random := m.bits(9, "biased", "", "stuck-bit")
		if m.fault == "counts" {
			random = uint64(len(lines)) & 511
		}
		if worker > 0 {
			random = random>>worker | 1<<(9-worker)
			if m.happens("worker", 100) {
				random ^= 1 << (9 - worker)
			}
		}
		lines = append(lines, uid60.ID(now<<18|(sequence-repeated)<<9|random).String())
	}
	return lines
}

func Text(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// A Subject is a generator in one mode, with verify's options.
type Subject struct {
	Format, Mode string
	Make         func(m *Model) []string
	Nodes        []string
	NodeBits     int
	LeavesTicks  bool     // a full counter advances the timestamp
	Random       []string // the random fields
}

var Subjects = []Subject{
	{Format: "scru64", Make: SCRU64, LeavesTicks: true, Random: []string{"counter"}},
	{Format: "scru64", Mode: "node", Make: SCRU64, Nodes: []string{"42/8"}},
	{Format: "scru128", Make: SCRU128, Random: []string{"entropy", "counter_lo", "counter_hi"}},
	{Format: "scru160", Make: func(m *Model) []string { return SCRU160(m, 0, 0, false) },
		Random: []string{"random80", "random16", "counter"}},
	{Format: "scru160", Mode: "extended",
		Make: func(m *Model) []string { return SCRU160(m, 5, 0, false) }},
	{Format: "scru160", Mode: "node",
		Make: func(m *Model) []string { return SCRU160(m, 3, 4, false) }, NodeBits: 4},
	{Format: "scru160", Mode: "micros",
		Make: func(m *Model) []string { return SCRU160(m, 0, 0, true) }},
	{Format: "euid", Make: func(m *Model) []string { return EUID(m, 0) },
		Random: []string{"random_low", "random_high", "header"}},
	{Format: "euid", Mode: "extension", Make: func(m *Model) []string { return EUID(m, 6) }},
	{Format: "uid60", Make: func(m *Model) []string { return UID60(m, 0) }, LeavesTicks: true,
		Random: []string{"random"}},
	{Format: "uid60", Mode: "worker", Make: func(m *Model) []string { return UID60(m, 3) },
		NodeBits: 3},
}

// Controls has a broken generator in each line: formats and modes of [Subjects], the fault, and the
// check that must fail. These settings can follow:
//
//	pace=  the probability that the clock advances before an ID
//	n=     the number of IDs
//	also=  prefixes of other checks that can fail
//	mixed  the IDs are not in order
const Controls = `
scru128,scru160,euid seconds               clock.unit pace=1
scru128,scru160,euid epoch2010             clock.epoch
scru128,scru160 micros                clock.unit
scru64         seconds               clock.unit
scru64         tick250               clock.unit
scru64         epoch2010             clock.epoch
uid60          unixepoch             clock.epoch
uid60          seconds               clock.unit pace=1 also=rules.overflow,rules.sequence

scru128        frozen                clock.frozen n=1100000
scru128        stuck                 rules.repeat
scru128        race                  rules.repeat
scru128        jump                  rules.step
scru128        carry-lost            rules.carry also=random.counter_lo
scru128        lo-zero               random.counter_lo.same also=rules.counter_lo
scru128        lo-kept               rules.counter_lo also=random.counter_lo
scru128        lo-sequential         random.counter_lo.serial
scru128        lo-biased             random.counter_lo.balance pace=0.5
scru128        hi-often              rules.counter_hi.early
scru128        hi-kept               rules.counter_hi
scru128        hi-late               rules.counter_hi pace=0.5
scru128        hi-half               rules.counter_hi
scru128        hi-biased             random.counter_hi.balance pace=1
scru128        biased                random.entropy.balance
scru128        stuck-bit             random.entropy.same
scru128        short                 random.entropy.repeats
scru128        entropy-counts        random.entropy.same
scru128        entropy-repeats-last  random.entropy.serial
scru128        entropy-mirrored      random.entropy.repeats

scru64:* race                  order.duplicate
scru64:* jump                  rules.step
scru64:* zero                  rules.start
scru64:* biased                random.counter.balance pace=1
scru64:* stuck-bit             random.counter.same
scru64:* wrap                  rules.overflow also=random.counter
scru64:* node                  rules.node
scru64:* kept                  rules.counter also=random.counter,rules.start
scru64:node    overflow              rules.overflow also=rules.node
scru64:node    two-nodes             rules.node also=order.,rules.step

scru160:* race                  rules.repeat
scru160:* jump                  rules.step
scru160:* five                  rules.start
scru160:* wide                  rules.start
scru160:* start-biased          random.counter.balance pace=0.5
scru160:* biased16              random.random16.balance
scru160:* biased80              random.random80.high.balance
scru160:* short                 random.random80.low.repeats
scru160:* stuck-bit             random.random80.low.same
scru160:node   node                  rules.node
scru160:micros micros-nano           rules.micros also=order.,rules.step

euid:* race                  rules.repeat
euid:* jump                  rules.step
euid:* header                rules.header
euid:* version               rules.version
euid:* wrap                  rules.overflow also=random.random_high
euid:* high-zero             random.random_high.same also=rules.counter
euid:* high-kept             rules.counter also=random.random_high
euid:* high-biased           random.random_high.balance pace=0.5
euid:* header-biased         random.header.balance pace=0.5
euid:* biased                random.random_low.balance
euid:* stuck-bit             random.random_low.same
euid:* short                 random.random_low.repeats

uid60:* race                  rules.sequence also=order.duplicate
uid60:* jump                  rules.step
uid60:* each-zero             rules.step
uid60:* hurry                 rules.sequence pace=0.001 also=order.duplicate
uid60:* again                 rules.sequence also=order.,rules.step
uid60:* biased                random.random.balance
uid60:* stuck-bit             random.random.same
uid60          counts                random.random.serial
uid60:worker   worker                rules.worker

scru128        biased                random.entropy.balance mixed
scru128        epoch2010             clock.epoch mixed
scru160        biased80              random.random80.high.balance mixed
scru160        biased16              random.random16.balance mixed
euid           version               rules.version mixed
euid           stuck-bit             random.random_low.same mixed
uid60          biased                random.random.balance mixed
`

func Find(formatName, mode string) Subject {
	for _, s := range Subjects {
		if s.Format == formatName && s.Mode == mode {
			return s
		}
	}
	panic("no model of " + formatName + " " + mode + " in Subjects of verify/internal/controls")
}

// Sample returns n correct texts of a format.
func Sample(formatName string, n int) []string {
	return Find(formatName, "").Make(New(7, "", n, 0.1))
}

// Stream returns n lines with scru128 IDs. On average, a millisecond has perMilli IDs.
func Stream(n, perMilli int) []byte {
	return []byte(Text(SCRU128(New(1, "", n, 1/float64(perMilli)))))
}
