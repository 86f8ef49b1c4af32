package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/sortid/sortid/store/internal/connect"
)

// open returns the bucket's stream. If the stream is missing and create is true, open makes it. If
// two processes with the same options make it at once, both succeed.
func (s *Store) open(ctx context.Context, options Options, create bool) (jetstream.Stream,
	error) {
	name, replicas := "KV_"+s.name, max(options.Replicas, 1)
	stream, err := ask(ctx, s,
		func(ctx context.Context) (jetstream.Stream, error) { return s.js.Stream(ctx, name) })
	switch {
	case !errors.Is(err, jetstream.ErrStreamNotFound):
		return stream, err
	case !create:
		return nil, connect.Missing(fmt.Errorf("there is no bucket: %w", err))
	}
	if _, err := conditions(replicas, options.SyncAlways,
		s.conn.ConnectedServerVersion()); err != nil {
		return nil, err
	}
	return ask(ctx, s, func(ctx context.Context) (jetstream.Stream, error) {
		return s.js.CreateStream(ctx, jetstream.StreamConfig{
			Name:        name,
			Description: "Leases of node IDs (sortid). If records are lost, IDs can repeat.",
			Subjects:    []string{s.subject(">")}, Storage: jetstream.FileStorage,
			Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1,
			Replicas: replicas, DenyDelete: true, DenyPurge: true,
		})
	})
}

var unsafe = connect.Unsafe

// check fails with [lease.ErrUnsafe] if a bucket with this configuration could lose records, or
// answer with old ones.
func check(c jetstream.StreamConfig) error {
	edit := "; nats stream edit " + c.Name + " "
	subject := "$KV." + c.Name[len("KV_"):] + ".>"
	switch {
	case c.Storage != jetstream.FileStorage:
		return unsafe("it is in memory, but must be in files; make a new bucket")
	case c.Mirror != nil || len(c.Sources) > 0:
		return unsafe("it gets its messages from other streams; make a bucket for leases alone")
	case !slices.Equal(c.Subjects, []string{subject}) || c.SubjectTransform != nil:
		return unsafe("its subjects are %q, want %q alone; make a bucket for leases alone",
			c.Subjects, subject)
	case c.Retention != jetstream.LimitsPolicy:
		return unsafe("its retention policy is %v, want limits; make a new bucket", c.Retention)
	case c.MaxAge != 0:
		return unsafe("records expire after %v, want never"+edit+"--max-age 0", c.MaxAge)
	case c.Discard == jetstream.DiscardOld && (c.MaxMsgs > 0 || c.MaxBytes > 0):
		return unsafe("at its limit (%d messages or %d bytes) it drops the oldest records; it must "+
			"refuse new records instead, or have no limit"+edit+"--discard new", c.MaxMsgs,
			c.MaxBytes)
	case c.NoAck || c.PersistMode == jetstream.AsyncPersistMode:
		return unsafe("it does not acknowledge messages, or does so before they are stored; " +
			"make a new bucket")
	case c.Replicas > 1 && c.Duplicates < 10*time.Second:
		return unsafe("it forgets the IDs of messages after %v, want at least 10 s, because with "+
			"replicas a message may come twice"+edit+"--dupe-window 2m", c.Duplicates)
	case c.AllowDirect:
		return unsafe("direct gets are on, so a replica or a mirror may answer with an old " +
			"record" + edit + "--no-allow-direct, or let this program make the bucket")
	}
	return nil
}

// conditions returns what the guarantee depends on, or [lease.ErrUnsafe] if there can be no
// guarantee.
func conditions(replicas int, syncAlways bool, version string) (list []string, err error) {
	if syncAlways && !since(version, 2, 10) {
		return nil, unsafe("sync=always is stated, but this is version %s; only 2.10 and later "+
			"can sync each change", version)
	}
	if replicas > 1 && !since(version, 2, 11) {
		return nil, unsafe("the bucket has %d replicas, and before version 2.11 (this is %s) "+
			"replicas could accept two changes of the same revision; use one replica, or newer "+
			"servers", replicas, version)
	}
	if !syncAlways {
		list = append(list, "conditional: unless all servers have jetstream { sync_interval: "+
			"always }, they acknowledge a change up to two minutes before it is on their disks. "+
			"In this time, the change is lost if the machine crashes or, with replicas, if several "+
			"machines crash. If all servers have this setting, add sync=always to the URL")
	}
	if replicas > 1 {
		list = append(list, fmt.Sprintf("conditional: the bucket has %d replicas. If their "+
			"leader is cut off from the others, it may answer with old records until it notices. "+
			"For the full guarantee, use one replica", replicas))
	}
	return list, nil
}

func since(version string, major, minor int) bool {
	var a, b int
	fmt.Sscanf(version, "%d.%d", &a, &b) // other texts count as version 0.0
	return a > major || a == major && b >= minor
}
