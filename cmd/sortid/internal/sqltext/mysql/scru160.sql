-- scru160: stored as BINARY(20). For example:
--
--   CREATE TABLE events_scru160 (
--     id   BINARY(20) PRIMARY KEY DEFAULT (expression),
--     at   DATETIME(3) AS (TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
--            CAST(CONV(HEX(SUBSTR(id, 1, 6)), 16, 10) AS UNSIGNED) * 1000 MICROSECOND) VIRTUAL,
--     what VARCHAR(100) NOT NULL
--   );
--   INSERT INTO events_scru160 (what) VALUES ('made here');
--   INSERT INTO events_scru160 (id, what)
--     VALUES (scru160_parse('05TTUP1HNCPNH30VEK64KDQT9BSNU4C4'), 'made elsewhere');
--   CREATE VIEW events_scru160_text AS SELECT scru160_text(id) AS id, at, what FROM events_scru160;
--   SELECT * FROM events_scru160
--     WHERE id >= scru160_first('2026-11-17') AND id < scru160_first('2026-11-18');

DELIMITER //

DROP FUNCTION IF EXISTS scru160_text //
CREATE FUNCTION scru160_text(id VARBINARY(255))
RETURNS CHAR(32) CHARACTER SET ascii COLLATE ascii_bin DETERMINISTIC NO SQL
COMMENT 'A SCRU160 ID as 32 base32hex symbols in upper case. The other text is LOWER(HEX(id)).'
BEGIN
  IF LENGTH(id) <> 20 THEN
    CALL sortid_reject('scru160', HEX(id),
      CONCAT('wrong length of the binary form: ', LENGTH(id), ' bytes, want 20'));
  END IF;
  RETURN CONCAT(
    LPAD(CONV(HEX(SUBSTR(id, 1, 5)), 16, 32), 8, '0'),
    LPAD(CONV(HEX(SUBSTR(id, 6, 5)), 16, 32), 8, '0'),
    LPAD(CONV(HEX(SUBSTR(id, 11, 5)), 16, 32), 8, '0'),
    LPAD(CONV(HEX(SUBSTR(id, 16, 5)), 16, 32), 8, '0'));
END //

DROP FUNCTION IF EXISTS scru160_parse //
CREATE FUNCTION scru160_parse(text VARCHAR(255)) RETURNS BINARY(20) DETERMINISTIC NO SQL
COMMENT 'The SCRU160 ID of 32 base32hex symbols or 40 hexadecimal digits, in lower or upper case.
Raises 22018 for any other text.'
BEGIN
  IF LENGTH(text) = 40 THEN
    CALL sortid_check_text('scru160', text, 40, 40, '0-9A-Fa-f');
    RETURN UNHEX(text);
  END IF;
  CALL sortid_check_text('scru160', text, 32, 32, '0-9A-Va-v');
  RETURN UNHEX(CONCAT(
    LPAD(CONV(SUBSTR(text, 1, 8), 32, 16), 10, '0'),
    LPAD(CONV(SUBSTR(text, 9, 8), 32, 16), 10, '0'),
    LPAD(CONV(SUBSTR(text, 17, 8), 32, 16), 10, '0'),
    LPAD(CONV(SUBSTR(text, 25), 32, 16), 10, '0')));
END //

DROP FUNCTION IF EXISTS scru160_time //
CREATE FUNCTION scru160_time(id VARBINARY(255)) RETURNS DATETIME(3) DETERMINISTIC NO SQL
COMMENT 'The time of a SCRU160 ID, exact to a millisecond; NULL after the year 9999.'
RETURN sortid_time(sortid_number(SUBSTR(id, 1, 6))) //

DROP FUNCTION IF EXISTS scru160_first //
CREATE FUNCTION scru160_first(at DATETIME(6)) RETURNS BINARY(20) DETERMINISTIC NO SQL
COMMENT 'The smallest SCRU160 ID of a time''s millisecond. The IDs from time a to before time b:
id >= scru160_first(a) AND id < scru160_first(b).'
RETURN UNHEX(RPAD(LPAD(HEX(sortid_ms(at)), 12, '0'), 40, '0')) //

DROP FUNCTION IF EXISTS scru160_new //
CREATE FUNCTION scru160_new(at DATETIME(6)) RETURNS BINARY(20) NOT DETERMINISTIC NO SQL
COMMENT 'A new SCRU160 ID with a given time and 111 random bits, for example for an old row. IDs of
one millisecond are in no order.'
RETURN UNHEX(CONCAT(LPAD(HEX(sortid_new_ms('scru160', at, 281474976710654)), 12, '0'),
  LPAD(HEX(CONV(HEX(RANDOM_BYTES(2)), 16, 10) >> 1), 4, '0'), HEX(RANDOM_BYTES(12)))) //

DELIMITER ;
