-- name: InsertEvent :exec
INSERT INTO events (id, what) VALUES ($1, $2);

-- name: AddEvent :one
INSERT INTO events (what) VALUES ($1) RETURNING id;

-- name: CopyEvents :copyfrom
INSERT INTO events (id, what) VALUES ($1, $2);

-- name: EventsBetween :many
SELECT id, what FROM events WHERE id >= sqlc.arg(first) AND id < sqlc.arg(end_) ORDER BY id;

-- name: EventsAfter :many
SELECT id, what FROM events WHERE id > sqlc.arg(after) ORDER BY id LIMIT $1;
