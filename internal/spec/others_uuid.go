package spec

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// gregorian is the epoch of older UUIDs.
var gregorian = time.Date(1582, time.October, 15, 0, 0, 0, 0, time.UTC)

// The UUIDs of RFC 9562. If a version has no time, AppendDetect reads only texts with hyphens,
// because many 128-bit hashes look like such a UUID without hyphens.
var versions = sync.OnceValue(func() []*Format {
	return []*Format{
		uuid(1, "time and node", "c232ab00-9414-11ec-b3c8-9f6bdeced846", 100*time.Nanosecond,
			timePart("time_low", 32, 0, "the low bits of the time since 1582, in units of 100 ns"),
			timePart("time_mid", 16, 32, "the middle bits of that time"),
			timePart("time_high", 12, 48, "the high bits of that time"), clockSeq, node),
		uuid(2, "DCE security", "000003e8-9414-21ec-b300-9f6bdeced846", 0,
			field("local_id", 32, KindData, "a user's or a group's number"),
			field("time_mid", 16, KindData, "part of a time, in units of 429.5 s"),
			field("time_high", 12, KindData, "the high bits of that time"),
			field("clock_seq", 6, KindCounter, clockSeq.Meaning),
			field("local_domain", 8, KindData, "the kind of local_id"), node),
		uuid(3, "a name's MD5", "5df41881-3aed-3515-88a7-2f4a814cf09e", 0,
			parts("md5_high", "md5_mid", "md5_low", KindData, "bits of the MD5 of a name")...),
		uuid(4, "random", "919108f7-52d1-4320-9bac-f847db4148a8", 0,
			parts("random_a", "random_b", "random_c", KindRandom, "random in each ID")...),
		uuid(5, "a name's SHA-1", "2ed6657d-e927-568b-95e1-2665a8aea6a2", 0,
			parts("sha1_high", "sha1_mid", "sha1_low", KindData, "bits of the SHA-1 of a name")...),
		uuid(6, "time and node, in order", "1ec9414c-232a-6b00-b3c8-9f6bdeced846", 100*time.Nanosecond,
			timePart("time_high", 32, 28, "the high bits of the time since 1582, in units of 100 ns"),
			timePart("time_mid", 16, 12, "the middle bits of that time"),
			timePart("time_low", 12, 0, "the low bits of that time"), clockSeq, node),
		uuidv7(),
		uuid(8, "the generator's own data", "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 0,
			parts("custom_a", "custom_b", "custom_c", KindData, "data from the generator")...),
	}
})

var (
	clockSeq = field("clock_seq", 14, KindCounter, "changed when the clock was set back")
	node     = loose(field("node", 48, KindNode, "a MAC address, or random"))
)

// uuidv7 has its timestamp in the same bits as SCRU128.
var uuidv7 = sync.OnceValue(func() *Format {
	return uuid(7, "Unix time and random bits", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
		time.Millisecond, field("unix_ts_ms", 48, KindTime, "Unix time in milliseconds"),
		loose(field("rand_a", 12, KindRandom, "random, or more of the time, or a counter")),
		seeds(field("rand_b", 62, KindRandom, "random, can begin with a counter")))
})

// usuallyV7 has all versions, and begins with version 7.
func usuallyV7() []*Format {
	all := slices.DeleteFunc(slices.Clone(versions()), func(f *Format) bool { return f == uuidv7() })
	return slices.Insert(all, 0, uuidv7())
}

func uuids() []*Format {
	return append(slices.Clone(versions()), fixedUUID("nil", 0), fixedUUID("max", 1<<64-1))
}

func timePart(name string, bits, shift int, meaning string) Field {
	return Field{Name: name, Bits: bits, Kind: KindTime, Shift: shift, Meaning: meaning}
}

func loose(f Field) Field {
	f.Loose = true
	return f
}

// uuid returns the row of a version. The fields must not include version and variant.
func uuid(version uint64, summary, example string, tick time.Duration, fields ...Field) *Format {
	var layout []Field
	place := 0
	for _, f := range fields {
		switch place {
		case 48:
			layout = append(layout, fixed("version", 4, version, "of RFC 9562"))
			place += 4
		case 64:
			layout = append(layout, fixed("variant", 2, 0b10, "of RFC 9562"))
			place += 2
		}
		layout = append(layout, f)
		place += f.Bits
	}
	f := rfc9562(fmt.Sprint("uuidv", version), fmt.Sprint("UUIDv", version), summary, example,
		layout...)
	f.Text.Mark = ", with the variant and version of RFC 9562"
	f.Text.Sorts = version == 6 || version == 7
	f.Habits.Repeats = version == 2 || version == 3 || version == 5
	f.Tick = tick
	switch tick {
	case 0:
		f.Search.Guess, f.Search.Named = []Encoding{UUID}, true
	case 100 * time.Nanosecond:
		f.Epoch, f.Since = gregorian, 1990
	}
	return other(f)
}

func fixedUUID(name string, bits uint64) *Format {
	const meaning = "the same in all bits"
	f := rfc9562("uuid-"+name, "UUID "+name, "not an ID: all bits are the same", "",
		fixed("high", 64, bits, meaning), fixed("low", 64, bits, meaning))
	f.Search.Guess, f.Search.Named = []Encoding{UUID}, true
	f = other(f)
	f.Example = f.In(f.Codec.Max, UUID)
	return f
}

func rfc9562(name, title, summary, example string, layout ...Field) *Format {
	return &Format{
		Name: name, Title: title, Summary: summary,
		Source: "https://www.rfc-editor.org/rfc/rfc9562",
		Layout: layout, Encodings: []Encoding{UUID, Hex, Int},
		Search: Search{Guess: []Encoding{UUID, Hex}},
		Text:   TextRules{Alphabet: "a UUID's 36 characters"}, Example: example,
	}
}

func parts(high, mid, low string, k Kind, meaning string) []Field {
	return []Field{field(high, 48, k, meaning), field(mid, 12, k, meaning),
		field(low, 62, k, meaning)}
}
