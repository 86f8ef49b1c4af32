// Package ordered works on the parts of an input on all processors, and gives the results in the
// order of the parts.
package ordered

import (
	"io"
	"runtime"
	"sync"
)

// Workers returns how many workers keep the processors busy while one of them waits for its turn. More
// than eight processors help little, because one worker at a time writes.
func Workers() int { return min(runtime.GOMAXPROCS(0), 8) + 1 }

// Run lets each worker repeat three steps: take the next part, work on it, and give the result. One
// worker at a time takes, while others work. One worker at a time gives, in the order of the parts. A
// worker has the memory for one part and its result, so the number of workers limits the memory.
//
// If take fails, Run gives the parts before, and returns the error, or nil for [io.EOF]. Other workers
// may call take once more, and it must fail again. If give fails, Run returns the error at once,
// because another worker may wait for input. Then the caller must not use the workers again.
func Run[W any](workers []W, take func(W) error, work func(W), give func(W) error) error {
	var taking sync.Mutex
	turn := make(chan bool, 1) // of the next part; receives true when the parts before were given
	turn <- true
	taken, given := make(chan error, 1), make(chan error, 1) // the first error
	part := func(w W) bool {
		taking.Lock()
		mine, next := turn, make(chan bool, 1)
		turn = next
		err := take(w)
		taking.Unlock()
		if err == nil {
			work(w)
		}
		ok := <-mine
		if ok && err != nil {
			taken <- err
			ok = false
		} else if ok {
			if err := give(w); err != nil {
				given <- err
				ok = false
			}
		}
		next <- ok
		return ok
	}
	var running sync.WaitGroup
	for _, w := range workers {
		running.Go(func() {
			for part(w) {
			}
		})
	}
	select {
	case err := <-given:
		return err
	case err := <-taken:
		running.Wait()
		if err == io.EOF {
			return nil
		}
		return err
	}
}
