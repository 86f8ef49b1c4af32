// Package foreign tells IDs of formats that sortid does not make: UUIDs of RFC 9562,
// ULID, KSUID, xid, ObjectID, TypeID and Snowflakes. Their own libraries decode them where
// there is more to it than a number of seconds or milliseconds.
package foreign

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"go.jetify.com/typeid"
)

// A Reading is a text read as an ID.
type Reading struct {
	Name  string    // of the format, as in "UUIDv7"
	Shape string    // what a text of the format looks like
	Time  time.Time // when the ID was made; zero if the format does not tell
	Text  string    // as the format writes it
}

// Read returns the ways to read a text whose times are plausible: from 2010, or the second
// month of the format's epoch where that is later, to a year after now. In the form with
// hyphens, UUIDs of versions that carry no time are readings, too.
func Read(text string, now time.Time) []Reading {
	var found []Reading
	add := func(name, shape, text string, t, epoch time.Time) {
		from := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
		if month := epoch.AddDate(0, 1, 0); month.After(from) {
			from = month
		}
		if t.IsZero() || !t.Before(from) && t.Before(now.Add(365*24*time.Hour)) {
			found = append(found, Reading{name, shape, t, text})
		}
	}
	epoch := time.Unix(0, 0)
	switch n := len(text); {
	case n == 36 || n == 32:
		u, err := uuid.FromString(text)
		if err != nil || u.Variant() != uuid.VariantRFC9562 || u.Version() < 1 || u.Version() > 8 {
			break
		}
		t, timed := uuidTime(u)
		if !timed && n == 32 {
			break // an MD5 sum looks the same
		}
		shape := "a UUID's 36 characters, with the variant and version of RFC 9562"
		if n == 32 {
			shape = "32 hexadecimal digits, with the variant and version of RFC 9562"
		}
		add("UUIDv"+strconv.Itoa(int(u.Version())), shape, u.String(), t, epoch)
	case n == ulid.EncodedSize:
		if id, err := ulid.ParseStrict(text); err == nil {
			add("ULID", "26 Crockford Base32 symbols", id.String(), id.Timestamp(), epoch)
		}
	case n == 27 && !strings.Contains(text, "_"):
		if id, err := ksuid.Parse(text); err == nil {
			add("KSUID", "27 Base62 digits", id.String(), id.Time(), time.Unix(1_400_000_000, 0))
		}
	case n == 20 && strings.Trim(text, "0123456789abcdefghijklmnopqrstuv") == "":
		if id, err := xid.FromString(text); err == nil {
			add("xid", "20 base32hex symbols in lower case", id.String(), id.Time(), epoch)
		}
	case n == 24:
		// Four bytes of Unix seconds; the rest is random and a counter.
		if b, err := hex.DecodeString(text); err == nil {
			seconds := int64(b[0])<<24 | int64(b[1])<<16 | int64(b[2])<<8 | int64(b[3])
			add("ObjectID", "24 hexadecimal digits", strings.ToLower(text), time.Unix(seconds, 0), epoch)
		}
	}
	if i := strings.LastIndexByte(text, '_'); i > 0 && len(text)-i == 27 && len(text) <= 90 {
		if id, err := typeid.FromString(text); err == nil {
			u, _ := uuid.FromBytes(id.UUIDBytes())
			t, _ := uuidTime(u)
			add("TypeID", "a prefix and 26 Base32 symbols", id.String(), t, epoch)
		}
	}
	if n := len(text); n >= 15 && n <= 19 && text[0] != '0' {
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && v > 0 {
			for _, s := range snowflakes {
				ms := v >> s.shift * s.tick
				add(s.name, "a decimal integer of 63 bits", text, s.epoch.Add(time.Duration(ms)*time.Millisecond), s.epoch)
			}
		}
	}
	for i := range found {
		if !found[i].Time.IsZero() {
			found[i].Time = found[i].Time.UTC().Truncate(time.Millisecond)
		}
	}
	return found
}

// snowflakes are integers of which the high bits count ticks from an epoch.
var snowflakes = []struct {
	name  string
	epoch time.Time
	shift uint
	tick  int64 // in milliseconds
}{
	{"Snowflake (Twitter)", time.UnixMilli(1288834974657), 22, 1},
	{"Snowflake (Discord)", time.UnixMilli(1420070400000), 22, 1},
	{"Snowflake (Instagram)", time.UnixMilli(1314220021721), 23, 1},
	{"Sonyflake", time.UnixMilli(1409529600000), 24, 10},
}

// uuidTime returns the time of a UUID, if its version has one.
func uuidTime(u uuid.UUID) (time.Time, bool) {
	var ts uuid.Timestamp
	var err error
	switch u.Version() {
	case uuid.V1:
		ts, err = uuid.TimestampFromV1(u)
	case uuid.V6:
		ts, err = uuid.TimestampFromV6(u)
	case uuid.V7:
		ts, err = uuid.TimestampFromV7(u)
	default:
		return time.Time{}, false
	}
	if err != nil {
		return time.Time{}, false
	}
	t, err := ts.Time()
	return t, err == nil
}
