-- uid60: stored as BIGINT. The texts do not sort by time. For example:
--
--   CREATE TABLE events_uid60 (
--     id   BIGINT PRIMARY KEY CHECK (id BETWEEN 0 AND 1152921504606846975),
--     at   DATETIME(3) AS (TIMESTAMP'2018-03-01 00:00:00'
--            + INTERVAL (id >> 18) * 1000 MICROSECOND) VIRTUAL,
--     what VARCHAR(100) NOT NULL
--   );
--   INSERT INTO events_uid60 (id, what) VALUES (uid60_parse('xinaS8QBh'), 'made elsewhere');
--   CREATE VIEW events_uid60_text AS SELECT uid60_text(id) AS id, at, what FROM events_uid60;
--   SELECT * FROM events_uid60
--     WHERE id >= uid60_first('2026-11-17') AND id < uid60_first('2026-11-18');

DELIMITER //

DROP FUNCTION IF EXISTS uid60_text //
CREATE FUNCTION uid60_text(id BIGINT)
RETURNS VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin DETERMINISTIC NO SQL
COMMENT 'The text of a uid60: 4 to 10 characters of 0-9A-Za-z_-.'
BEGIN
  DECLARE digits VARCHAR(12) CHARACTER SET ascii COLLATE ascii_bin;
  IF id NOT BETWEEN 0 AND 1152921504606846975 THEN
    CALL sortid_reject('uid60', id, 'not from 0 to 1152921504606846975, the largest ID');
  END IF;
  -- Nine bytes are twelve Base64 digits. The text leaves out leading zeros (A), and begins with
  -- the last two digits.
  SET digits = TRIM(LEADING 'A' FROM
    REPLACE(REPLACE(TO_BASE64(UNHEX(LPAD(HEX(id), 18, '0'))), '+', '-'), '/', '_'));
  SET digits = LPAD(digits, GREATEST(LENGTH(digits), 4), 'A');
  RETURN CONCAT(RIGHT(digits, 2), LEFT(digits, LENGTH(digits) - 2));
END //

DROP FUNCTION IF EXISTS uid60_parse //
CREATE FUNCTION uid60_parse(text VARCHAR(255)) RETURNS BIGINT DETERMINISTIC NO SQL
COMMENT 'The uid60 of a text of 4 to 10 characters. Case matters. Raises 22018 for any other text.'
BEGIN
  CALL sortid_check_text('uid60', text, 4, 10, '0-9A-Za-z_-');
  RETURN sortid_number(SUBSTR(FROM_BASE64(
    LPAD(REPLACE(REPLACE(CONCAT(SUBSTR(text, 3), LEFT(text, 2)), '-', '+'), '_', '/'),
      12, 'A')), 2));
END //

DROP FUNCTION IF EXISTS uid60_time //
CREATE FUNCTION uid60_time(id BIGINT) RETURNS DATETIME(3) DETERMINISTIC NO SQL
COMMENT 'The time of a uid60, exact to a millisecond.'
RETURN sortid_time((id >> 18) + 1519862400000) //

DROP FUNCTION IF EXISTS uid60_first //
CREATE FUNCTION uid60_first(at DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
COMMENT 'The smallest uid60 of a time''s millisecond. The IDs from time a to before time b:
id >= uid60_first(a) AND id < uid60_first(b).'
RETURN IF(sortid_ms(at) > 5917908911103, 1152921504606846975,
  GREATEST(0, sortid_ms(at) - 1519862400000) << 18) //

DROP FUNCTION IF EXISTS uid60_new //
CREATE FUNCTION uid60_new(at DATETIME(6)) RETURNS BIGINT
DETERMINISTIC NO SQL
COMMENT 'Raises 0A000: there is no new ID at a given time.
For old rows, number the rows of each time t: uid60_first(t) + 512 * (ROW_NUMBER()
OVER (PARTITION BY uid60_first(t)) - 1).'
BEGIN
  CALL sortid_reject_time('uid60');
  RETURN NULL;
END //

DELIMITER ;
