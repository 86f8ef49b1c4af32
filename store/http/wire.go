package http

import (
	"time"

	"github.com/sortid/sortid/lease"
)

// These types are the bodies of requests below /v1/store, and of the answers. The server uses them,
// too. In JSON, a [lease.Record] has revision, hwm, from, request and deadline as strings.
type (
	GetRequest struct {
		Realm  string        `json:"realm"`
		Blocks []lease.Block `json:"blocks"`
	}
	// GetAnswer has the records in the order of the blocks. A missing record has Revision 0.
	GetAnswer struct {
		Records []lease.Record `json:"records"`
	}

	CompareAndSetRequest struct {
		Changes []Change `json:"changes"`
	}
	Change struct {
		Prev lease.Record `json:"prev"`
		Next lease.Record `json:"next"`
	}
	CompareAndSetAnswer struct {
		Stored bool `json:"stored"`
	}

	ListRequest struct {
		Realm string `json:"realm"`
	}
	ListAnswer struct {
		Records []lease.Record `json:"records"`
	}

	RealmsAnswer struct {
		Realms []string `json:"realms"`
	}

	TimeAnswer struct {
		Time time.Time `json:"time"`
	}

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
