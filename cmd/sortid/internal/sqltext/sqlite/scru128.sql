-- scru128: stored as BLOB. If ms is a Unix time in milliseconds, the first ID of this
-- time is CAST(unhex(printf('%012x', ms)) || zeroblob(10) AS BLOB).
-- A new ID of this time is CAST(unhex(printf('%012x', ms)) || randomblob(10) AS BLOB).

CREATE TABLE IF NOT EXISTS events_scru128 (
  id   BLOB PRIMARY KEY CHECK (typeof(id) = 'blob' AND length(id) = 16) DEFAULT (CAST(
         unhex(printf('%012x', CAST(strftime('%s', 'now') AS INTEGER) * 1000
           + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER)))
         || randomblob(10) AS BLOB)),
  at   TEXT AS (strftime('%Y-%m-%d %H:%M:%f',
         (('[0x' || nullif(hex(substr(id, 1, 6)), '') || ']') ->> 0) / 1000.0, 'unixepoch')),
  what TEXT NOT NULL,
  CONSTRAINT sqlite_3_42_or_later CHECK (json_error_position('[]') = 0)
) WITHOUT ROWID;

-- Two divisions by 36^12 = 2^24 * 3^24 give the digits. Each division cuts off the low 24 bits,
-- divides by 3^24, and appends the 24 bits to the remainder. The result has at most 63 bits.
CREATE VIEW IF NOT EXISTS events_scru128_text AS
WITH
digits(d) AS (VALUES ('0123456789abcdefghijklmnopqrstuvwxyz')),
step1 AS (SELECT id AS bytes, at, what, ('[0x' || hex(substr(id, 1, 7)) || ']') ->> 0 AS r
  FROM events_scru128),
step2 AS (SELECT bytes, at, what, r / 282429536481 AS q,
  (r % 282429536481 << 24) + (('[0x' || hex(substr(bytes, 8, 3)) || ']') ->> 0) AS r FROM step1),
step3 AS (SELECT bytes, at, what, (q << 24) + r / 282429536481 AS q,
  (r % 282429536481 << 24) + (('[0x' || hex(substr(bytes, 11, 3)) || ']') ->> 0) AS r FROM step2),
step4 AS (SELECT at, what, q / 282429536481 AS a, (q % 282429536481 << 24) + r / 282429536481 AS b,
  (r % 282429536481 << 24) + (('[0x' || hex(substr(bytes, 14, 3)) || ']') ->> 0) AS c FROM step3)
SELECT substr(d, 1 + a, 1)
    || substr(d, 1 + b / 131621703842267136, 1) || substr(d, 1 + b / 3656158440062976 % 36, 1)
    || substr(d, 1 + b / 101559956668416 % 36, 1) || substr(d, 1 + b / 2821109907456 % 36, 1)
    || substr(d, 1 + b / 78364164096 % 36, 1) || substr(d, 1 + b / 2176782336 % 36, 1)
    || substr(d, 1 + b / 60466176 % 36, 1) || substr(d, 1 + b / 1679616 % 36, 1)
    || substr(d, 1 + b / 46656 % 36, 1) || substr(d, 1 + b / 1296 % 36, 1)
    || substr(d, 1 + b / 36 % 36, 1) || substr(d, 1 + b % 36, 1)
    || substr(d, 1 + c / 131621703842267136, 1) || substr(d, 1 + c / 3656158440062976 % 36, 1)
    || substr(d, 1 + c / 101559956668416 % 36, 1) || substr(d, 1 + c / 2821109907456 % 36, 1)
    || substr(d, 1 + c / 78364164096 % 36, 1) || substr(d, 1 + c / 2176782336 % 36, 1)
    || substr(d, 1 + c / 60466176 % 36, 1) || substr(d, 1 + c / 1679616 % 36, 1)
    || substr(d, 1 + c / 46656 % 36, 1) || substr(d, 1 + c / 1296 % 36, 1)
    || substr(d, 1 + c / 36 % 36, 1) || substr(d, 1 + c % 36, 1) AS id,
  at, what FROM step4, digits;

-- The events of a day:
SELECT * FROM events_scru128
WHERE id >= CAST(unhex(printf('%012x', unixepoch('2026-11-17') * 1000)) || zeroblob(10) AS BLOB)
  AND id < CAST(unhex(printf('%012x', unixepoch('2026-11-18') * 1000)) || zeroblob(10) AS BLOB);
