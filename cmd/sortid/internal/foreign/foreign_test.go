package foreign

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/uuid/v5"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"github.com/segmentio/ksuid"
	"go.jetify.com/typeid"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// Examples of the formats' own documents and of the services.
func TestExamples(t *testing.T) {
	for text, want := range map[string]string{
		"017F22E2-79B0-7CC3-98C4-DC0C0C07398F": "UUIDv7 2022-02-22T19:22:22.000Z",
		"017f22e279b07cc398c4dc0c0c07398f":     "UUIDv7 2022-02-22T19:22:22.000Z",
		"C232AB00-9414-11EC-B3C8-9F6BDECED846": "UUIDv1 2022-02-22T19:22:22.000Z",
		"1EC9414C-232A-6B00-B3C8-9F6BDECED846": "UUIDv6 2022-02-22T19:22:22.000Z",
		"919108f7-52d1-4320-9bac-f847db4148a8": "UUIDv4",
		"2489E9AD-2EE2-8E00-8EC9-32D5F69181C0": "UUIDv8",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":           "ULID 2016-07-30T23:54:10.259Z",
		"0ujtsYcgvSTl8PAuAdqWYSMnLOv":          "KSUID 2017-10-10T04:00:47.000Z",
		"9m4e2mr0ui3e8a215n4g":                 "xid 2011-03-22T17:50:19.000Z",
		"507f1f77bcf86cd799439011":             "ObjectID 2012-10-17T21:13:27.000Z",
		"user_01h455vb4pex5vsknk084sn02q":      "TypeID 2023-06-30T03:34:18.518Z",
		"175928847299117063":                   "Snowflake (Twitter) 2012-03-03T13:01:20.453Z, Snowflake (Discord) 2016-04-30T11:18:25.796Z, Snowflake (Instagram) 2012-04-23T14:46:14.619Z, Sonyflake 2017-12-27T16:16:04.490Z",
		"1541815603606036480":                  "Snowflake (Twitter) 2022-06-28T16:07:40.105Z, Snowflake (Discord) 2026-08-25T14:24:45.448Z, Snowflake (Instagram) 2017-06-21T04:19:24.445Z",
		"d41d8cd98f00b204e9800998ecf8427e":     "", // MD5
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6": "", // of 1997
		"00000000-0000-0000-0000-000000000000": "",
		"017f22e2-79b0-7cc3-18c4-dc0c0c07398f": "", // another variant
		"7ZZZZZZZZZZZZZZZZZZZZZZZZZ":           "", // of the year 10889
		"000000000000000000000000000":          "", // KSUID's epoch
		"1732190400000":                        "", // milliseconds
		"9223372036854775807":                  "",
		"":                                     "", "oops": "", "user_": "", "_": "", strings.Repeat("é", 18): "", strings.Repeat("9", 40): "",
		"internationalization": "",
	} {
		var got []string
		for _, r := range Read(text, now) {
			s := r.Name
			if !r.Time.IsZero() {
				s += " " + r.Time.Format("2006-01-02T15:04:05.000Z")
			}
			got = append(got, s)
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s is read as %q, want %q", text, got, want)
		}
	}
}

// What the libraries make now is told, with its time, and what they write is what they read.
func TestNew(t *testing.T) {
	now := time.Now()
	first := now.Truncate(time.Second) // some have no more than that
	v7, _ := uuid.NewV7()
	v6, _ := uuid.NewV6()
	v1, _ := uuid.NewV1()
	typed, err := typeid.WithPrefix("order")
	if err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"UUIDv7": v7.String(), "UUIDv6": v6.String(), "UUIDv1": v1.String(), "ULID": ulid.Make().String(),
		"KSUID": ksuid.New().String(), "xid": xid.New().String(), "TypeID": typed.String(),
	} {
		found := Read(text, now)
		if len(found) != 1 || found[0].Name != want || found[0].Text != text || found[0].Time.Before(first) || found[0].Time.After(time.Now()) {
			t.Errorf("%s %s: %v", want, text, found)
		}
	}
}

// Hashes without hyphens are hardly ever taken for UUIDs.
func TestHashes(t *testing.T) {
	n := 0
	for i := range 10_000 {
		sum := md5.Sum(fmt.Append(nil, i))
		n += len(Read(hex.EncodeToString(sum[:]), now))
	}
	if n > 20 {
		t.Errorf("%d of 10000 MD5 sums have readings", n)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
		"9m4e2mr0ui3e8a215n4g", "507f1f77bcf86cd799439011", "user_01h455vb4pex5vsknk084sn02q", "1541815603606036480"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Read(text, now) {
			if again := Read(r.Text, now); len(again) == 0 || again[0].Time != Read(text, now)[0].Time {
				t.Fatalf("%q is %v, and its text %v", text, r, again)
			}
		}
	})
}
