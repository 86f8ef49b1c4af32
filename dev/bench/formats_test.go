package bench

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/gofrs/uuid/v5"
	google "github.com/google/uuid"
	"github.com/lucsky/cuid"
	"github.com/matoous/go-nanoid/v2"
	"github.com/nats-io/nuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"github.com/sony/sonyflake"
	"github.com/sortid/sortid/format"
	"github.com/sortid/sortid/internal/gencore"
	"github.com/sortid/sortid/internal/words"
	"github.com/sortid/sortid/scru128"
	"go.jetify.com/typeid"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// These tests compare package format with the libraries of other formats.

// An oracle makes and reads the IDs of a format with the format's library.
type oracle struct {
	make func() string
	// read returns the text that the library writes for the ID, and its time or zero. It is nil if
	// the library cannot read IDs.
	read func(text string) (string, time.Time, error)
}

var oracles = map[string]oracle{
	"uuidv1": {func() string { return uuid.Must(uuid.NewV1()).String() }, readUUID(1)},
	"uuidv4": {func() string { return uuid.Must(uuid.NewV4()).String() }, readUUID(4)},
	"uuidv6": {func() string { return uuid.Must(uuid.NewV6()).String() }, readUUID(6)},
	"uuidv7": {func() string { return uuid.Must(uuid.NewV7()).String() }, readUUID(7)},
	"ulid": {func() string { return ulid.Make().String() },
		func(text string) (string, time.Time, error) {
			id, err := ulid.ParseStrict(text)
			return id.String(), id.Timestamp(), err
		}},
	"ksuid": {func() string { return ksuid.New().String() },
		func(text string) (string, time.Time, error) {
			id, err := ksuid.Parse(text)
			return id.String(), id.Time(), errors.Join(err, strict(text, id.String()))
		}},
	"xid": {func() string { return xid.New().String() },
		func(text string) (string, time.Time, error) {
			id, err := xid.FromString(text)
			return id.String(), id.Time(), errors.Join(err, strict(text, id.String()))
		}},
	"typeid": {func() string { return typeid.Must(typeid.WithPrefix("order_line")).String() },
		func(text string) (string, time.Time, error) {
			id, err := typeid.FromString(text)
			if err != nil || id.Prefix() == "" {
				return "", time.Time{}, fmt.Errorf("no TypeID with a prefix: %w", err)
			}
			t := uuidTime(uuid.Must(uuid.FromBytes(id.UUIDBytes())))
			return id.String(), t, err
		}},
	"snowflake-twitter": {func() string { return twitter.Generate().String() },
		func(text string) (string, time.Time, error) {
			id, err := snowflake.ParseString(text)
			if err != nil || id <= 0 || strings.Trim(text, "0123456789") != "" || text[0] == '0' {
				return "", time.Time{}, fmt.Errorf("no snowflake: %w", err)
			}
			return id.String(), time.UnixMilli(id.Time()), err
		}},
	"sonyflake": {func() string { return strconv.FormatUint(must(sony.NextID()), 10) },
		func(text string) (string, time.Time, error) {
			id, err := strconv.ParseUint(text, 10, 63)
			if err != nil || text != strconv.FormatUint(id, 10) || id == 0 {
				return "", time.Time{}, fmt.Errorf("no integer: %w", err)
			}
			start := time.Date(2014, 9, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
			return text, time.UnixMilli(start + sonyflake.ElapsedTime(id).Milliseconds()), nil
		}},
	"objectid": {func() string { return bson.NewObjectID().Hex() },
		func(text string) (string, time.Time, error) {
			id, err := bson.ObjectIDFromHex(text)
			return id.Hex(), id.Timestamp(), err
		}},
	"cuid":   {cuid.New, nil},
	"nuid":   {func() string { return nuid.New().Next() }, nil},
	"nanoid": {func() string { return must(gonanoid.New()) }, nil},
}

var sony = sonyflake.NewSonyflake(
	sonyflake.Settings{MachineID: func() (uint16, error) { return 4711, nil }})

var twitter = must(snowflake.NewNode(42))

// strict refuses a text if the library writes the ID differently. Some libraries read any symbol.
func strict(text, written string) error {
	if text != written {
		return fmt.Errorf("%q is read as %q", text, written)
	}
	return nil
}

func readUUID(version byte) func(string) (string, time.Time, error) {
	return func(text string) (string, time.Time, error) {
		u, err := uuid.FromString(text)
		timeless := len(text) != 36 && uuidTime(u).IsZero()
		if err == nil && (u.Variant() != uuid.VariantRFC9562 || u.Version() != version ||
			timeless || len(text) != 36 && len(text) != 32) {
			err = fmt.Errorf("version %d", u.Version())
		}
		return u.String(), uuidTime(u), err
	}
}

func uuidTime(u uuid.UUID) (t time.Time) {
	var ts uuid.Timestamp
	var err error
	switch {
	case u.Variant() != uuid.VariantRFC9562:
		return t
	case u.Version() == uuid.V1:
		ts, err = uuid.TimestampFromV1(u)
	case u.Version() == uuid.V6:
		ts, err = uuid.TimestampFromV6(u)
	case u.Version() == uuid.V7:
		ts, err = uuid.TimestampFromV7(u)
	default:
		return t
	}
	if err == nil {
		t, err = ts.Time()
	}
	if err != nil {
		panic(err)
	}
	return t
}

func readings(text string, now time.Time) (found []format.Candidate) {
	for _, c := range format.AppendDetect(nil, text, now) {
		if !c.ID.Format().Generates() {
			found = append(found, c)
		}
	}
	return found
}

// Package format finds the format, text and time of IDs that the libraries make.
func TestOthersMade(t *testing.T) {
	for name, o := range oracles {
		const n = 10_000
		later := 0
		for range n {
			text := o.make()
			at := time.Now()
			if o.read != nil {
				var err error
				if _, at, err = o.read(text); err != nil {
					t.Fatal(name, err)
				}
			}
			found := readings(text, time.Now())
			i := slices.IndexFunc(
				found, func(c format.Candidate) bool { return c.ID.Format().Name() == name })
			if i < 0 || found[i].Prefix+found[i].ID.String() != text {
				t.Fatalf("%s: %s of %v is read as %v", name, text, at, found)
			}
			if late := at.Sub(found[i].ID.Time()); !found[i].ID.Time().IsZero() &&
				late >= time.Millisecond && (o.read != nil || late > time.Minute) {
				t.Fatalf("%s: %s of %v has the time %v", name, text, at, found[i].ID.Time())
			}
			if i > 0 {
				later++
			}
		}
		if later > n/500 && name != "sonyflake" && name != "nuid" {
			t.Errorf("%s: %d of %d are read as another format first", name, later, n)
		}
	}
}

// These examples are from the formats' documents and from services.
func TestOthersExamples(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"017F22E2-79B0-7CC3-98C4-DC0C0C07398F": "uuidv7 2022-02-22T19:22:22.000Z",
		"017f22e279b07cc398c4dc0c0c07398f":     "uuidv7 2022-02-22T19:22:22.000Z",
		"C232AB00-9414-11EC-B3C8-9F6BDECED846": "uuidv1 2022-02-22T19:22:22.000Z",
		"1EC9414C-232A-6B00-B3C8-9F6BDECED846": "uuidv6 2022-02-22T19:22:22.000Z",
		"919108f7-52d1-4320-9bac-f847db4148a8": "uuidv4",
		"2489E9AD-2EE2-8E00-8EC9-32D5F69181C0": "uuidv8",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":           "ulid 2016-07-30T23:54:10.259Z",
		"0ujtsYcgvSTl8PAuAdqWYSMnLOv":          "ksuid 2017-10-10T04:00:47.000Z",
		"9m4e2mr0ui3e8a215n4g":                 "xid 2011-03-22T17:50:19.000Z",
		"507f1f77bcf86cd799439011":             "objectid 2012-10-17T21:13:27.000Z",
		"user_01h455vb4pex5vsknk084sn02q":      "typeid 2023-06-30T03:34:18.518Z",
		"175928847299117063": "snowflake-discord 2016-04-30T11:18:25.796Z, " +
			"snowflake-twitter 2012-03-03T13:01:20.453Z, sonyflake 2017-12-27T16:16:04.490Z, " +
			"snowid 2025-04-30T11:18:25.796Z, tsid 2021-04-30T11:18:25.796Z, " +
			"snowflake-instagram 2012-04-23T14:46:14.619Z",
		"1541815603606036480": "snowflake-twitter 2022-06-28T16:07:40.105Z, " +
			"snowflake-discord 2026-08-25T14:24:45.448Z, unix-ns 2018-11-10T02:06:43.606Z, " +
			"snowflake-spaceflake 2026-08-25T14:24:45.448Z, snowflake-instagram 2017-06-21T04:19:24.445Z",
		"d41d8cd98f00b204e9800998ecf8427e":     "", // MD5
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6": "uuidv1 1997-02-03T17:43:12.216Z",
		"00000000-0000-0000-0000-000000000000": "uuid-nil",
		"017f22e2-79b0-7cc3-18c4-dc0c0c07398f": "", // another variant
		"7ZZZZZZZZZZZZZZZZZZZZZZZZZ":           "", // of the year 10889
		"000000000000000000000000000":          "", // KSUID's epoch
		"1732190400000":                        "unix-ms 2024-11-21T12:00:00.000Z",
		"9223372036854775807":                  "",
		"":                                     "", "oops": "", "user_": "", "_": "",
		strings.Repeat("é", 18): "", strings.Repeat("9", 40): "",
		"internationalization": "",
	} {
		var got []string
		for _, c := range readings(text, now) {
			s := c.ID.Format().Name()
			if !c.ID.Time().IsZero() {
				s += " " + words.Time(c.ID.Time())
			}
			got = append(got, s)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}

// Few hashes look like UUIDs without hyphens.
func TestOthersHashes(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	n := 0
	for i := range 10_000 {
		sum := md5.Sum(fmt.Append(nil, i))
		n += len(readings(hex.EncodeToString(sum[:]), now))
	}
	if n > 20 {
		t.Errorf("%d of 10000 MD5 sums have readings", n)
	}
}

// Package format reads the same ID as the format's library, or both refuse the text.
func FuzzOthers(f *testing.F) {
	for _, o := range oracles {
		text := o.make()
		f.Add(text)
		for i := range len(text) {
			for _, c := range []string{"", "0", "7", "8", "F", "I", "O", "Z", "f", "o", "u", "z",
				"-", "_", "é"} {
				f.Add(text[:i] + c + text[i+1:])
			}
		}
	}
	f.Add(strconv.FormatInt(1<<63-1, 10))
	now := time.Now()
	f.Fuzz(func(t *testing.T, text string) {
		got := map[string]format.Candidate{}
		for _, c := range readings(text, now) {
			got[c.ID.Format().Name()] = c
			again := readings(c.Prefix+c.ID.In(c.Encoding), now)
			if len(c.Prefix+c.ID.In(c.Encoding)) > len(text) {
				continue // zeros that the text lacks
			}
			if len(again) == 0 || again[0].ID.Format() != readings(text, now)[0].ID.Format() {
				t.Fatalf("%q is read as %v, and the text of this ID as %v", text, c, again)
			}
		}
		for name, o := range oracles {
			if o.read == nil {
				continue
			}
			want, at, err := o.read(text)
			c, found := got[name]
			for i, r := range c.Prefix { // it may have a label that libraries do not know
				if err != nil && r == '_' {
					want, at, err = o.read(text[i+1:])
					want = text[:i+1] + want
				}
			}
			if err != nil {
				if found {
					t.Fatalf("%s: %q is read as %v, but the library refuses it: %v", name, text,
						c.ID.Fields(), err)
				}
				continue
			}
			from, to := gencore.Must(format.Lookup("uuidv7")).PlausibleRange(now)
			plausible := at.IsZero() || at.After(from.AddDate(5, 0, 0)) &&
				at.Before(to.Add(-time.Minute))
			if plausible && !found {
				t.Fatalf("%s: %q is not read, but the library reads %q of %v", name, text, want, at)
			}
			if found && (c.Prefix+c.ID.String() != want || !c.ID.Time().Equal(at)) {
				t.Fatalf("%s: %q is %q of %v for the library, but is read as %v of %v", name, text, want, at, c.ID,
					c.ID.Time())
			}
		}
	})
}

func TestConversions(t *testing.T) {
	id := scru128.MustParse("0372ijojuxuhjsfkeryi2mrtm")
	const want = "017fef39-c264-1ba5-6a94-83188841e05a"
	if u := google.UUID(id); u.String() != want || scru128.ID(u) != id {
		t.Errorf("google/uuid: %v, %v", u, scru128.ID(u))
	}
	if u := uuid.UUID(id); u.String() != want || scru128.ID(u) != id {
		t.Errorf("gofrs/uuid: %v, %v", u, scru128.ID(u))
	}
	if u := ulid.ULID(id); u.Time() != id.Timestamp() || scru128.ID(u) != id {
		t.Errorf("oklog/ulid: %v, %v", u, scru128.ID(u))
	}
}
