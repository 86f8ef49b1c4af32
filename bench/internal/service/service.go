// Package service measures "sortid serve" beside Redis and PostgreSQL. Its test does, since
// the servers are those of package testserver: run it with -measure FILE, and it writes
// Results there as JSON. Without it, it measures a little, to see that it works.
package service

// Results are all that was measured.
type Results struct {
	Redis, Postgres string // versions
	Runs            []Run
	// Megabytes are those of the server's resident memory: idle, and with so many
	// connections that have all made requests.
	Idle, Megabytes float64
	Connections     int
	Away            Away
}

// Find returns the run of a source over so many connections; its Rate is 0 if there is none.
func (r *Results) Find(source string, connections int) Run {
	for _, run := range r.Runs {
		if run.Source == source && run.Connections == connections {
			return run
		}
	}
	return Run{}
}

// The sources of IDs. The empty one makes none: it is a server of net/http that always gives
// the same short answer, which is what any service on net/http costs.
const (
	Empty      = "net/http, an empty answer"
	Redis      = "Redis INCR"
	Postgres   = "PostgreSQL nextval"
	SCRU64     = "scru64"
	SCRU128    = "scru128"
	Batches64  = "scru64, 1000 a request"
	Batches128 = "scru128, 1000 a request"
)

// A Run is of one source of IDs over some connections: IDs a second, and half of
// the requests and 99 of 100 take no longer than so many milliseconds.
type Run struct {
	Source      string
	Connections int
	Rate        float64
	Half, P99   float64
}

// Away is what clients of a server see while its store is away and comes back. Times are in
// seconds, but for P99, in milliseconds.
type Away struct {
	Window      float64 // of the leases
	Down        float64 // how long the store was away
	Goes        float64 // how long scru64 IDs were made without it
	Back        float64 // from its start to the next scru64 ID
	P99         [3]float64
	Unavailable int // requests for scru64 that were answered with 503
	Failures    int // requests that were answered otherwise, and none but 503 is expected
}
