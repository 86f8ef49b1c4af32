package gencore

import (
	"math/rand/v2"
	"sync/atomic"
)

// versionStep is the difference between two versions. It is far above the room of a window plus the
// number of goroutines, so a word of one version never looks like a word of another version.
const versionStep = 1 << 24

// A pad keeps values apart that different processors write.
type pad [64]byte

// A Window lets goroutines take consecutive numbers without a lock. It is open for a short time, in
// which the clock shows one tick. A caller that holds the generator's lock opens and closes it.
//
// Each open window has a version, and a word: the version plus how many numbers are taken. To take
// a number, a goroutine reads the version, then the other values, and adds one to the version's
// word. If somebody closed the window meanwhile, the word no longer has this version. Then the
// goroutine has no number. The model dev/proof/window.pml shows that each step is needed.
//
// A goroutine that adds one too late changes a word that is not in use. After three more windows,
// the word is in use again. If the goroutine is so late, one number is never used.
type Window struct {
	_ pad

	version      atomic.Uint64
	from, length atomic.Uint64 // the counter values while it is open
	room         atomic.Uint64 // for how many numbers
	number       atomic.Uint64
	high, node   atomic.Uint64
	mask         atomic.Uint64

	words [4]struct {
		_    pad
		word atomic.Uint64
	}
	_ pad
}

// Values are what a generator's state has while a window is open.
type Values struct {
	Number     uint64 // of the last ID before the window; from [Window.Take], of the ID to make
	High, Node uint64 // bits that all IDs of the window have
	mask       uint64
}

// Random returns 64 new random bits of the ChaCha8 generator that each thread has. That generator
// never gets a new seed, so it is the same in copies of a virtual machine. The mask is not the
// same, because the generator's [Source] makes a new one for each window.
func (v Values) Random() uint64 { return rand.Uint64() ^ v.mask }

// Take takes the next number, if a window is open at this value of [clock.Counter].
func (w *Window) Take(counter uint64) (v Values, ok bool) {
	version := w.version.Load()
	length := w.length.Load()
	if counter-w.from.Load() >= length {
		return v, false
	}
	room := w.room.Load()
	v = Values{w.number.Load(), w.high.Load(), w.node.Load(), w.mask.Load()}
	taken := w.word(version).Add(1) - version
	v.Number += taken
	return v, taken <= room
}

func (w *Window) word(version uint64) *atomic.Uint64 {
	return &w.words[version/versionStep%uint64(len(w.words))].word
}

// open needs a closed window. It sets the length last, because a length shows that the other values
// are there.
func (w *Window) open(from, length, room uint64, v Values) {
	w.from.Store(from)
	w.room.Store(room)
	w.number.Store(v.Number)
	w.high.Store(v.High)
	w.node.Store(v.Node)
	w.mask.Store(v.mask)
	version := w.version.Load()
	w.word(version).Store(version)
	w.length.Store(length)
}

// close returns how many numbers of the window were taken. A window without a length has none.
func (w *Window) close() uint64 {
	if w.length.Load() == 0 {
		return 0
	}
	w.length.Store(0)
	version := w.version.Load()
	w.version.Store(version + versionStep)
	const end = versionStep / 2 // no room is so large
	return min(w.word(version).Swap(version+end)-version, w.room.Load())
}
