-- uid60: stored as INTEGER. The texts do not sort by time. If ms is a Unix time in
-- milliseconds, the first ID of this time is ms - 1519862400000 << 18.

CREATE TABLE IF NOT EXISTS events_uid60 (
  id   INTEGER PRIMARY KEY CHECK (typeof(id) = 'integer' AND id BETWEEN 0 AND 1152921504606846975),
  at   TEXT AS (strftime('%Y-%m-%d %H:%M:%f', ((id >> 18) + 1519862400000) / 1000.0, 'unixepoch')),
  what TEXT NOT NULL
) WITHOUT ROWID; -- with a rowid, SQLite would number rows without an ID

-- The last two digits come first. At least two other digits follow, even if they are zeros (A).
CREATE VIEW IF NOT EXISTS events_uid60_text AS
WITH digits(d) AS (VALUES ('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'))
SELECT substr(d, 1 + (id >> 6 & 63), 1) || substr(d, 1 + (id & 63), 1)
    || ltrim(substr(d, 1 + (id >> 54 & 63), 1) || substr(d, 1 + (id >> 48 & 63), 1)
      || substr(d, 1 + (id >> 42 & 63), 1) || substr(d, 1 + (id >> 36 & 63), 1)
      || substr(d, 1 + (id >> 30 & 63), 1) || substr(d, 1 + (id >> 24 & 63), 1), 'A')
    || substr(d, 1 + (id >> 18 & 63), 1) || substr(d, 1 + (id >> 12 & 63), 1) AS id,
  at, what FROM events_uid60, digits;

-- The events of a day:
SELECT * FROM events_uid60
WHERE id >= unixepoch('2026-11-17') * 1000 - 1519862400000 << 18
  AND id < unixepoch('2026-11-18') * 1000 - 1519862400000 << 18;
