// Command sonyflake makes Sonyflake IDs with github.com/sony/sonyflake/v2 on a leased machine ID.
// Make the realm once, and then run as many of these programs as the realm has machine IDs:
//
//	sortid lease create bolt:leases.db --realm orders --node-bits 16
//	go run . bolt:leases.db
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/sony/sonyflake/v2"

	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: sonyflake URL-OF-STORE-OR-SERVER")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

const unit = 10 * time.Millisecond // of the time in Sonyflake IDs

func newSonyflake(machineID uint32) (*sonyflake.Sonyflake, error) {
	return sonyflake.New(sonyflake.Settings{
		TimeUnit:  unit,
		MachineID: func() (int, error) { return int(machineID), nil },
	})
}

// newGuard makes IDs only in units of time that are granted as a whole to the lease's machine ID.
func newGuard(l *lease.Lease) (*lease.Guard[int64], error) {
	clock, err := newSonyflake(0) // only for ToTime, which is the same for all machine IDs
	if err != nil {
		return nil, err
	}
	return lease.NewGuard(l, lease.Generator[int64]{
		New: func(machineID uint32) (func() (int64, error), error) {
			sf, err := newSonyflake(machineID)
			if err != nil {
				return nil, err
			}
			return sf.NextID, nil
		},
		Time: clock.ToTime,
		Tick: unit,
	}), nil
}

func run(url string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	source, err := store.OpenSource(ctx, url)
	if err != nil {
		return err
	}
	defer source.Close()
	l, err := source.Acquire(ctx, lease.Config{Realm: "orders", NodeBits: 16, MustExist: true})
	if err != nil {
		return err
	}
	defer l.Close(context.Background())
	ids, err := newGuard(l)
	if err != nil {
		return err
	}
	for range 10 {
		id, err := ids.Next(ctx) // waits if the lease has ended and the store is away
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return nil
}
