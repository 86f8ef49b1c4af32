package realms

import (
	"context"
	"errors"
	"time"

	"github.com/sortid/sortid/cmd/sortid/internal/console"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/store/http"
)

// loadServer reads a realm from a server. It makes the records that show the same as the server's
// leases.
func loadServer(ctx context.Context, client *http.Client, name string) (*Realm, error) {
	info, err := client.Realm(ctx, name)
	if errors.Is(err, lease.ErrConfig) {
		return nil, console.UsageError(err)
	}
	if err != nil {
		return nil, err
	}
	r := newServerRealm(info, time.Now())
	for next, more := "", true; more; more = next != "" {
		var rows []lease.Holding
		if rows, next, err = client.Holdings(ctx, name, next, pageSize); err != nil {
			return nil, err
		}
		for _, row := range rows {
			r.add(row)
		}
	}
	return r, nil
}

func newServerRealm(info lease.RealmInfo, now time.Time) *Realm {
	return &Realm{Name: info.Name, Root: lease.Record{Realm: info.Name, Terms: info.Terms},
		records: map[lease.Block]lease.Record{}, now: info.Terms.At(now),
		ids: map[lease.Block]string{}, free: info.FreeShare}
}

// add adds a lease, and splits the larger node IDs around it.
func (r *Realm) add(row lease.Holding) {
	t := r.Root.Terms
	rec := lease.Record{Block: row.Block, Revision: 1, State: lease.Whole, Name: row.Holder,
		HWM: t.At(row.Until), From: t.At(row.Since)}
	if row.State == lease.Held {
		rec.Owner, rec.Deadline = lease.Owner{1}, t.At(row.FreeFrom)
	}
	r.records[row.Block], r.ids[row.Block] = rec, row.ID
	r.order = append(r.order, row.Block)
	for b := row.Block; b.Size > 1; {
		b = lease.Block{NodeID: b.NodeID >> 1, Size: b.Size - 1}
		around := r.records[b]
		around.Block, around.State = b, lease.Split
		r.records[b] = around
	}
}
