package format

import (
	"errors"
	"testing"
	"time"

	"github.com/sortid/sortid"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/words"
)

func TestWith(t *testing.T) {
	twitter, sony := rowOf("snowflake-twitter"), rowOf("sonyflake")
	epoch := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		base  *Format
		epoch time.Time
		tick  time.Duration
		bits  []int
		text  string
		time  string
		want  []uint64
	}{
		{twitter, epoch, 0, []int{41, 10, 12}, "4198405", "2020-01-01T00:00:00.001Z", []uint64{1, 1, 5}},
		{twitter, epoch, time.Second, []int{31, 10, 22}, "4294967296", "2020-01-01T00:00:01.000Z",
			[]uint64{1, 0, 0}},
		{sony, epoch, 0, nil, "16777217", "2020-01-01T00:00:00.010Z", []uint64{1, 0, 1}},
		{twitter, time.Time{}, 0, []int{44, 20}, "1048577", "2010-11-04T01:42:54.658Z",
			[]uint64{1, 1}},
		{rowOf("tsid"), epoch, 0, nil, "0000000040001", "2020-01-01T00:00:00.001Z", nil},
		{twitter, epoch, 100 * time.Microsecond, []int{50, 14}, "327680",
			"2020-01-01T00:00:00.002Z", []uint64{20, 0}},
	} {
		f, err := c.base.With(Variant{"own", c.epoch, c.tick, c.bits})
		if err != nil {
			t.Error(err)
			continue
		}
		id, err := f.Parse(c.text)
		if err != nil || words.Time(id.Time()) != c.time {
			t.Errorf("%s: %s has the time %v, want %s; %v", c.base.Name(), c.text, id.Time(), c.time,
				err)
			continue
		}
		for i, want := range c.want {
			if got := id.Fields()[i]; got.low != want {
				t.Errorf("%s: %s: %s is %v, want %d", c.base.Name(), c.text, got.Name, got, want)
			}
		}
		if !f.Ordered() || f.Name() != "own" {
			t.Errorf("%s: %v", c.base.Name(), f)
		}
		from := f.Epoch().AddDate(10, 0, 0)
		if first, end, err := f.Bounds(from, from.Add(time.Hour)); err != nil ||
			!first.Time().Equal(from) || end.Compare(first) <= 0 {
			t.Errorf("%s: bounds %v to %v, %v", c.base.Name(), first, end, err)
		}
	}
	if twitter.Layout()[1].Bits != 41 || sony.Epoch().Year() != 2014 {
		t.Error("With changed the format")
	}
	for _, c := range []struct {
		base *Format
		tick time.Duration
		bits []int
	}{
		{SCRU64, 0, nil}, {rowOf("ulid"), 0, nil}, {rowOf("snowflake-frostflake"), -1, nil},
		{twitter, 3 * time.Millisecond / 2, nil}, {twitter, 0, []int{41}}, {twitter, 0, []int{}},
		{twitter, 0, []int{41, 12, 12}}, {twitter, 0, []int{41, 0, 12}},
		{twitter, 0, []int{41, -1, 12}}, {twitter, 0, []int{8, 8, 8, 8, 8}},
		{twitter, time.Hour, []int{60, 4}}, {twitter, 0, []int{64, 1}},
	} {
		if f, err := c.base.With(Variant{Name: "own", Tick: c.tick, Bits: c.bits}); !errors.Is(err,
			sortid.ErrOption) {
			t.Errorf("%s, %v, %v: %v, %v", c.base.Name(), c.tick, c.bits, f, err)
		}
	}
	gencore.Must(twitter.With(Variant{Name: "own", Epoch: epoch}))
}
