-- scru64: stored as INTEGER. If ms is a Unix time in milliseconds, the first ID of this
-- time is ms / 256 << 24.

CREATE TABLE IF NOT EXISTS events_scru64 (
  id   INTEGER PRIMARY KEY CHECK (typeof(id) = 'integer' AND id BETWEEN 0 AND 4738381338321616895),
  at   TEXT AS (strftime('%Y-%m-%d %H:%M:%f', (id >> 24) * 256 / 1000.0, 'unixepoch')),
  what TEXT NOT NULL
) WITHOUT ROWID; -- with a rowid, SQLite would number rows without an ID

CREATE VIEW IF NOT EXISTS events_scru64_text AS
WITH digits(d) AS (VALUES ('0123456789abcdefghijklmnopqrstuvwxyz'))
SELECT substr(d, 1 + id / 131621703842267136, 1) || substr(d, 1 + id / 3656158440062976 % 36, 1)
    || substr(d, 1 + id / 101559956668416 % 36, 1) || substr(d, 1 + id / 2821109907456 % 36, 1)
    || substr(d, 1 + id / 78364164096 % 36, 1) || substr(d, 1 + id / 2176782336 % 36, 1)
    || substr(d, 1 + id / 60466176 % 36, 1) || substr(d, 1 + id / 1679616 % 36, 1)
    || substr(d, 1 + id / 46656 % 36, 1) || substr(d, 1 + id / 1296 % 36, 1)
    || substr(d, 1 + id / 36 % 36, 1) || substr(d, 1 + id % 36, 1) AS id,
  at, what FROM events_scru64, digits;

-- The events of a day:
SELECT * FROM events_scru64
WHERE id >= unixepoch('2026-11-17') * 1000 / 256 << 24
  AND id < unixepoch('2026-11-18') * 1000 / 256 << 24;
