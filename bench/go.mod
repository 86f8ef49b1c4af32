module github.com/sortid/sortid/bench

go 1.25.0

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/gofrs/uuid/v5 v5.5.1
	github.com/google/uuid v1.6.0
	github.com/matoous/go-nanoid/v2 v2.1.0
	github.com/oklog/ulid/v2 v2.1.2
	github.com/rs/xid v1.6.0
	github.com/segmentio/ksuid v1.0.4
	github.com/sortid/sortid v0.0.0
	golang.org/x/perf v0.0.0-20240604174448-3b48cf0e0164
)

require github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect

replace github.com/sortid/sortid => ../

tool golang.org/x/perf/cmd/benchstat
