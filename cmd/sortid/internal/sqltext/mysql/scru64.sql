-- scru64: stored as BIGINT. For example:
--
--   CREATE TABLE events_scru64 (
--     id   BIGINT PRIMARY KEY CHECK (id BETWEEN 0 AND 4738381338321616895),
--     at   DATETIME(3) AS (TIMESTAMP'1970-01-01 00:00:00'
--            + INTERVAL (id >> 24) * 256000 MICROSECOND) VIRTUAL,
--     what VARCHAR(100) NOT NULL
--   );
--   INSERT INTO events_scru64 (id, what) VALUES (scru64_parse('0u2pf62ji4b9'), 'made elsewhere');
--   CREATE VIEW events_scru64_text AS SELECT scru64_text(id) AS id, at, what FROM events_scru64;
--   SELECT * FROM events_scru64
--     WHERE id >= scru64_first('2026-11-17') AND id < scru64_first('2026-11-18');

DELIMITER //

DROP FUNCTION IF EXISTS scru64_text //
CREATE FUNCTION scru64_text(id BIGINT)
RETURNS CHAR(12) CHARACTER SET ascii COLLATE ascii_bin DETERMINISTIC NO SQL
COMMENT 'The text of a SCRU64 ID: 12 Base36 digits in lower case.'
BEGIN
  IF id NOT BETWEEN 0 AND 4738381338321616895 THEN
    CALL sortid_reject('scru64', id, 'not from 0 to 4738381338321616895, the largest ID');
  END IF;
  RETURN LPAD(LOWER(CONV(id, 10, 36)), 12, '0');
END //

DROP FUNCTION IF EXISTS scru64_parse //
CREATE FUNCTION scru64_parse(text VARCHAR(255)) RETURNS BIGINT DETERMINISTIC NO SQL
COMMENT 'The SCRU64 ID of 12 Base36 digits, in either case. Raises 22018 for any other text.'
BEGIN
  CALL sortid_check_text('scru64', text, 12, 12, '0-9A-Za-z');
  RETURN CAST(CONV(text, 36, 10) AS UNSIGNED);
END //

DROP FUNCTION IF EXISTS scru64_time //
CREATE FUNCTION scru64_time(id BIGINT) RETURNS DATETIME(3) DETERMINISTIC NO SQL
COMMENT 'The time of a SCRU64 ID, in steps of 256 milliseconds.'
RETURN sortid_time((id >> 24) * 256) //

DROP FUNCTION IF EXISTS scru64_first //
CREATE FUNCTION scru64_first(at DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
COMMENT 'The smallest SCRU64 ID of a time''s tick of 256 milliseconds.
The IDs from time a to before time b: id >= scru64_first(a) AND id < scru64_first(b).'
RETURN LEAST(4738381338321616895, LEAST(282429536481, sortid_ms(at) DIV 256) << 24) //

DROP FUNCTION IF EXISTS scru64_new //
CREATE FUNCTION scru64_new(node_id INT, node_bits INT, at DATETIME(6)) RETURNS BIGINT
DETERMINISTIC NO SQL
COMMENT 'Raises 0A000: there is no new ID at a given time.
For old rows, number the rows of each time t: scru64_first(t) + (node_id << (24 - node_bits)) + ROW_NUMBER()
OVER (PARTITION BY scru64_first(t)) - 1. Use a node ID that nothing else uses.'
BEGIN
  CALL sortid_reject_time('scru64');
  RETURN NULL;
END //

DELIMITER ;
