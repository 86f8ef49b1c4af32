package format

import "time"

// Threads' IDs have these fields, too.
var instagram = []Field{
	{Bits: 1, Kind: KindZero, Meaning: "always zero"},
	{Name: "timestamp", Bits: 40, Kind: KindTime,
		Meaning: "milliseconds since 2011-08-24T21:07:01.721Z"},
	{Name: "shard", Bits: 13, Kind: KindNode, Meaning: "the database"},
	{Name: "sequence", Bits: 10, Kind: KindCounter, Meaning: "+ 1 for each row, modulo 1024"},
}

const (
	year2000 = 946_684_800_000 // in Unix milliseconds
	year2015 = 1_420_070_400_000
	year2020 = 1_577_836_800_000
	year2024 = 1_704_067_200_000
)

// Formats usually written as decimal integers.
var integers = []*Format{
	unixTime("s", "seconds", "1732190400", time.Second, 34),
	unixTime("ms", "milliseconds", "1732190400123", time.Millisecond, 44),
	unixTime("us", "microseconds", "1732190400123456", time.Microsecond, 54),
	snowflake("snowflake-twitter", "Snowflake (Twitter)",
		"https://github.com/twitter-archive/snowflake",
		"1541815603606036480", 1_288_834_974_657, time.Millisecond,
		count("timestamp", 41, KindTime, "milliseconds since 2010-11-04T01:42:54.657Z"),
		count("datacenter", 5, KindNode, "the data centre"),
		count("worker", 5, KindNode, "the generator in it"),
		count("sequence", 12, KindCounter, "+ 1 within a millisecond")),
	snowflake("snowflake-discord", "Snowflake (Discord)",
		"https://docs.discord.com/developers/reference#snowflakes",
		"175928847299117063", year2015, time.Millisecond,
		count("timestamp", 42, KindTime, "milliseconds since 2015"),
		count("worker", 5, KindNode, "the generator"), count("process", 5, KindNode, "the process"),
		count("increment", 12, KindCounter, "+ 1 for each ID of the process")),
	snowflake("snowflake-instagram", "Snowflake (Instagram)",
		"https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c",
		"1541815603606036480", 1_314_220_021_721, time.Millisecond, instagram...),
	snowflake("snowflake-mastodon", "Snowflake (Mastodon)",
		"https://github.com/mastodon/mastodon/blob/main/lib/mastodon/snowflake.rb",
		"109501234567890123", 0, time.Millisecond,
		unixMillis, count("sequence", 16, KindCounter, "a row's number and a hash")),
	snowflake("snowflake-linkedin", "Snowflake (LinkedIn)",
		"https://github.com/Ollie-Boyd/Linkedin-post-timestamp-extractor",
		"7157450712540516352", 0, time.Millisecond,
		count("timestamp", 42, KindTime, "Unix time in milliseconds"),
		count("rest", 22, KindData, "what only LinkedIn knows")),
	snowflake("sonyflake", "Sonyflake", "https://github.com/sony/sonyflake",
		"175928847299117063", 1_409_529_600_000, 10*time.Millisecond,
		count("zero", 1, KindZero, "always zero"),
		count("time", 39, KindTime, "10 ms since 2014-09-01"),
		count("sequence", 8, KindCounter, "+ 1 within 10 ms"),
		count("machine", 16, KindNode, "the machine")),
	other(&Format{
		Name: "tsid", Title: "TSID",
		Summary: "a time and 22 bits of node and counter",
		Source:  "https://github.com/f4b6a3/tsid-creator",
		Bits:    64,
		Layout: []Field{
			count("timestamp", 42, KindTime, "milliseconds since 2020"),
			count("random", 22, KindRandom,
				"a node ID, 10 bits as a rule, and a counter that starts at random"),
		},
		Encodings: []Encoding{Text, Int}, Alphabet: "13 Crockford Base32 symbols",
		Symbols: crockford, FoldsCase: true, TextLengths: []int{13}, TextSorts: true,
		Example: "01226N0640J7Q",
		Search:  Search{Named: true},
		Epoch:   unix(year2020), Tick: time.Millisecond,
	}),
	snowflake("snowid", "SnowID", "https://github.com/qeeqez/snowid-go", "151819733950271234",
		year2024, time.Millisecond,
		count("timestamp", 42, KindTime, "milliseconds since 2024"),
		count("node", 10, KindNode, "the generator"),
		count("sequence", 12, KindCounter, "+ 1 within a millisecond")),
	snowflake("snowflake-spaceflake", "Snowflake (Spaceflake)",
		"https://github.com/kkrypt0nn/spaceflake",
		"1015189130756840860", year2015, time.Millisecond,
		count("zero", 1, KindZero, "always zero"),
		count("timestamp", 41, KindTime, "milliseconds since 2015"),
		count("node", 5, KindNode, "the node"),
		count("worker", 5, KindNode, "the generator of the node"),
		count("sequence", 12, KindCounter, "+ 1 for each ID, or random")),
	snowflake("snowflake-flake", "Snowflake (flake-idgen)", "https://github.com/T-PWK/flake-idgen",
		"7157450712540516352", 0, time.Millisecond,
		count("timestamp", 42, KindTime, "Unix time in milliseconds"),
		count("datacenter", 5, KindNode, "the data centre"),
		count("worker", 5, KindNode, "the generator in it"),
		count("sequence", 12, KindCounter, "+ 1 within a millisecond")),
	other(&Format{
		Name: "snowflake-frostflake", Title: "Snowflake (Frostflake)",
		Summary: "64 bits, unique through assigned node IDs",
		Source:  "https://github.com/ordo-one/package-frostflake",
		Bits:    64,
		Layout: []Field{
			count("timestamp", 32, KindTime, "Unix time in seconds"),
			count("sequence", 21, KindCounter, "+ 1 within a second"),
			count("generator", 11, KindNode, "the generator"),
		},
		Encodings: []Encoding{Text, Int}, Alphabet: "11 Base58 digits",
		Symbols:     "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
		TextLengths: []int{11}, TextSorts: true,
		Example: "JERHwh5PXjL",
		Search:  Search{Named: true, Mixed: true},
		Epoch:   unix(0), Tick: time.Second,
	}),
	snowflake("snowflake-simpleflake", "Snowflake (Simpleflake)",
		"https://simpleflake.readthedocs.io",
		"4234673179811182512", year2000, time.Millisecond,
		count("timestamp", 41, KindTime, "milliseconds since 2000"),
		count("random", 23, KindRandom, "random in each ID")),
	unixTime("ns", "nanoseconds", "1732190400123456789", time.Nanosecond, 63),
}

func count(name string, bits int, k Kind, meaning string) Field {
	if k == KindZero {
		name = ""
	}
	return Field{Name: name, Bits: bits, Kind: k, Meaning: meaning}
}

func snowflake(name, title, source, example string, epoch int64, tick time.Duration,
	fields ...Field) *Format {
	width := 0
	for _, f := range fields {
		width += f.Bits
	}
	if width < 64 {
		fields = append([]Field{{Bits: 64 - width, Kind: KindZero, Meaning: "always zero"}},
			fields...)
	}
	return other(&Format{
		Name: name, Title: title,
		Summary: "64 bits, unique through assigned node IDs",
		Source:  source,
		Bits:    64, Layout: fields,
		Encodings: []Encoding{Int},
		Alphabet:  "a decimal integer", Mark: " of 64 bits",
		Example: example,
		Search:  Search{Named: true},
		Epoch:   unix(epoch), Tick: tick,
	})
}

func unixTime(unit, title, example string, tick time.Duration, bits int) *Format {
	f := snowflake("unix-"+unit, "Unix time in "+title,
		"https://pubs.opengroup.org/onlinepubs/9799919799/basedefs/V1_chap04.html",
		example, 0, tick, count("timestamp", bits, KindTime, title+" since 1970"))
	f.Summary, f.Mark = "a time, and no ID", ""
	return f
}
