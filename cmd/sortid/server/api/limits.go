package api

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// Sizes of requests and answers.
const (
	MaxIDs    = 100_000  // In one answer.
	Piece     = 1024     // IDs that the server makes and writes at a time.
	MaxLine   = 1 << 10  // Bytes of a line to inspect.
	MaxLines  = 64 << 20 // Bytes of lines to inspect.
	MaxBody   = 8 << 10  // Bytes of other bodies.
	MaxList   = 1000     // Leases or realms in a list.
	MaxRealms = 100      // In the store. Clients can make no further realms.
	MaxHeader = 16 << 10 // Bytes of a request's headers.
)

// What can be under way or open at a time.
const (
	MaxStreams = 32 // Of one HTTP/2 connection.
	// Requests for leases of one realm that use the store. The second realm can have half as many,
	// and so on. Others wait for their turn. Requests that come at the same time share reads of the
	// store. With more of them, the renewals of the server's own leases would wait longer.
	MaxTurns = 64

	maxConnections  = 4096
	maxRequests     = 1024
	maxLargeAnswers = 64
	maxLineBodies   = 64
	maxLeases       = 4096
	maxWaiters      = 2048
	maxLists        = 32
)

// How long a client may take.
const (
	HeaderTimeout = 5 * time.Second
	BodyTimeout   = 5 * time.Second  // For the body of a request for a lease.
	LineTimeout   = 30 * time.Second // For the next part of a body of lines.
	LinesTimeout  = 10 * time.Minute // For the whole body of lines.
	TakeTimeout   = 10 * time.Second // To receive one piece of an answer.
	IdleTimeout   = 2 * time.Minute  // Between requests.
)

// How long the server may take.
const (
	QueueTimeout = time.Second      // Until enough IDs are left for a request.
	TurnTimeout  = 10 * time.Second // Until a request for a lease gets its turn.
	CallTimeout  = 5 * time.Second  // For a turn, which can delay the renewal of a lease.
	MaxWait      = 30 * time.Second // That a client may wait for a node ID.
	WriteTimeout = 30 * time.Second // For an answer, beside MaxWait. It exceeds the others' sum.

	// To make an ID for /readyz. If the clock has gone back, uid60 can need longer. Then /readyz
	// fails.
	ReadyTimeout = time.Second
	ReadyFor     = 100 * time.Millisecond // Until /readyz makes another ID.
)

// Take takes n from a limit and returns 0. If fewer than n are left, it takes none and returns how
// long to wait. A nil limit permits everything.
func Take(l *rate.Limiter, n int) time.Duration {
	if l == nil {
		return 0
	}
	now := time.Now()
	if l.AllowN(now, n) {
		return 0
	}
	return max(time.Millisecond, Lacks(l, n, now))
}

// Lacks returns how long a caller must wait, from the given time, until the limit has n. It takes
// none.
func Lacks(l *rate.Limiter, n int, now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	missing := float64(n) - l.TokensAt(now)
	return max(0, time.Duration(math.Ceil(missing/float64(l.Limit())*float64(time.Second))))
}
