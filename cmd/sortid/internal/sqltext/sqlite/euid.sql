-- euid: stored as BLOB. If ms is a Unix time in milliseconds, the first ID of this
-- time is CAST(unhex(printf('%016x', ms << 22)) || zeroblob(8) AS BLOB).
-- A new ID of this time is
-- CAST(unhex(printf('%016x', ms << 22 | ((random() & 32767) << 7))) || randomblob(8) AS BLOB).

CREATE TABLE IF NOT EXISTS events_euid (
  id   BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 16) DEFAULT (CAST(
         unhex(printf('%016x', (CAST(strftime('%s', 'now') AS INTEGER) * 1000
             + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) << 22)
           | ((random() & 32767) << 7))) || randomblob(8) AS BLOB)),
  at   TEXT AS (strftime('%Y-%m-%d %H:%M:%f',
         ((('[0x' || nullif(hex(substr(id, 1, 6)), '') || ']') ->> 0) >> 6) / 1000.0, 'unixepoch')),
  what TEXT NOT NULL,
  CONSTRAINT sqlite_3_42_or_later CHECK (json_error_position('[]') = 0)
) WITHOUT ROWID;

-- The text has the 128 bits of the ID, and then the remainder by 127 in seven bits. 2^56 divided
-- by 127 leaves 1. So the remainder of an ID is the remainder of the sum of its blocks of 56 bits.
CREATE VIEW IF NOT EXISTS events_euid_text AS
WITH
digits(d) AS (VALUES ('0123456789ABCDEFGHJKMNPQRSTVWXYZ')),
numbers AS (
  SELECT at, what,
    ('[0x' || hex(substr(id, 1, 5)) || ']') ->> 0 AS a,
    ('[0x' || hex(substr(id, 6, 5)) || ']') ->> 0 AS b,
    ('[0x' || hex(substr(id, 11, 5)) || ']') ->> 0 AS c,
    ((('[0x' || hex(substr(id, 16, 1)) || ']') ->> 0) << 7)
      + ((('[0x' || hex(substr(id, 1, 2)) || ']') ->> 0)
        + (('[0x' || hex(substr(id, 3, 7)) || ']') ->> 0)
        + (('[0x' || hex(substr(id, 10, 7)) || ']') ->> 0)) % 127 AS e
  FROM events_euid
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
    || substr(d, 1 + (e >> 10 & 31), 1) || substr(d, 1 + (e >> 5 & 31), 1)
    || substr(d, 1 + (e & 31), 1) AS id,
  at, what FROM numbers, digits;

-- The events of a day:
SELECT * FROM events_euid
WHERE id >= CAST(
    unhex(printf('%016x', unixepoch('2026-11-17') * 1000 << 22)) || zeroblob(8) AS BLOB)
  AND id < CAST(
    unhex(printf('%016x', unixepoch('2026-11-18') * 1000 << 22)) || zeroblob(8) AS BLOB);
