package pgxid

import (
	"maps"
	"reflect"
	"slices"
)

// Types returns the types of values that a column can store.
func Types() []reflect.Type { return slices.Collect(maps.Keys(sources)) }
