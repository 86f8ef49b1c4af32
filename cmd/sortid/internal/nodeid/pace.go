package nodeid

import (
	"strings"
	"time"

	"github.com/sortid/sortid/lease"
)

// A Pace says how often the lease of a program under "lease exec" is renewed.
type Pace struct {
	Window   time.Duration // of a new realm of one size
	Renewals int           // how many there are in a window
}

// With each Pace, a program under "lease exec" survives a store that is away for 120 s. At the usual
// one:
//
//	165.0 s  the window
//	-10.3 s  RenewAfter: the store fails just before the next renewal
//	-20.0 s  the program ends earlier: --ahead 10 s, SIGKILL 5 s, SIGTERM 5 s
//	-10.0 s  a request without an answer ends
//	 -2.6 s  the pause after it
//
// With a longer window, the node ID of a killed program would be free later: one and a half windows
// after the last renewal.
//
// An API server of Kubernetes also serves all other programs of the cluster. There, a thousand
// programs renew 24 leases a second instead of 97. A killed program's node ID is free a minute later.
var (
	UsualPace      = Pace{Window: 165 * time.Second, Renewals: 16}
	KubernetesPace = Pace{Window: 205 * time.Second, Renewals: 5}
)

// PaceOf returns the Pace for the store at a URL, which may be env:NAME.
func PaceOf(url string) Pace {
	if strings.HasPrefix(describe(url), "kubernetes:") {
		return KubernetesPace
	}
	return UsualPace
}

// NewWindow returns the window of a new realm of [NewRealm].
func (p Pace) NewWindow(realm lease.Config) time.Duration {
	if realm.Format.Mixed && !realm.OneSize {
		return lease.DefaultWindow
	}
	return p.Window
}

// RenewAfter returns how long after a renewal the next one begins at the latest.
func (p Pace) RenewAfter(window time.Duration) time.Duration {
	return window / time.Duration(p.Renewals)
}
