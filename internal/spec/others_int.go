package spec

import (
	"sync"
	"time"

	"github.com/sortid/sortid/internal/textcodec"
)

// IDs of Meta's Threads have the same fields.
var instagram = []Field{zeros(1),
	field("timestamp", 40, KindTime, "milliseconds since 2011-08-24T21:07:01.721Z"),
	field("shard", 13, KindNode, "the database"),
	resets(field("sequence", 10, KindCounter, "+ 1 for each row, modulo 1024")),
}

const (
	summary64 = "64 bits, unique through assigned node IDs"

	year2000 = 946_684_800_000 // in Unix milliseconds
	year2015 = 1_420_070_400_000
	year2020 = 1_577_836_800_000
	year2024 = 1_704_067_200_000
	year2025 = 1_735_689_600_000
)

// Formats usually written as decimal integers.
var integers = sync.OnceValue(func() []*Format {
	return []*Format{
		unixTime("s", "seconds", "1732190400", time.Second, 34),
		unixTime("ms", "milliseconds", "1732190400123", time.Millisecond, 44),
		unixTime("us", "microseconds", "1732190400123456", time.Microsecond, 54),
		snowflake("snowflake-twitter", "Snowflake (Twitter)",
			"https://github.com/twitter-archive/snowflake",
			"1541815603606036480", 1_288_834_974_657, time.Millisecond,
			field("timestamp", 41, KindTime, "milliseconds since 2010-11-04T01:42:54.657Z"),
			field("datacenter", 5, KindNode, "the data centre"),
			field("worker", 5, KindNode, "the generator in the data centre"),
			usually(63, field("sequence", 12, KindCounter, "+ 1 within a millisecond"))),
		snowflake("snowflake-discord", "Snowflake (Discord)",
			"https://docs.discord.com/developers/reference#snowflakes",
			"175928847299117063", year2015, time.Millisecond,
			field("timestamp", 42, KindTime, "milliseconds since 2015"),
			field("worker", 5, KindNode, "the generator"),
			usually(1, field("process", 5, KindNode, "the process")),
			resets(field("increment", 12, KindCounter, "+ 1 for each ID of the process"))),
		snowflake("snowflake-instagram", "Snowflake (Instagram)",
			"https://instagram-engineering.com/sharding-ids-at-instagram-1cf5a71e5a5c",
			"3020013934655595767", 1_314_220_021_721, time.Millisecond, instagram...).used(0, 1),
		snowflake("snowflake-mastodon", "Snowflake (Mastodon)",
			"https://github.com/mastodon/mastodon/blob/main/lib/mastodon/snowflake.rb",
			"109501234567890123", 0, time.Millisecond,
			unixMillis, field("sequence", 16, KindCounter, "a row's number and a hash")).used(2016, 0),
		snowflake("snowflake-linkedin", "Snowflake (LinkedIn)",
			"https://github.com/Ollie-Boyd/Linkedin-post-timestamp-extractor",
			"7157450712540516352", 0, time.Millisecond,
			field("timestamp", 42, KindTime, "Unix time in milliseconds"),
			field("rest", 22, KindData, "only LinkedIn knows the meaning")),
		snowflake("snowflake-tiktok", "Snowflake (TikTok)", "https://arxiv.org/abs/2504.13279",
			"6854717870488702213", 0, time.Second,
			field("timestamp", 32, KindTime, "Unix time in seconds"),
			field("rest", 32, KindData, "milliseconds, a sequence, the kind of object and the machine"),
		).unguessed(),
		sonyflake("sonyflake", "Sonyflake", "https://github.com/sony/sonyflake", "175928847299117063",
			1_409_529_600_000, "2014-09-01"),
		sonyflake("sonyflake-v2", "Sonyflake v2", "https://pkg.go.dev/github.com/sony/sonyflake/v2",
			"100089648239350375", year2025, "2025-01-01"),
		other(&Format{Name: "tsid", Title: "TSID",
			Summary: "a time and 22 bits of node and counter",
			Source:  "https://github.com/f4b6a3/tsid-creator",
			Layout: []Field{field("timestamp", 42, KindTime, "milliseconds since 2020"),
				seeds(field("random", 22, KindRandom,
					"a node ID, usually of 10 bits, and a counter that starts at random"))},
			Encodings: []Encoding{Text, Int},
			Text: TextRules{Alphabet: "13 Crockford Base32 symbols", Symbols: textcodec.CrockfordSymbols,
				FoldsCase: true,
				Lengths:   []int{13}, Sorts: true},
			Node: Node{Bits: 10, Most: 20}, Habits: Habits{NodeInEnd: true},
			Example: "01226N0640J7Q", Search: Search{Named: true, Rarity: 2}, Epoch: unix(year2020)}),
		other(&Format{Name: "snowid", Title: "SnowID", Summary: summary64,
			Source: "https://github.com/qeeqez/snowid-go",
			Layout: []Field{field("timestamp", 42, KindTime, "milliseconds since 2024"),
				field("node", 10, KindNode, "the generator"),
				usually(63, field("sequence", 12, KindCounter, "+ 1 within a millisecond"))},
			Encodings: []Encoding{Text, Int},
			Text: TextRules{Alphabet: "10 or 11 Base62 digits", Symbols: digits62,
				Lengths: []int{10, 11}},
			Example: "BDKpYLONVK", Search: Search{Named: true, Mixed: true, Rarity: 2},
			Epoch: unix(year2024)}),
		snowflake("snowflake-spaceflake", "Snowflake (Spaceflake)",
			"https://github.com/kkrypt0nn/spaceflake",
			"1015189130756840860", year2015, time.Millisecond,
			zeros(1),
			field("timestamp", 41, KindTime, "milliseconds since 2015"),
			field("node", 5, KindNode, "the node"),
			field("worker", 5, KindNode, "the generator of the node"),
			resets(loose(field("sequence", 12, KindCounter, "+ 1 for each ID, or random")))).used(2022, 2),
		snowflake("snowflake-flake", "Snowflake (flake-idgen)", "https://github.com/T-PWK/flake-idgen",
			"7157450712540516352", 0, time.Millisecond,
			field("timestamp", 42, KindTime, "Unix time in milliseconds"),
			field("datacenter", 5, KindNode, "the data centre"),
			field("worker", 5, KindNode, "the generator in the data centre"),
			usually(63, field("sequence", 12, KindCounter, "+ 1 within a millisecond"))).used(0, 2),
		other(&Format{Name: "snowflake-frostflake", Title: "Snowflake (Frostflake)",
			Summary: summary64, Source: "https://github.com/ordo-one/package-frostflake",
			Layout: []Field{field("timestamp", 32, KindTime, "Unix time in seconds"),
				field("sequence", 21, KindCounter, "+ 1 within a second"),
				field("generator", 11, KindNode, "the generator")},
			Encodings: []Encoding{Text, Int},
			Text: TextRules{Alphabet: "11 Base58 digits", Symbols: digits58,
				Lengths: []int{11}, Sorts: true},
			Example: "JERHwh5PXjL", Search: Search{Named: true, Mixed: true, Rarity: 2},
			Tick: time.Second, Since: 2022}),
		snowflake("snowflake-simpleflake", "Snowflake (Simpleflake)",
			"https://simpleflake.readthedocs.io",
			"4234673179811182512", year2000, time.Millisecond,
			field("timestamp", 41, KindTime, "milliseconds since 2000"),
			field("random", 23, KindRandom, "random in each ID")).used(0, 2),
		unixTime("ns", "nanoseconds", "1732190400123456789", time.Nanosecond, 63).used(0, 1),
	}
})

func snowflake(name, title, source, example string, epoch int64, tick time.Duration,
	fields ...Field) *Format {
	if rest := 64 - place(fields); rest > 0 {
		fields = append([]Field{zeros(rest)}, fields...)
	}
	return other(&Format{Name: name, Title: title, Summary: summary64, Source: source,
		Layout: fields, Encodings: []Encoding{Int},
		Text:    TextRules{Alphabet: "a decimal integer", Mark: " of 64 bits"},
		Example: example, Search: Search{Named: true}, Epoch: unix(epoch), Tick: tick})
}

func sonyflake(name, title, source, example string, epoch int64, day string) *Format {
	return snowflake(name, title, source, example, epoch, 10*time.Millisecond,
		zeros(1),
		field("time", 39, KindTime, "units of 10 ms since "+day),
		usually(15, field("sequence", 8, KindCounter, "+ 1 within 10 ms")),
		field("machine", 16, KindNode, "the machine")).used(0, 1)
}

func unixTime(unit, title, example string, tick time.Duration, bits int) *Format {
	f := snowflake("unix-"+unit, "Unix time in "+title,
		"https://pubs.opengroup.org/onlinepubs/9799919799/basedefs/V1_chap04.html",
		example, 0, tick, field("timestamp", bits, KindTime, title+" since 1970"))
	f.Summary, f.Text.Mark = "a time, not an ID", ""
	return f
}
