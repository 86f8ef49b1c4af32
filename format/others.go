package format

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The alphabets of others.
const (
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	base32hex = "0123456789abcdefghijklmnopqrstuv"
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// gregorian is the epoch of the older UUIDs, the first day of the Gregorian calendar.
var gregorian = time.Date(1582, time.October, 15, 0, 0, 0, 0, time.UTC)

// The UUIDs of RFC 9562, by version. Versions without a time are read only with hyphens: any
// hash of 128 bits may look like one.
var uuids = []*Format{
	uuid(1, "time and node", "c232ab00-9414-11ec-b3c8-9f6bdeced846", 100*time.Nanosecond, gregorian,
		Field{Name: "time_low", Bits: 32, Kind: KindTime},
		Field{Name: "time_mid", Bits: 16, Kind: KindTime, Shift: 32},
		Field{Name: "time_high", Bits: 12, Kind: KindTime, Shift: 48},
		Field{Name: "clock_seq", Bits: 14, Kind: KindCounter},
		Field{Name: "node", Bits: 48, Kind: KindNode}),
	uuid(2, "DCE security", "000003e8-9414-21ec-b300-9f6bdeced846", 0, time.Time{},
		Field{Name: "local_id", Bits: 32, Kind: KindData},
		Field{Name: "time_mid", Bits: 16, Kind: KindData},
		Field{Name: "time_high", Bits: 12, Kind: KindData},
		Field{Name: "clock_seq", Bits: 6, Kind: KindCounter},
		Field{Name: "local_domain", Bits: 8, Kind: KindData},
		Field{Name: "node", Bits: 48, Kind: KindNode}),
	uuid(3, "a name's MD5", "5df41881-3aed-3515-88a7-2f4a814cf09e", 0, time.Time{},
		parts("md5_high", "md5_mid", "md5_low", KindData)...),
	uuid(4, "random", "919108f7-52d1-4320-9bac-f847db4148a8", 0, time.Time{},
		parts("random_a", "random_b", "random_c", KindRandom)...),
	uuid(5, "a name's SHA-1", "2ed6657d-e927-568b-95e1-2665a8aea6a2", 0, time.Time{},
		parts("sha1_high", "sha1_mid", "sha1_low", KindData)...),
	uuid(6, "time and node, in order", "1ec9414c-232a-6b00-b3c8-9f6bdeced846", 100*time.Nanosecond, gregorian,
		Field{Name: "time_high", Bits: 32, Kind: KindTime, Shift: 28},
		Field{Name: "time_mid", Bits: 16, Kind: KindTime, Shift: 12},
		Field{Name: "time_low", Bits: 12, Kind: KindTime},
		Field{Name: "clock_seq", Bits: 14, Kind: KindCounter},
		Field{Name: "node", Bits: 48, Kind: KindNode}),
	UUIDv7,
	uuid(8, "the maker's own", "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 0, time.Time{},
		parts("custom_a", "custom_b", "custom_c", KindData)...),
}

// UUIDv7 is the UUID of version 7, whose timestamp stands in the same bits as SCRU128's.
var UUIDv7 = uuid(7, "Unix time and random bits", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", time.Millisecond, unix(0),
	Field{Name: "unix_ts_ms", Bits: 48, Kind: KindTime},
	Field{Name: "rand_a", Bits: 12, Kind: KindRandom},
	Field{Name: "rand_b", Bits: 62, Kind: KindRandom})

// others are the formats of others, in the order in which their readings are listed.
var others = append(uuids,
	other(&Format{
		Name: "ulid", Title: "ULID",
		Summary: "Unix time and 80 random bits",
		Source:  "https://github.com/ulid/spec",
		Bits:    128,
		Layout: []Field{
			{Name: "timestamp", Bits: 48, Kind: KindTime},
			{Name: "randomness", Bits: 80, Kind: KindRandom},
		},
		Alphabet: "26 Crockford Base32 symbols",
		Symbols:  crockford, FoldsCase: true,
		TextLengths: []int{26},
		TextSorts:   true,
		Example:     "01ARZ3NDEKTSV4RRFFQ69G5FAV",
		Epoch:       unix(0), Tick: time.Millisecond,
	}),
	other(&Format{
		Name: "ksuid", Title: "KSUID",
		Summary: "seconds and 128 random bits",
		Source:  "https://github.com/segmentio/ksuid",
		Bits:    160,
		Layout: []Field{
			{Name: "timestamp", Bits: 32, Kind: KindTime},
			{Name: "payload", Bits: 128, Kind: KindRandom},
		},
		Alphabet: "27 Base62 digits", Symbols: base62, TextLengths: []int{27}, TextSorts: true,
		Example: "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
		Epoch:   unix(1_400_000_000_000), Tick: time.Second,
	}),
	other(&Format{
		Name: "xid", Title: "xid",
		Summary: "seconds, a machine, a process and a counter",
		Source:  "https://github.com/rs/xid",
		Bits:    96,
		Layout: []Field{
			{Name: "time", Bits: 32, Kind: KindTime},
			{Name: "machine", Bits: 24, Kind: KindNode},
			{Name: "pid", Bits: 16, Kind: KindNode},
			{Name: "counter", Bits: 24, Kind: KindCounter},
		},
		Alphabet:    "20 base32hex symbols in lower case",
		Symbols:     base32hex,
		TextLengths: []int{20}, TextPad: 4,
		TextSorts: true,
		Example:   "9m4e2mr0ui3e8a215n4g",
		Epoch:     unix(0), Tick: time.Second,
	}),
	other(&Format{
		Name: "objectid", Title: "ObjectID", Summary: "MongoDB's: seconds, random bits and a counter",
		Source: "https://www.mongodb.com/docs/manual/reference/bson-types/#objectid", Bits: 96,
		Layout: []Field{
			{Name: "timestamp", Bits: 32, Kind: KindTime},
			{Name: "random", Bits: 40, Kind: KindRandom},
			{Name: "counter", Bits: 24, Kind: KindCounter},
		},
		Encodings: []Encoding{Hex}, Alphabet: "24 hexadecimal digits", TextSorts: true,
		Example: "507f1f77bcf86cd799439011",
		Epoch:   unix(0), Tick: time.Second,
	}),
	other(&Format{
		Name: "typeid", Title: "TypeID",
		Summary:     "a prefix and a UUID",
		Source:      "https://github.com/jetify-com/typeid",
		Bits:        128,
		Layout:      []Field{{Name: "uuid", Bits: 128, Kind: KindData}},
		Alphabet:    "a prefix and 26 Base32 symbols",
		Symbols:     strings.ToLower(crockford),
		TextLengths: []int{26},
		TextSorts:   true,
		Prefixed:    true, Example: "user_01h455vb4pex5vsknk084sn02q",
		within: uuidOf,
	}),
	snowflake("twitter", "Snowflake (Twitter)",
		"https://github.com/twitter-archive/snowflake",
		"175928847299117063", 1288834974657, time.Millisecond,
		Field{Name: "timestamp", Bits: 41, Kind: KindTime},
		Field{Name: "datacenter", Bits: 5, Kind: KindNode},
		Field{Name: "worker", Bits: 5, Kind: KindNode},
		Field{Name: "sequence", Bits: 12, Kind: KindCounter}),
	snowflake("discord", "Snowflake (Discord)",
		"https://docs.discord.com/developers/reference#snowflakes",
		"175928847299117063", 1420070400000, time.Millisecond,
		Field{Name: "timestamp", Bits: 41, Kind: KindTime},
		Field{Name: "worker", Bits: 5, Kind: KindNode},
		Field{Name: "process", Bits: 5, Kind: KindNode},
		Field{Name: "increment", Bits: 12, Kind: KindCounter}),
	snowflake("instagram", "Snowflake (Instagram)",
		"https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c",
		"1541815603606036480", 1314220021721, time.Millisecond,
		Field{Name: "timestamp", Bits: 40, Kind: KindTime},
		Field{Name: "shard", Bits: 13, Kind: KindNode},
		Field{Name: "sequence", Bits: 10, Kind: KindCounter}),
	snowflake("sonyflake", "Sonyflake",
		"https://github.com/sony/sonyflake",
		"175928847299117063", 1409529600000, 10*time.Millisecond,
		Field{Name: "time", Bits: 39, Kind: KindTime},
		Field{Name: "sequence", Bits: 8, Kind: KindCounter},
		Field{Name: "machine", Bits: 16, Kind: KindNode}),
)

func unix(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// uuid returns the row of a version. The fields are those beside version and variant.
func uuid(version uint64, summary, example string, tick time.Duration, epoch time.Time, fields ...Field) *Format {
	var layout []Field
	place := 0
	for _, f := range fields {
		switch place {
		case 48:
			layout = append(layout, Field{Name: "version", Bits: 4, Kind: KindFixed, Value: version})
			place += 4
		case 64:
			layout = append(layout, Field{Name: "variant", Bits: 2, Kind: KindFixed, Value: 0b10})
			place += 2
		}
		layout = append(layout, f)
		place += f.Bits
	}
	encodings := []Encoding{UUID}
	if tick != 0 {
		encodings = append(encodings, Hex)
	}
	return other(&Format{
		Name: fmt.Sprint("uuidv", version), Title: fmt.Sprint("UUIDv", version), Summary: summary,
		Source: "https://www.rfc-editor.org/rfc/rfc9562",
		Bits:   128, Layout: layout, Encodings: encodings,
		Alphabet:  "a UUID's 36 characters",
		Mark:      ", with the variant and version of RFC 9562",
		TextSorts: version == 6 || version == 7,
		Example:   example,
		Epoch:     epoch, Tick: tick,
	})
}

// parts returns the fields of a UUID without more structure.
func parts(high, mid, low string, k Kind) []Field {
	return []Field{{Name: high, Bits: 48, Kind: k}, {Name: mid, Bits: 12, Kind: k}, {Name: low, Bits: 62, Kind: k}}
}

// uuidOf returns the row of the UUID that an integer is, nil if it has another variant or version.
func uuidOf(w words) *Format {
	for _, f := range uuids {
		if f.check(w) == nil {
			return f
		}
	}
	return nil
}

// snowflake returns the row of an integer of 63 bits.
func snowflake(name, title, source, example string, epoch int64, tick time.Duration, fields ...Field) *Format {
	return other(&Format{
		Name: name, Title: title,
		Summary:   "63 bits, unique through assigned node IDs",
		Source:    source,
		Bits:      64,
		Layout:    append([]Field{{Bits: 1, Kind: KindZero}}, fields...),
		Encodings: []Encoding{Int},
		Alphabet:  "a decimal integer",
		Mark:      " of 63 bits",
		Example:   example,
		Epoch:     unix(epoch), Tick: tick,
	})
}

var errLayout = errors.New("the bits that all IDs of the format share are others")

// other completes the row of a format of others. Its check and codec follow from layout and
// alphabet.
func other(f *Format) *Format {
	if f.Encodings == nil {
		f.Encodings = []Encoding{Text}
	}
	var mask, fixed words // which bits are the same in all IDs, and what they are
	place(f.Layout)
	for _, field := range f.Layout {
		if field.Kind == KindFixed || field.Kind == KindZero {
			for i := range field.Bits {
				mask.setBit(field.Low+i, 1)
				fixed.setBit(field.Low+i, field.Value>>i&1)
			}
		}
	}
	for i := range f.Bits {
		f.max.setBit(i, 1)
	}
	for i := range f.max {
		f.max[i] = f.max[i]&^mask[i] | fixed[i]
	}
	f.check = func(w words) error {
		for i := range w {
			if w[i]&mask[i] != fixed[i] {
				return errLayout
			}
		}
		return nil
	}
	if f.HasTime() && f.inOrder() {
		f.first = func(t time.Time) words {
			w, ticks := fixed, f.ticks(t)
			for _, field := range f.timestamp {
				for i := range field.Bits {
					w.setBit(field.Low+i, ticks>>(field.Shift+i)&1)
				}
			}
			return w
		}
	}
	if f.Symbols != "" {
		n := newNumerals(f)
		f.alphabet, f.parse, f.appendText = ^class(0), n.parse, n.append
	}
	return newFormat(f)
}

func (w *words) setBit(place int, bit uint64) { w[2-place/64] |= bit << (place % 64) }

// ticks returns the timestamp of a time after the epoch. (A time.Duration ends after 292 years.)
func (f *Format) ticks(t time.Time) uint64 {
	ms := uint64(t.UnixMilli() - f.epochMilli)
	if f.tickMilli == 0 {
		return ms*f.perMilli + uint64(t.Nanosecond()%1e6)/uint64(f.Tick)
	}
	return ms / uint64(f.tickMilli)
}

// inOrder reports whether IDs are in order of time: whether the fields of the timestamp stand in
// order, with nothing that varies before or between them.
func (f *Format) inOrder() bool {
	next := 64 // the bits of the timestamp below it are still to come
	for _, field := range f.Layout {
		switch field.Kind {
		case KindTime:
			if field.Shift >= next {
				return false
			}
			next = field.Shift
		case KindFixed, KindZero:
		default:
			return next == 0
		}
	}
	return next == 0
}

// fixedBits returns how many bits of all IDs have one value, zeros at the top aside.
func (f *Format) fixedBits() (n int) {
	for _, field := range f.Layout {
		if field.Kind == KindFixed {
			n += field.Bits
		}
	}
	return n
}

// cutPrefix returns what stands before the ID in a text, with its underscore, and the ID. Without
// a correct prefix, rest is empty where the format has one.
func (f *Format) cutPrefix(text string) (prefix, rest string) {
	if !f.Prefixed {
		return "", text
	}
	i := strings.LastIndexByte(text, '_')
	if i < 1 || i >= maxPrefix || text[0] == '_' || text[i-1] == '_' ||
		strings.Trim(text[:i], "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", ""
	}
	return text[:i+1], text[i+1:]
}
