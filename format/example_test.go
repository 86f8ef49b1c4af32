package format_test

import (
	"fmt"
	"time"

	"github.com/sortid/sortid/format"
)

// What is this ID?
func ExampleDetect() {
	for _, c := range format.Detect("01ARZ3NDEKTSV4RRFFQ69G5FAV") {
		fmt.Println(c.ID.Format().Name(), c.Encoding, c.ID.Time())
	}
	// Output:
	// ulid text 2016-07-30 23:54:10.259 +0000 UTC
}

// The fields of an ID, and its other encodings.
func ExampleID_Fields() {
	f, err := format.Lookup("snowflake-discord")
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := f.Parse("175928847299117063")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, value := range id.Fields() {
		fmt.Println(value.Name, value)
	}
	fmt.Println(id.Time().Format(time.RFC3339))
	// Output:
	// timestamp 41944705796
	// worker 1
	// process 0
	// increment 7
	// 2016-04-30T11:18:25Z
}

// Which IDs were made on a day?
func ExampleFormat_Bounds() {
	f, err := format.Lookup("scru128")
	if err != nil {
		fmt.Println(err)
		return
	}
	day := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	first, end, err := f.Bounds(day, day.AddDate(0, 0, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("at least", first.In(format.UUID))
	fmt.Println("less than", end.In(format.UUID))
	// Output:
	// at least 01a20ada-2c00-0000-0000-000000000000
	// less than 01a21000-8800-0000-0000-000000000000
}
