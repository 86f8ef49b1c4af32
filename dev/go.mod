module github.com/sortid/sortid/bench

go 1.26.0

require (
	github.com/bwmarrin/snowflake v0.3.0
	github.com/go-sql-driver/mysql v1.10.1
	github.com/gofrs/uuid/v5 v5.5.1
	github.com/google/uuid v1.6.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/matoous/go-nanoid/v2 v2.1.0
	github.com/oklog/ulid/v2 v2.1.2
	github.com/redis/go-redis/v9 v9.23.0
	github.com/rs/xid v1.6.0
	github.com/segmentio/ksuid v1.0.4
	github.com/sortid/sortid v0.1.0
	github.com/sortid/sortid/pgxid v0.1.0
	github.com/valyala/fasthttp v1.65.0
	go.jetify.com/typeid v1.3.0
	golang.org/x/perf v0.0.0-20240604174448-3b48cf0e0164
)

require (
	github.com/andybalholm/brotli v1.2.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/lucsky/cuid v1.2.1
	github.com/nats-io/nuid v1.0.1
	github.com/sony/sonyflake v1.2.0
	go.mongodb.org/mongo-driver/v2 v2.9.3
	golang.org/x/text v0.41.0 // indirect
)

tool golang.org/x/perf/cmd/benchstat
