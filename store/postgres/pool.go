package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"
	"github.com/sortid/sortid/store/internal/connect"
)

const (
	// The pool checks connections that were idle for longer than pingAfter. A server's restart
	// takes longer, so the pool notices it.
	pingAfter = 50 * time.Millisecond
	pingTime  = time.Second
	closeTime = 15 * time.Second
)

type pool struct {
	*puddle.Pool[*pgconn.PgConn]
	maxConns int32
	lifetime time.Duration
}

func newPool(c *config) (*pool, error) {
	limit := new(connect.Limit)
	p, err := puddle.NewPool(&puddle.Config[*pgconn.PgConn]{
		MaxSize: c.maxConns,
		Constructor: func(ctx context.Context) (*pgconn.PgConn, error) {
			each := c.Config.Copy()
			useDialer(each)
			if each.ConnectTimeout == 0 {
				each.ConnectTimeout = limit.Next()
			}
			conn, err := pgconn.ConnectConfig(ctx, each)
			if err == nil {
				limit.Connected()
			}
			return conn, err
		},
		Destructor: func(conn *pgconn.PgConn) {
			ctx, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			conn.Close(ctx)
			select {
			case <-conn.CleanupDone():
			case <-ctx.Done():
			}
		},
	})
	return &pool{p, c.maxConns, c.lifetime}, err
}

// acquire destroys connections that are not usable. So after maxConns tries, only a new one is left.
func (p *pool) acquire(ctx context.Context) (*pgconn.PgConn, func(), error) {
	for tries := int32(0); ; tries++ {
		r, err := p.Acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		if tries == p.maxConns || p.usable(ctx, r) {
			return r.Value(), func() { release(r) }, nil
		}
		r.Destroy()
	}
}

func (p *pool) usable(ctx context.Context, r *puddle.Resource[*pgconn.PgConn]) bool {
	switch {
	case time.Since(r.CreationTime()) > p.lifetime:
		return false
	case r.IdleDuration() <= pingAfter:
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	return r.Value().Ping(ctx) == nil
}

// release keeps the connection only if it waits for a request, outside a transaction.
func release(r *puddle.Resource[*pgconn.PgConn]) {
	const idle = 'I'
	if conn := r.Value(); conn.IsClosed() || conn.IsBusy() || conn.TxStatus() != idle {
		r.Destroy()
		return
	}
	r.Release()
}
