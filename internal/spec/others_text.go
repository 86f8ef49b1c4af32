package spec

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sortid/sortid/internal/textcodec"
)

const base36to4 = 36 * 36 * 36 * 36

var unixMillis = field("timestamp", 48, KindTime, "Unix time in milliseconds")

// Formats whose texts are an integer that begins with a time.
var sortable = sync.OnceValue(func() []*Format {
	return []*Format{
		other(&Format{Name: "ulid", Title: "ULID",
			Summary: "Unix time and 80 random bits", Source: "https://github.com/ulid/spec",
			Layout: []Field{unixMillis,
				seeds(field("randomness", 80, KindRandom, "random, or + 1 within a millisecond"))},
			Encodings: []Encoding{Text, UUID, Hex, Int},
			Text: TextRules{Alphabet: "26 Crockford Base32 symbols", Symbols: textcodec.CrockfordSymbols,
				FoldsCase: true,
				Lengths:   []int{26}, Sorts: true},
			Example: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
			Search:  Search{Prefix: "01", Guess: []Encoding{Text}}}),
		other(&Format{Name: "julid", Title: "Julid",
			Summary: "a ULID with a counter; read only if you name the format",
			Source:  "https://docs.rs/julid-rs",
			Layout: []Field{unixMillis,
				field("counter", 16, KindCounter, "+ 1 within a millisecond"),
				field("random", 64, KindRandom, "random in each ID")},
			Encodings: []Encoding{Text, UUID, Hex, Int},
			Text: TextRules{Alphabet: "26 Crockford Base32 symbols", Symbols: textcodec.CrockfordSymbols,
				FoldsCase: true,
				Lengths:   []int{26}, Sorts: true},
			Example: "01HV2G2ATR000CJ2WESB7CVC19",
			Search:  Search{Named: true, Prefix: "01"}}).unguessed(),
		other(&Format{Name: "ksuid", Title: "KSUID",
			Summary: "seconds and 128 random bits", Source: "https://github.com/segmentio/ksuid",
			Layout: []Field{field("timestamp", 32, KindTime, "Unix time in seconds, minus 1400000000"),
				field("payload", 128, KindRandom, "random in each ID")},
			Encodings: []Encoding{Text, Hex}, Search: Search{Guess: []Encoding{Text}},
			Text: TextRules{Alphabet: "27 Base62 digits", Symbols: digits62,
				Lengths: []int{27}, Sorts: true},
			Example: "0ujtsYcgvSTl8PAuAdqWYSMnLOv", Epoch: unix(1_400_000_000_000), Tick: time.Second}),
		other(&Format{Name: "xid", Title: "xid",
			Summary: "seconds, a machine, a process and a counter", Source: "https://github.com/rs/xid",
			Layout: []Field{field("time", 32, KindTime, "Unix time in seconds"),
				field("machine", 24, KindNode, "part of a hash of the machine's ID"),
				field("pid", 16, KindNode, "the process"),
				starts(StartNever, field("counter", 24, KindCounter, "+ 1 for each ID, random at first"))},
			Encodings: []Encoding{Text, Hex},
			Text: TextRules{Alphabet: "20 base32hex symbols in lower case", Symbols: digits32,
				Lengths: []int{20},
				Sorts:   true, Groups: []TextPart{{Digits: 20, Bits: 96 + 4, Low: -4}}},
			Example: "9m4e2mr0ui3e8a215n4g",
			Search:  Search{Short: true, Guess: []Encoding{Text}}, Tick: time.Second}),
		other(&Format{Name: "objectid", Title: "ObjectID",
			Summary: "MongoDB's: seconds, random bits and a counter",
			Source:  "https://www.mongodb.com/docs/manual/reference/bson-types/#objectid",
			Layout: []Field{field("timestamp", 32, KindTime, "Unix time in seconds"),
				field("random", 40, KindNode, "random in each process"),
				starts(StartNever, field("counter", 24, KindCounter, "+ 1 for each ID, random at first"))},
			Encodings: []Encoding{Hex},
			Text:      TextRules{Alphabet: "24 hexadecimal digits", Sorts: true},
			Example:   "507f1f77bcf86cd799439011",
			Search:    Search{Labelled: true}, Tick: time.Second, Since: 2008}),
		other(&Format{Name: "typeid", Title: "TypeID",
			Summary: "a prefix and a UUID", Source: "https://github.com/jetify-com/typeid",
			Layout:    []Field{field("uuid", 128, KindData, "a UUID, usually of version 7")},
			Encodings: []Encoding{Text, UUID, Hex}, Search: Search{Guess: []Encoding{Text}},
			Text: TextRules{Alphabet: "a prefix and 26 Base32 symbols",
				Symbols: strings.ToLower(textcodec.CrockfordSymbols),
				Lengths: []int{26}, Sorts: true,
				Prefix: &PrefixRule{Symbols: lower + "_", Max: 63}},
			Example: "user_01h455vb4pex5vsknk084sn02q", Within: usuallyV7()}),
		other(&Format{Name: "upid", Title: "UPID",
			Summary: "a prefix of four letters, a time and 64 random bits",
			Source:  "https://github.com/carderne/upid",
			Layout: []Field{field("timestamp", 40, KindTime, "Unix milliseconds / 256"),
				field("random", 64, KindRandom, "random in each ID"),
				field("prefix", 20, KindData, "the prefix, 5 bits a letter"),
				field("version", 4, KindData, "6, written as a")},
			Encodings: []Encoding{Text, UUID, Hex},
			Text: TextRules{Alphabet: "a prefix of 4 characters and 22 Base32 symbols", Symbols: sorted32,
				Groups: []TextPart{{Digits: 4, Bits: 20, Low: 4}, {Before: "_", Digits: 8, Bits: 40, Low: 88},
					{Digits: 12, Bits: 60, Low: 28}, {Digits: 1, Bits: 4, Low: 24}, {Digits: 1, Bits: 4}}},
			Example: "user_2accvpp5guht4dts56je5a",
			Search:  Search{Named: true, Guess: []Encoding{Text}},
			Tick:    256 * time.Millisecond}),
		other(&Format{Name: "orderlyid", Title: "OrderlyID",
			Summary: "a prefix, a time, a tenant, a shard and 60 random bits",
			Source:  "https://github.com/orderlykit/orderlyid",
			Layout: []Field{field("time", 48, KindTime, "milliseconds since 2020"),
				fixed("version", 2, 0, "of the specification"),
				field("flags", 6, KindData, "32 if the time is rounded"),
				field("tenant", 16, KindData, "a customer"),
				resets(field("seq", 12, KindCounter, "+ 1 within a millisecond")),
				loose(field("shard", 16, KindNode, "where it is stored")),
				field("random", 60, KindRandom, "random in each ID")},
			Text: TextRules{Alphabet: "a prefix and 32 Crockford Base32 symbols, and a check or none",
				Symbols: strings.ToLower(textcodec.CrockfordSymbols), FoldsCase: true,
				Lengths: []int{32, 37},
				Sorts:   true, Prefix: &PrefixRule{Symbols: lower + digits, Min: 2, Max: 31},
				Suffix: "bech32"},
			Habits:  Habits{Rounded: "flags"},
			Example: "order_00jc1gmm00000000000028t5cy4tqkff", Search: Search{Named: true},
			Epoch: unix(1_577_836_800_000), Tick: time.Millisecond}),
		shortUUID("uuid-base58", "UUID in Base58", "https://www.npmjs.com/package/uuid58",
			"1BihbxwwQ4NZZpKRH9JDCz", "22 digits of Bitcoin's Base58", digits58),
		shortUUID("short-uuid", "short-uuid", "https://www.npmjs.com/package/short-uuid",
			"1bHGAXWWp4nyyPjqh9idcZ", "22 digits of Flickr's Base58", flickr58),
		shortUUID("shortuuid", "shortuuid", "https://github.com/skorokithakis/shortuuid",
			"2HCATbPFFQRhakvB2nxrTh", "22 digits of shortuuid's Base57", digits57),
		shortUUID("uuid-base62", "UUID in Base62", "https://docs.rs/base62",
			"02p5oQZoHTv0zeY5yG21K3", "22 Base62 digits", digits62),
		uuidBase64(),
		other(&Format{Name: "timeflake", Title: "Timeflake",
			Summary:   "Unix time and 80 random bits, in Base62",
			Source:    "https://github.com/anthonynsimon/timeflake",
			Layout:    []Field{unixMillis, field("random", 80, KindRandom, "random in each ID")},
			Encodings: []Encoding{Text, UUID, Hex, Int},
			Text: TextRules{Alphabet: "22 Base62 digits", Symbols: digits62,
				Lengths: []int{22}, Sorts: true},
			Example: "02i2XhN7hAuaFh3MwztcMd",
			Search:  Search{Named: true, Guess: []Encoding{Text}}}),
		other(&Format{Name: "flake", Title: "Flake (Boundary)",
			Summary: "Unix time, a MAC address and a sequence, in Base62",
			Source:  "https://github.com/boundary/flake",
			Layout: []Field{field("", 21, KindZero, "zero until 2248"),
				field("timestamp", 43, KindTime, "Unix time in milliseconds"),
				field("worker", 48, KindNode, "the MAC address"),
				field("sequence", 16, KindCounter, "+ 1 within a millisecond")},
			Text: TextRules{Alphabet: "18 Base62 digits", Symbols: digits62,
				Lengths: []int{18}, Sorts: true,
				Groups: []TextPart{{Digits: 18, Bits: 107}}},
			Example: "8HFaR8qWtRlGDHnO57", Search: Search{Named: true, Mixed: true}}),
		other(&Format{Name: "pushid", Title: "Push ID (Firebase)",
			Summary: "Unix time and 72 random bits",
			Source:  "https://firebase.blog/posts/2015/02/the-2120-ways-to-ensure-unique_68",
			Layout: []Field{unixMillis,
				seeds(field("random", 72, KindRandom, "random, or + 1 within a millisecond"))},
			Text: TextRules{Alphabet: "20 characters of - 0-9 A-Z _ a-z",
				Symbols: "-" + digits + capitals + "_" + lower, Lengths: []int{20}, Sorts: true},
			Example: "-JhLeOlGIEjaIOFHR0xd", Search: Search{Named: true, Mixed: true}}),
		other(&Format{Name: "tid", Title: "TID (AT Protocol)",
			Summary: "Unix microseconds and a clock's number", Source: "https://atproto.com/specs/tid",
			Layout: []Field{zeros(1),
				field("timestamp", 53, KindTime, "Unix time in microseconds"),
				loose(field("clock_id", 10, KindNode, "random in each clock"))},
			Text: TextRules{Alphabet: "13 symbols of 2-7 a-z", Symbols: sorted32, Lengths: []int{13},
				Sorts: true},
			Example: "3jzfcijpj2z2a", Search: Search{Named: true}, Tick: time.Microsecond}),
		other(&Format{Name: "nano64", Title: "Nano64",
			Summary: "Unix time and 20 random bits", Source: "https://github.com/only-cliches/nano64",
			Layout: []Field{field("timestamp", 44, KindTime, "Unix time in milliseconds"),
				seeds(field("random", 20, KindRandom, "random, or + 1 within a millisecond"))},
			Encodings: []Encoding{Text, Hex, Int},
			Text: TextRules{Alphabet: "11 and 5 hexadecimal digits", Symbols: digits + "ABCDEF",
				FoldsCase: true,
				Sorts:     true,
				Groups:    []TextPart{{Digits: 11, Bits: 44, Low: 20}, {Before: "-", Digits: 5, Bits: 20}}},
			Example: "199C01B6659-5861C", Search: Search{Named: true, Guess: []Encoding{Text, Hex}}}),
		other(&Format{Name: "threads", Title: "Thread ID (Meta)",
			Summary:   "Instagram's Snowflake in Base64",
			Source:    "https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c",
			Layout:    instagram,
			Encodings: []Encoding{Text, Int},
			Text: TextRules{Alphabet: "11 characters of A-Z a-z 0-9 - _", Symbols: digits64,
				Lengths: []int{11}},
			Example: "C8uV2xPyXyZ",
			Search:  Search{Named: true, Mixed: true, Guess: []Encoding{Text}},
			Epoch:   unix(1_314_220_021_721), Tick: time.Millisecond}),
		other(&Format{Name: "datadog-trace", Title: "Datadog trace ID",
			Summary: "seconds and 64 random bits",
			Source:  "https://docs.datadoghq.com/tracing/guide/span_and_trace_id_format/",
			Layout: []Field{field("timestamp", 32, KindTime, "Unix time in seconds"),
				field("", 32, KindFixed, "always zero"),
				half("many tracers make numbers of 63 bits", field("random", 64, KindRandom,
					"random; in the older form, these bits are the whole ID"))},
			Encodings: []Encoding{Hex, Int}, Search: Search{Guess: []Encoding{Hex}},
			Text: TextRules{Alphabet: "32 hexadecimal digits",
				Mark: "; digits 9 to 16 are zero", Sorts: true},
			Example: "67d33e1c000000000b3b1b6a2c1f0e4d", Tick: time.Second}),
		other(&Format{Name: "xray-trace", Title: "AWS X-Ray trace ID",
			Summary: "seconds and 96 random bits",
			Source:  "https://docs.aws.amazon.com/xray/latest/devguide/xray-api-sendingdata.html",
			Layout: []Field{field("timestamp", 32, KindTime, "Unix time in seconds"),
				field("random", 96, KindRandom, "random in each ID")},
			Encodings: []Encoding{Text, Hex}, Search: Search{Named: true, Guess: []Encoding{Text}},
			Text: TextRules{Alphabet: "1, 8 and 24 hexadecimal digits", Symbols: digits + "abcdef",
				FoldsCase: true,
				Sorts:     true,
				Groups: []TextPart{{Before: "1-", Digits: 8, Bits: 32, Low: 96},
					{Before: "-", Digits: 24, Bits: 96}}},
			Example: "1-5759e988-bd862e3fe1be46a994272793", Tick: time.Second, Since: 2016}),
	}
})

// Formats whose texts are several numbers. Their only encoding is Text, because their documents do
// not define an integer.
var fielded = sync.OnceValue(func() []*Format {
	return []*Format{
		other(&Format{Name: "cuid", Title: "CUID",
			Summary: "Unix time, a counter, a machine and 8 random digits",
			Source:  "https://github.com/paralleldrive/cuid",
			Layout: []Field{zeros(2),
				field("timestamp", 42, KindTime, "Unix time in milliseconds, 8 digits"),
				most(base36to4-1, starts(StartNever,
					field("counter", 21, KindCounter, "+ 1 for each ID, 4 digits"))),
				field("fingerprint", 21, KindNode, "machine and process, 4 digits"),
				most(base36to4*base36to4-1,
					field("random", 42, KindRandom, "random in each ID, 8 digits"))},
			Text: TextRules{Alphabet: "the letter c and 24 Base36 digits", Symbols: digits36, Sorts: true,
				Groups: []TextPart{{Before: "c", Digits: 8, Bits: 42, Low: 84}, {Digits: 4, Bits: 21, Low: 63},
					{Digits: 4, Bits: 21, Low: 42}, {Digits: 8, Bits: 42}}},
			Habits: Habits{Digits: []Digits{{Name: "random", From: -8, Count: 8, Block: 4,
				Half: "the library for JavaScript uses only half of the values"}}},
			Example: "ch72gsb320000udocl363eofy", Search: Search{Named: true}}),
		other(&Format{Name: "cuid2", Title: "CUID2",
			Summary: "a hash in 24 digits, without a time",
			Source:  "https://github.com/paralleldrive/cuid2",
			Layout: []Field{zeros(4),
				field("letter", 5, KindRandom, "a random letter"),
				field("hash", 119, KindRandom, "of time, counter, machine and random digits")},
			Text: TextRules{Alphabet: "a letter and 23 Base36 digits", Symbols: digits36,
				Groups: []TextPart{{Digits: 1, Symbols: lower, Bits: 5, Low: 119}, {Digits: 23, Bits: 119}}},
			Habits: Habits{Digits: []Digits{
				{Name: "first", Count: 10, First: lower, Hashes: []int{512, 255}},
				{Name: "middle", From: 10, Count: 7}, {Name: "last", From: 17, Count: 7}}},
			Example: "tz4a98xxat96iws9zmbrgj3a", Search: Search{Named: true, Mixed: true}}),
		other(&Format{Name: "puid", Title: "puid",
			Summary: "Unix time, a machine, a process and nanoseconds",
			Source:  "https://github.com/pid/puid",
			Layout: []Field{zeros(2),
				field("timestamp", 42, KindTime, "Unix time in milliseconds, 8 digits"),
				field("maker", 52, KindNode, "process (4 digits) and machine (6), in either order"),
				most(1e9-1, resets(
					field("counter", 32, KindCounter, "nanoseconds of a clock, 6 digits")))},
			Text: TextRules{Alphabet: "24 Base36 digits", Symbols: digits36, Sorts: true,
				Groups: []TextPart{
					{Digits: 8, Bits: 42, Low: 84}, {Digits: 10, Bits: 52, Low: 32}, {Digits: 6, Bits: 32},
				}},
			Example: "he5fps6l2504cd1w3ag8ut8e", Search: Search{Named: true, Mixed: true}}),
		other(&Format{Name: "nanoid", Title: "Nano ID",
			Summary: "126 random bits", Source: "https://github.com/ai/nanoid",
			Layout: []Field{zeros(2),
				field("random", 126, KindRandom, "random in each ID")},
			Text: TextRules{Alphabet: "21 characters of A-Z a-z 0-9 - _", Symbols: digits64,
				Groups: []TextPart{{Digits: 21, Bits: 126}}},
			Example: "V1StGXR8_Z5jdHi6B-myT", Search: Search{Named: true, Mixed: true}}),
		other(&Format{Name: "nuid", Title: "NUID",
			Summary: "NATS's: a random prefix and a sequence",
			Source:  "https://github.com/nats-io/nuid",
			Layout: []Field{
				zeros(4),
				same(field("prefix", 72, KindRandom, "random in each generator, 12 digits")),
				field("sequence", 60, KindCounter,
					"random at first, then up by random steps, 10 digits"),
			},
			Text: TextRules{Alphabet: "22 Base62 digits", Symbols: digits62,
				Groups: []TextPart{{Digits: 12, Bits: 72, Low: 60}, {Digits: 10, Bits: 60}}},
			Habits:  Habits{Digits: []Digits{{Name: "prefix", Count: 12, Same: true, Bytes: true}}},
			Example: "0Fn2FrLBHGXcFj3JzTDUlh", Search: Search{Named: true, Mixed: true}}),
		other(&Format{Name: "stripe", Title: "Stripe ID",
			Summary: "a prefix and digits whose meaning only Stripe knows",
			Source:  "https://docs.stripe.com/api",
			Layout: []Field{field("head", 72, KindData, "the first 12 digits"),
				field("tail", 72, KindData, "the other digits")},
			Text: TextRules{Alphabet: "a prefix and 14, 16 or 24 Base62 digits", Symbols: " " + digits62,
				Lengths: []int{14, 16, 24},
				Groups:  []TextPart{{Digits: 12, Bits: 72, Low: 72}, {Digits: 12, Bits: 72}},
				Prefix: &PrefixRule{Symbols: lower + "_", Min: 2, Max: 15,
					Known: strings.Fields(
						"ac acct ba bps btok ca card cbtxn ch cn cs cs_live cs_test cus di dp du " +
							"evt fee file fr ic ich ii il in ipi link mandate or orret pi pk_live " +
							"pk_test pm pmc po price prod promo prv pst py pyr qt rcpt re req set seti " +
							"setatt shr si sku source src ss sub sub_sched ta taxid tml tok tr trr tu " +
							"txcd txi txn txr us we")}},
			Habits:  Habits{Digits: []Digits{{Name: "last", From: -7, Count: 7}}}, // the digits before can be an account's
			Example: "pi_3MtwBwLkdIwHu7ix28a3tqPa", Search: Search{Named: true, Mixed: true}}),
	}
})

// shortUUID returns a row of UUIDs that are written as one number. Some writers omit leading zeros.
func shortUUID(name, title, source, example, alphabet, symbols string) *Format {
	return boxedUUID(name, title, source, example, TextRules{Alphabet: alphabet, Symbols: symbols,
		Lengths: []int{22, 21, 20}})
}

func uuidBase64() *Format {
	return boxedUUID("uuid-base64", "UUID in Base64",
		"https://www.rfc-editor.org/rfc/rfc4648", "AX8i4nmwfMOYxNwMDAc5jw",
		TextRules{Alphabet: "22 characters of A-Z a-z 0-9 - _, or + / in their place",
			Symbols: digits64, Aliases: "+-/_",
			Groups: []TextPart{{Digits: 22, Bits: 128 + 4, Low: -4}}})
}

func boxedUUID(name, title, source, example string, text TextRules) *Format {
	text.Sorts = slices.IsSorted([]byte(text.Symbols))
	return other(&Format{Name: name, Title: title, Summary: "a UUID in a short text",
		Source:    source,
		Layout:    []Field{field("uuid", 128, KindData, "a UUID")},
		Encodings: []Encoding{Text, UUID, Hex}, Text: text, Example: example,
		Search: Search{Named: true, Guess: []Encoding{Text}},
		Within: []*Format{uuidv7(), versions()[3], versions()[0], versions()[5]}})
}

// cutBech32 cuts off the 20-bit check of Bech32, if there is one.
func cutBech32(text string) (string, error) {
	i := strings.LastIndexByte(text, '-')
	if i < 0 {
		return text, nil
	}
	prefix, rest, _ := strings.Cut(strings.ToLower(text[:i]), "_")
	var values []byte
	for _, c := range []byte(prefix + "_") {
		values = append(values, c>>5)
	}
	values = append(values, 0)
	for _, c := range []byte(prefix + "_") {
		values = append(values, c&31)
	}
	symbols := strings.ToLower(textcodec.CrockfordSymbols)
	for _, c := range rest {
		values = append(values, byte(max(0, strings.IndexRune(symbols, c))))
	}
	sum := uint32(1)
	for _, v := range append(values, 0, 0, 0, 0) {
		top := sum >> 25
		sum = sum&(1<<25-1)<<5 ^ uint32(v)
		for i, generator := range [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
			0x2a1462b3} {
			if top>>i&1 == 1 {
				sum ^= generator
			}
		}
	}
	sum ^= 1
	want := make([]byte, 4)
	for i := range want {
		want[i] = symbols[sum>>(15-5*i)&31]
	}
	if got := text[i+1:]; !strings.EqualFold(got, string(want)) {
		return "", fmt.Errorf(
			"the check %q at the end is wrong for the rest: was a character changed?", got)
	}
	return text[:i], nil
}
