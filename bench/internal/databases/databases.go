// Package databases measures keys and functions in databases. Its tests do, since the
// servers are those of package testserver: run them with -measure FILE, and they write
// Results there as JSON. Without it they measure a little, to see that they work.
package databases

// Results are all that was measured.
type Results struct {
	Postgres, MariaDB Keys
	// Functions are nanoseconds a call in PostgreSQL, Defaults rows a second that are
	// inserted with a column's DEFAULT into an empty table, DefaultsOnto the same where
	// Postgres.Old rows are in it, Copy nanoseconds a row that CopyFrom takes.
	Functions, Defaults, DefaultsOnto, Copy []Figure
}

// Keys are what primary keys cost.
type Keys struct {
	Version   string
	Old, Rows int // that were in the table before, and that were added
	Buffers   int // megabytes of the buffer pool
	Keys      []Key
}

// A Key is a kind of primary key.
type Key struct {
	Name          string
	RowsPerSecond float64
	Log, Index    float64 // megabytes: of WAL or redo log written, and of the index in the end
	Reads         float64 // blocks read from outside the buffer pool
}

// A Figure is one number.
type Figure struct {
	Name  string
	Value float64
}
