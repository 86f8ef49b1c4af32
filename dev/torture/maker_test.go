//go:build unix

package torture

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/store"
)

// makerArgument as first argument makes the test binary a maker.
const makerArgument = "maker"

// programs has what the test binary can be.
var programs = map[string]func(args []string) error{makerArgument: makerMain}

func TestMain(m *testing.M) {
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		// The tests mostly wait, so more of them can run at a time than there are processors.
		parallel := flag.Lookup("test.parallel")
		flag.Parse()
		if parallel.Value.String() == parallel.DefValue {
			parallel.Value.Set(strconv.Itoa(max(4, runtime.GOMAXPROCS(0))))
		}
		os.Exit(m.Run())
	}
	if err := programs[os.Args[1]](os.Args[2:]); err != nil {
		log.New(os.Stderr, "", 0).Fatal(err)
	}
}

// makerMain makes scru64 IDs on a lease, checks them, and prints the ticks that it claims. The
// tests start, stop and kill it.
//
// With -unfenced it ignores the end of its window, and uses its node ID until it learns that the
// lease is lost. The tests must find that such makers use ticks twice.
func makerMain(args []string) error {
	config := lease.Config{Format: lease.SCRU64(), Wait: true, Now: movedNow}
	flags := flag.NewFlagSet(makerArgument, flag.ExitOnError)
	url := flags.String("lease", "", "the `URL` of the store")
	rate := flags.Int("rate", 1000, "IDs a second")
	unfenced := flags.Bool("unfenced", false, "continue after the end of the lease's window")
	flags.StringVar(&config.Realm, "realm", "", "the realm")
	flags.IntVar(&config.NodeBits, "node-bits", 0, "bits of the node ID")
	flags.DurationVar(&config.Window, "window", 0, "the window")
	flags.Parse(args)

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go moveClock()
	if err := makeIDs(ctx, *url, *rate, *unfenced, config); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

func makeIDs(ctx context.Context, url string, rate int, unfenced bool, config lease.Config) error {
	s, err := store.OpenSource(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := s.Acquire(ctx, config)
	if err != nil {
		return err
	}
	defer l.Close(context.WithoutCancel(ctx))
	b := &book{Lease: l, out: os.Stdout, unfenced: unfenced}
	g, err := scru64.NewGenerator(scru64.Options{Lease: b, GeneratorOptions: sortid.GeneratorOptions{
		Clock: movedNow, RollbackPolicy: sortid.RollbackWait}})
	if err != nil {
		return err
	}
	const pause = 10 * time.Millisecond
	ids := make([]scru64.ID, max(1, rate*int(pause)/int(time.Second)))
	for next := time.Now(); ctx.Err() == nil; {
		if err := g.FillContext(ctx, ids); err != nil {
			if ctx.Err() == nil {
				log.Print(err)
			}
			time.Sleep(pause)
			continue
		}
		if err := b.check(ids); err != nil {
			return err
		}
		if limit := time.Now().Add(-time.Second); next.Before(limit) {
			next = limit
		}
		next = next.Add(pause)
		time.Sleep(time.Until(next))
	}
	return b.write("end")
}

// A book is a lease that prints claims before a generator uses them.
type book struct {
	*lease.Lease
	out      io.Writer
	unfenced bool

	made   int       // how many IDs were checked
	last   scru64.ID // the last ID that was checked
	claims []claim   // the claim of the last ID, and later claims
}

func (b *book) ClaimTick(tick int64) (nodeID uint32, claimed int64, err error) {
	nodeID, claimed, err = b.Lease.ClaimTick(tick)
	if b.unfenced && errors.Is(err, lease.ErrExpired) {
		nodeID, claimed, err = b.NodeID(), tick, nil
	}
	if err != nil {
		return 0, 0, err
	}
	b.claims = append(b.claims, claim{node: nodeID, tick: claimed})
	return nodeID, claimed, b.write("claim", claimed, nodeID, b.NodeBits())
}

// write prints a line. It makes a single write, so that a kill does not cut the line.
func (b *book) write(what string, values ...any) error {
	line := append([]any{what, time.Now().UnixNano(), b.made}, values...)
	_, err := fmt.Fprintln(b.out, line...)
	return err
}

// check checks that IDs increase, and that their ticks and node IDs were claimed.
func (b *book) check(ids []scru64.ID) error {
	for _, id := range ids {
		if id <= b.last {
			return fmt.Errorf("wrong ID: %v after %v", id, b.last)
		}
		b.last = id
		for len(b.claims) > 0 &&
			(b.claims[0].tick != int64(id.Timestamp()) || b.claims[0].node != id.NodeID(b.NodeBits())) {
			b.claims = b.claims[1:]
		}
		if len(b.claims) == 0 {
			return fmt.Errorf("wrong ID: %v has a tick or a node ID that was not claimed", id)
		}
	}
	b.made += len(ids)
	return nil
}

// clockOffset is added to the machine's clock.
var clockOffset atomic.Int64

func movedNow() time.Time { return time.Now().Add(time.Duration(clockOffset.Load())) }

// moveClock changes the clock at a SIGUSR1, and changes it back at the next. A step is up to 12 s,
// more than the 10 s that the lease allows.
func moveClock() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	for range signals {
		if clockOffset.Load() != 0 {
			clockOffset.Store(0)
		} else {
			clockOffset.Store(rand.Int64N(int64(24*time.Second)) - int64(12*time.Second))
		}
	}
}
