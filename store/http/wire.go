package http

import (
	"time"

	"github.com/sortid/sortid/lease"
)

// The bodies of the requests and answers of the endpoints below /v1/store, which the
// server uses, too. In the JSON of a [lease.Record] integers of 64 bits are strings.
type (
	// GetRequest asks for records of a realm.
	GetRequest struct {
		Realm  string        `json:"realm"`
		Blocks []lease.Block `json:"blocks"`
	}
	// GetAnswer has them, in the order of the blocks. The Revision of one that does not
	// exist is 0.
	GetAnswer struct {
		Records []lease.Record `json:"records"`
	}

	// CompareAndSetRequest asks to replace records of one realm, in order, up to the first
	// that is refused.
	CompareAndSetRequest struct {
		Changes []Change `json:"changes"`
	}
	// Change is a [lease.Change].
	Change struct {
		Prev lease.Record `json:"prev"`
		Next lease.Record `json:"next"`
	}
	// CompareAndSetAnswer says whether all were replaced.
	CompareAndSetAnswer struct {
		Stored bool `json:"stored"`
	}

	// ListRequest asks for all records of a realm.
	ListRequest struct {
		Realm string `json:"realm"`
	}
	// ListAnswer has them.
	ListAnswer struct {
		Records []lease.Record `json:"records"`
	}

	// RealmsAnswer has the names of the realms that the token permits.
	RealmsAnswer struct {
		Realms []string `json:"realms"`
	}

	// TimeAnswer has the time of the store's clock.
	TimeAnswer struct {
		Time time.Time `json:"time"`
	}

	// ConditionsAnswer says under which conditions the store never forgets.
	ConditionsAnswer struct {
		Conditions []string `json:"conditions"`
	}

	// Problem is an error, in the form of RFC 9457.
	Problem struct {
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Errors []struct {
			Message  string `json:"message"`
			Location string `json:"location"`
		} `json:"errors"`
	}
)
