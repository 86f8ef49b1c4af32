-- scru160: stored as BLOB. If ms is a Unix time in milliseconds, the first ID of this
-- time is CAST(unhex(printf('%012x', ms)) || zeroblob(14) AS BLOB).
-- A new ID of this time is
-- CAST(unhex(printf('%012x%04x', ms, random() & 32767)) || randomblob(12) AS BLOB).

CREATE TABLE IF NOT EXISTS events_scru160 (
  id   BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 20) DEFAULT (CAST(
         unhex(printf('%012x%04x', CAST(strftime('%s', 'now') AS INTEGER) * 1000
           + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER),
           random() & 32767)) || randomblob(12) AS BLOB)),
  at   TEXT AS (strftime('%Y-%m-%d %H:%M:%f',
         (('[0x' || nullif(hex(substr(id, 1, 6)), '') || ']') ->> 0) / 1000.0, 'unixepoch')),
  what TEXT NOT NULL,
  CONSTRAINT sqlite_3_42_or_later CHECK (json_error_position('[]') = 0)
) WITHOUT ROWID;

CREATE VIEW IF NOT EXISTS events_scru160_text AS
WITH
digits(d) AS (VALUES ('0123456789ABCDEFGHIJKLMNOPQRSTUV')),
numbers AS (
  SELECT at, what,
    ('[0x' || hex(substr(id, 1, 5)) || ']') ->> 0 AS a,
    ('[0x' || hex(substr(id, 6, 5)) || ']') ->> 0 AS b,
    ('[0x' || hex(substr(id, 11, 5)) || ']') ->> 0 AS c,
    ('[0x' || hex(substr(id, 16, 5)) || ']') ->> 0 AS e
  FROM events_scru160
)
SELECT substr(d, 1 + (a >> 35 & 31), 1) || substr(d, 1 + (a >> 30 & 31), 1)
    || substr(d, 1 + (a >> 25 & 31), 1) || substr(d, 1 + (a >> 20 & 31), 1)
    || substr(d, 1 + (a >> 15 & 31), 1) || substr(d, 1 + (a >> 10 & 31), 1)
    || substr(d, 1 + (a >> 5 & 31), 1) || substr(d, 1 + (a & 31), 1)
    || substr(d, 1 + (b >> 35 & 31), 1) || substr(d, 1 + (b >> 30 & 31), 1)
    || substr(d, 1 + (b >> 25 & 31), 1) || substr(d, 1 + (b >> 20 & 31), 1)
    || substr(d, 1 + (b >> 15 & 31), 1) || substr(d, 1 + (b >> 10 & 31), 1)
    || substr(d, 1 + (b >> 5 & 31), 1) || substr(d, 1 + (b & 31), 1)
    || substr(d, 1 + (c >> 35 & 31), 1) || substr(d, 1 + (c >> 30 & 31), 1)
    || substr(d, 1 + (c >> 25 & 31), 1) || substr(d, 1 + (c >> 20 & 31), 1)
    || substr(d, 1 + (c >> 15 & 31), 1) || substr(d, 1 + (c >> 10 & 31), 1)
    || substr(d, 1 + (c >> 5 & 31), 1) || substr(d, 1 + (c & 31), 1)
    || substr(d, 1 + (e >> 35 & 31), 1) || substr(d, 1 + (e >> 30 & 31), 1)
    || substr(d, 1 + (e >> 25 & 31), 1) || substr(d, 1 + (e >> 20 & 31), 1)
    || substr(d, 1 + (e >> 15 & 31), 1) || substr(d, 1 + (e >> 10 & 31), 1)
    || substr(d, 1 + (e >> 5 & 31), 1) || substr(d, 1 + (e & 31), 1) AS id,
  at, what FROM numbers, digits;

-- The events of a day:
SELECT * FROM events_scru160
WHERE id >= CAST(unhex(printf('%012x', unixepoch('2026-11-17') * 1000)) || zeroblob(14) AS BLOB)
  AND id < CAST(unhex(printf('%012x', unixepoch('2026-11-18') * 1000)) || zeroblob(14) AS BLOB);
