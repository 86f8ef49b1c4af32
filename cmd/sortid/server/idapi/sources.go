package idapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/cmd/sortid/server/api"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/generate"
	"github.com/sortid/sortid/lease"
	"github.com/sortid/sortid/lease/nodefield"
)

// Sources make the IDs of all formats. They are safe for concurrent use.
type Sources struct {
	store  lease.Store
	leases lease.Config
	byName map[string]*source
	made   *prometheus.CounterVec
	stop   context.CancelFunc
	tasks  sync.WaitGroup
}

// NewSources returns sources that lease node IDs from the store in the background. Without a store,
// they make only IDs of formats that need no lease. All leases use config, but each lease gets its
// own Realm and Format. config.Logger must not be nil.
func NewSources(store lease.Store, config lease.Config) (*Sources, error) {
	ctx, stop := context.WithCancel(context.Background())
	s := &Sources{store: store, leases: config, byName: map[string]*source{}, stop: stop,
		made: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sortid_ids_total", Help: "IDs sent, by format.",
		}, []string{"format"})}
	for _, f := range format.Ours() {
		src := &source{format: f, made: s.made.WithLabelValues(f.Name())}
		s.byName[f.Name()] = src
		switch {
		case !generate.NeedsNode(f):
			generator, err := generate.New(f, generate.Options{})
			if err != nil {
				stop()
				return nil, err
			}
			src.generator = generator
		case store == nil:
			src.err = fmt.Errorf(
				"this server has no store to lease a node ID of %s from; start it with a store",
				f.Name())
		default:
			src.err = errNoNodeID
			src.queue = newQueue(f, config.NodeBits)
			s.tasks.Go(func() { s.acquire(ctx, src) })
		}
	}
	return s, nil
}

func (s *Sources) acquire(ctx context.Context, src *source) {
	pause := 100 * time.Millisecond
	for {
		err := s.tryAcquire(ctx, src)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.leases.Logger.Warn("cannot lease a node ID", slog.String("format", src.format.Name()),
			slog.Any("error", err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, 10*time.Second)
	}
}

func (s *Sources) tryAcquire(ctx context.Context, src *source) error {
	limited, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	config := s.leases
	config.Realm, config.Format = src.format.Name(), nodefield.LeaseFormat(src.format)
	root, err := lease.Realm(limited, s.store, config.Realm)
	if err != nil && !errors.Is(err, lease.ErrNoRealm) {
		return err
	}
	if only := root.Terms.Only; only != 0 { // the realm has no node IDs of another size
		config.NodeBits = only
		if src.queue != nil {
			src.queue.resize(src.format, only)
		}
	}
	held, err := lease.Acquire(limited, s.store, config)
	if err != nil {
		return err
	}
	// "abort" makes requests fail at once when the lease has expired. The clients can ask again.
	values := map[string]string{"rollback": "abort"}
	if slices.ContainsFunc(generate.OptionsOf(src.format),
		func(o generate.Option) bool { return o.Name == "guard" }) {
		// The counter starts at random in the lowest 16th of its values. So on average, a tick
		// loses only a 32nd of them.
		values["guard"] = "4"
	}
	generator, err := generate.New(src.format, generate.Options{Lease: held, Clock: config.Now,
		Values: values})
	if err != nil {
		held.Close(limited)
		return err
	}
	src.mu.Lock()
	src.generator, src.lease, src.err = generator, held, nil
	src.mu.Unlock()
	return nil
}

// Leased returns the formats that need node IDs. A server leases one for each of them.
func Leased() []*format.Format {
	return slices.DeleteFunc(format.Ours(),
		func(f *format.Format) bool { return !generate.NeedsNode(f) })
}

// Ready returns an error if a served format cannot make an ID.
func (s *Sources) Ready() error {
	if s.store == nil {
		return nil // the server makes only IDs that need no lease
	}
	for _, f := range Leased() {
		if err := s.byName[f.Name()].ready(); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return nil
}

// Limit returns the limit of a format's IDs, or nil if there is none.
func (s *Sources) Limit(format string) *rate.Limiter {
	if q := s.byName[format].queue; q != nil {
		return q.ids
	}
	return nil
}

// Metrics returns how many IDs were sent, and the state of the leases.
func (s *Sources) Metrics() []prometheus.Collector {
	all := []prometheus.Collector{s.made}
	if s.store == nil {
		return all
	}
	now := s.leases.Now
	if now == nil {
		now = time.Now
	}
	for _, f := range Leased() {
		src := s.byName[f.Name()]
		labels := prometheus.Labels{"format": f.Name()}
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_lease_held", ConstLabels: labels,
			Help: "1 if the server has a node ID of the format and can make an ID now, otherwise 0.",
		}, func() float64 {
			if src.ready() != nil {
				return 0
			}
			return 1
		}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "sortid_lease_remaining_seconds", ConstLabels: labels,
			Help: "How long the server can make IDs without the store; 0 if it can make none now.",
		}, func() float64 { return src.remaining(now).Seconds() }))
	}
	return all
}

// Close stops the generators and releases the leases. Call it after all requests have ended.
func (s *Sources) Close(ctx context.Context) error {
	s.stop()
	s.tasks.Wait()
	var errs []error
	for _, f := range Leased() {
		src := s.byName[f.Name()]
		src.mu.Lock()
		if src.lease != nil {
			if err := src.lease.Close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", f.Name(), err))
			}
			src.generator, src.lease, src.err = nil, nil, errors.New("the server shuts down")
		}
		src.mu.Unlock()
	}
	return errors.Join(errs...)
}

// A source makes the IDs of one format. If the format needs a lease, the source has no generator
// until the store has granted the lease.
type source struct {
	format *format.Format
	made   prometheus.Counter // IDs sent
	queue  *queue             // can be nil; see newQueue

	mu        sync.Mutex
	generator generate.Generator // if nil, err says why
	lease     *lease.Lease       // can be nil
	err       error
	batches   sync.Pool // of generate.Batch

	probing sync.Mutex
	probed  time.Time // when the last probe ended
	unready error     // why the last probe failed; nil if it did not
}

func (src *source) get() (generate.Generator, error) {
	src.mu.Lock()
	defer src.mu.Unlock()
	return src.generator, src.err
}

func (src *source) append(ctx context.Context, b []byte, n int,
	encoding format.Encoding) ([]byte, error) {
	generator, err := src.get()
	if err != nil {
		return b, err
	}
	batch, _ := src.batches.Get().(generate.Batch)
	if batch == nil {
		batch = generator.NewBatch()
	}
	defer src.batches.Put(batch)
	if err := batch.Fill(ctx, n); err != nil {
		return b, publicError(err)
	}
	return batch.Append(b, encoding, '\n'), nil
}

// ready returns nil if the source can make an ID. Requests share the result of a probe, so the
// probe uses no request's context.
func (src *source) ready() error {
	src.probing.Lock()
	defer src.probing.Unlock()
	if time.Since(src.probed) >= api.ReadyFor {
		src.unready = src.probe()
		src.probed = time.Now()
	}
	return src.unready
}

// probe makes an ID, and counts it in the queue. The queue never refuses a probe, because a busy
// server is also ready.
func (src *source) probe() error {
	generator, err := src.get()
	if err != nil {
		return err
	}
	if src.queue != nil {
		src.queue.probe()
	}
	ctx, cancel := context.WithTimeout(context.Background(), api.ReadyTimeout)
	defer cancel()
	_, err = generator.Next(ctx)
	return err
}

var errNoNodeID = errors.New(
	"the server has no node ID yet: the store does not answer, or has no free node ID; " +
		"the server's log says more")

func publicError(err error) error {
	switch {
	case errors.Is(err, sortid.ErrLeaseExpired):
		return errors.New(
			"the server's lease has ended, because the store did not answer or did not renew the " +
				"lease; the server's log says more")
	case errors.Is(err, sortid.ErrClockRollback):
		return errors.New(
			"the server's node ID has no more IDs until the clock reaches the time of the last ID")
	}
	return err
}

// remaining returns how long the source can make IDs without the store, by the generator's clock.
func (src *source) remaining(clock func() time.Time) time.Duration {
	if src.ready() != nil {
		return 0
	}
	src.mu.Lock()
	defer src.mu.Unlock()
	if src.lease == nil {
		return 0
	}
	return max(0, src.lease.Until().Sub(clock()))
}
