package format

import (
	"fmt"
	"time"
)

// gregorian is the epoch of older UUIDs.
var gregorian = time.Date(1582, time.October, 15, 0, 0, 0, 0, time.UTC)

// The UUIDs of RFC 9562. Versions without a time need hyphens: any 128-bit hash looks like one.
var versions = []*Format{
	uuid(1, "time and node", "c232ab00-9414-11ec-b3c8-9f6bdeced846", 100*time.Nanosecond, gregorian,
		Field{Name: "time_low", Bits: 32, Kind: KindTime,
			Meaning: "the low bits of the time since 1582 in 100 ns"},
		Field{Name: "time_mid", Bits: 16, Kind: KindTime, Shift: 32,
			Meaning: "those in the middle"},
		Field{Name: "time_high", Bits: 12, Kind: KindTime, Shift: 48, Meaning: "the high ones"},
		clockSeq, node),
	uuid(2, "DCE security", "000003e8-9414-21ec-b300-9f6bdeced846", 0, time.Time{},
		Field{Name: "local_id", Bits: 32, Kind: KindData, Meaning: "a user's or a group's number"},
		Field{Name: "time_mid", Bits: 16, Kind: KindData,
			Meaning: "part of a time, to seven minutes"},
		Field{Name: "time_high", Bits: 12, Kind: KindData, Meaning: "its high bits"},
		Field{Name: "clock_seq", Bits: 6, Kind: KindCounter,
			Meaning: "changed when the clock was set back"},
		Field{Name: "local_domain", Bits: 8, Kind: KindData,
			Meaning: "what local_id is a number of"},
		node),
	uuid(3, "a name's MD5", "5df41881-3aed-3515-88a7-2f4a814cf09e", 0, time.Time{},
		parts("md5_high", "md5_mid", "md5_low", KindData, "of the MD5 of a name")...),
	uuid(4, "random", "919108f7-52d1-4320-9bac-f847db4148a8", 0, time.Time{},
		parts("random_a", "random_b", "random_c", KindRandom, "random in each ID")...),
	uuid(5, "a name's SHA-1", "2ed6657d-e927-568b-95e1-2665a8aea6a2", 0, time.Time{},
		parts("sha1_high", "sha1_mid", "sha1_low", KindData, "of the SHA-1 of a name")...),
	uuid(6, "time and node, in order", "1ec9414c-232a-6b00-b3c8-9f6bdeced846", 100*time.Nanosecond,
		gregorian,
		Field{Name: "time_high", Bits: 32, Kind: KindTime, Shift: 28,
			Meaning: "the high bits of the time since 1582 in 100 ns"},
		Field{Name: "time_mid", Bits: 16, Kind: KindTime, Shift: 12,
			Meaning: "those in the middle"},
		Field{Name: "time_low", Bits: 12, Kind: KindTime, Meaning: "the low ones"},
		clockSeq, node),
	UUIDv7,
	uuid(8, "the maker's own", "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 0, time.Time{},
		parts("custom_a", "custom_b", "custom_c", KindData, "what the maker put there")...),
}

var (
	clockSeq = Field{Name: "clock_seq", Bits: 14, Kind: KindCounter,
		Meaning: "changed when the clock was set back"}
	node = Field{Name: "node", Bits: 48, Kind: KindNode, Loose: true,
		Meaning: "a MAC address, or random"}
)

// UUIDv7 has its timestamp in the same bits as SCRU128.
var UUIDv7 = uuid(7, "Unix time and random bits", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
	time.Millisecond, unix(0),
	Field{Name: "unix_ts_ms", Bits: 48, Kind: KindTime, Meaning: "Unix time in milliseconds"},
	Field{Name: "rand_a", Bits: 12, Kind: KindRandom, Loose: true,
		Meaning: "random, or more of the time, or a counter"},
	Field{Name: "rand_b", Bits: 62, Kind: KindRandom, Meaning: "random, or a counter first"})

var uuids = append(versions, fixedUUID("nil", 0), fixedUUID("max", 1<<64-1))

// uuid returns the row of a version, with the fields beside version and variant.
func uuid(version uint64, summary, example string, tick time.Duration, epoch time.Time,
	fields ...Field) *Format {
	var layout []Field
	place := 0
	for _, f := range fields {
		switch place {
		case 48:
			layout = append(layout, Field{Name: "version", Bits: 4, Kind: KindFixed, Value: version,
				Meaning: "of RFC 9562"})
			place += 4
		case 64:
			layout = append(layout, Field{Name: "variant", Bits: 2, Kind: KindFixed, Value: 0b10,
				Meaning: "of RFC 9562"})
			place += 2
		}
		layout = append(layout, f)
		place += f.Bits
	}
	f := rfc9562(fmt.Sprint("uuidv", version), fmt.Sprint("UUIDv", version), summary, example,
		layout...)
	f.Mark = ", with the variant and version of RFC 9562"
	f.TextSorts = version == 6 || version == 7
	f.Epoch, f.Tick = epoch, tick
	if tick == 0 {
		f.Guess, f.Search.Named = []Encoding{UUID}, true
	}
	return other(f)
}

func fixedUUID(name string, bits uint64) *Format {
	half := Field{Bits: 64, Kind: KindFixed, Value: bits, Meaning: "the same in all bits"}
	f := rfc9562("uuid-"+name, "UUID "+name, "no ID: all bits are the same", "", half, half)
	f.Layout[0].Name, f.Layout[1].Name = "high", "low"
	f.Guess, f.Search.Named = []Encoding{UUID}, true
	f = other(f)
	f.Example = f.Max().String()
	return f
}

func rfc9562(name, title, summary, example string, layout ...Field) *Format {
	return &Format{
		Name: name, Title: title, Summary: summary,
		Source: "https://www.rfc-editor.org/rfc/rfc9562",
		Bits:   128, Layout: layout, Encodings: []Encoding{UUID, Hex},
		Alphabet: "a UUID's 36 characters", Example: example,
	}
}

func parts(high, mid, low string, k Kind, meaning string) []Field {
	return []Field{
		{Name: high, Bits: 48, Kind: k, Meaning: meaning},
		{Name: mid, Bits: 12, Kind: k, Meaning: meaning},
		{Name: low, Bits: 62, Kind: k, Meaning: meaning},
	}
}
