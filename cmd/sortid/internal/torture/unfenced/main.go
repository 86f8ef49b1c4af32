// Command unfenced makes IDs as "sortid new scru64 --lease" does, with the same flags, but on
// a broken lease. It uses its node ID until it learns that it has lost it, like a program that
// trusts a time-to-live. The torture must find that it makes IDs twice.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/scru64"
	"github.com/sortid/sortid/store"
)

// A brokenLease grants ticks beyond the window of its lease.
type brokenLease struct{ *lease.Lease }

func (l brokenLease) ClaimTick(tick int64) (nodeID uint32, claimed int64, err error) {
	nodeID, claimed, err = l.Lease.ClaimTick(tick)
	if errors.Is(err, lease.ErrExpired) {
		return l.NodeID(), tick, nil
	}
	return nodeID, claimed, err
}

func main() {
	log.SetFlags(0)
	flags := flag.NewFlagSet("unfenced", flag.ExitOnError)
	url := flags.String("lease", "", "")
	realm := flags.String("realm", "", "")
	nodeBits := flags.Int("node-bits", 0, "")
	window := flags.Duration("lease-window", 0, "")
	guard := flags.Int("guard", 0, "")
	rate := flags.Int("rate", 0, "")
	flags.String("rollback", "", "")
	flags.Bool("forever", false, "")
	flags.Bool("create", false, "")
	flags.Parse(os.Args[3:]) // after "new scru64"

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *url, *rate, *guard, lease.Config{Realm: *realm, Format: lease.SCRU64,
		NodeBits: *nodeBits, Window: *window}); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, url string, rate, guard int, config lease.Config) error {
	s, err := store.Open(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := lease.Acquire(ctx, s, config)
	if err != nil {
		return err
	}
	defer l.Close(context.WithoutCancel(ctx))
	g, err := scru64.NewGenerator(scru64.Options{Lease: brokenLease{l}, OverflowGuard: guard})
	if err != nil {
		return err
	}
	const pause = 10 * time.Millisecond
	ids := make([]scru64.ID, rate*int(pause)/int(time.Second))
	out := bufio.NewWriter(os.Stdout)
	for ctx.Err() == nil {
		if err := g.Fill(ids); err != nil {
			return err
		}
		for _, id := range ids {
			fmt.Fprintln(out, id)
		}
		if err := out.Flush(); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}
