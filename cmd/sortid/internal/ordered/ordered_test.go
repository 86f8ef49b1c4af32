package ordered

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

type worker struct{ part, result int }

func workers(n int) (all []*worker) {
	for range n {
		all = append(all, &worker{})
	}
	return all
}

// counter returns a function that takes the numbers 1 to n, and then fails.
func counter(n int, err error) func(*worker) error {
	taken := 0
	return func(w *worker) error {
		if taken == n {
			return err
		}
		taken++
		w.part = taken
		return nil
	}
}

func square(w *worker) {
	for range rand.IntN(4) {
		runtime.Gosched() // another worker overtakes
	}
	w.result = w.part * w.part
}

func TestRun(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 1, 1000} {
		for _, count := range []int{1, 2, 16} {
			for _, end := range []error{io.EOF, broken} {
				all := workers(count)
				for range 2 { // they can be used again
					var got, want []int
					err := Run(all, counter(n, end), square, func(w *worker) error {
						got = append(got, w.result)
						return nil
					})
					for i := range n {
						want = append(want, (i+1)*(i+1))
					}
					if !slices.Equal(got, want) || err != end && (end != io.EOF || err != nil) {
						t.Errorf("%d parts, %d workers, %v: %v, and %d results: %.80v", n, count, end,
							err, len(got), fmt.Sprint(got))
					}
				}
			}
		}
	}
}

// After an error of give, Run does not wait for take, and gives nothing more.
func TestRunGiveFails(t *testing.T) {
	const last = 50
	full := errors.New("full")
	wait := make(chan bool)
	defer close(wait)
	take := counter(last+1, io.EOF)
	given := 0
	err := Run(workers(4), func(w *worker) error {
		err := take(w)
		if err == io.EOF {
			<-wait
		}
		return err
	}, square, func(*worker) error {
		if given++; given == last {
			return full
		}
		return nil
	})
	if err != full || given != last {
		t.Errorf("%v after %d results, want %v after %d", err, given, full, last)
	}
}
