-- euid: stored as BINARY(16). For example:
--
--   CREATE TABLE events_euid (
--     id   BINARY(16) PRIMARY KEY DEFAULT (expression),
--     at   DATETIME(3) AS (TIMESTAMP'1970-01-01 00:00:00'
--            + INTERVAL (CAST(CONV(HEX(SUBSTR(id, 1, 6)), 16, 10) AS UNSIGNED) >> 6) * 1000
--              MICROSECOND) VIRTUAL,
--     what VARCHAR(100) NOT NULL
--   );
--   INSERT INTO events_euid (what) VALUES ('made here');
--   INSERT INTO events_euid (id, what)
--     VALUES (euid_parse('C8EE934SR007G5Q94QKKXFRFV8B'), 'made elsewhere');
--   CREATE VIEW events_euid_text AS SELECT euid_text(id) AS id, at, what FROM events_euid;
--   SELECT * FROM events_euid
--     WHERE id >= euid_first('2026-11-17') AND id < euid_first('2026-11-18');

DELIMITER //

-- 2^56 divided by 127 leaves 1. So the remainder of an ID is the remainder of the sum of its blocks
-- of 56 bits.
DROP FUNCTION IF EXISTS euid_check //
CREATE FUNCTION euid_check(id BINARY(16)) RETURNS INT DETERMINISTIC NO SQL
COMMENT 'The check value of an EUID: the ID modulo 127.'
RETURN (sortid_number(SUBSTR(id, 1, 2)) + sortid_number(SUBSTR(id, 3, 7))
  + sortid_number(SUBSTR(id, 10, 7))) MOD 127 //

DROP FUNCTION IF EXISTS euid_text //
CREATE FUNCTION euid_text(id VARBINARY(255))
RETURNS CHAR(27) CHARACTER SET ascii COLLATE ascii_bin DETERMINISTIC NO SQL
COMMENT 'The text of an EUID: 27 symbols of Crockford''s Base32 in upper case, with a check value.'
BEGIN
  DECLARE high, low BIGINT UNSIGNED;
  DECLARE symbols CHAR(27) CHARACTER SET ascii COLLATE ascii_bin;
  IF LENGTH(id) <> 16 THEN
    CALL sortid_reject('euid', HEX(id),
      CONCAT('wrong length of the binary form: ', LENGTH(id), ' bytes, want 16'));
  END IF;
  SET high = sortid_number(SUBSTR(id, 1, 8)), low = sortid_number(SUBSTR(id, 9, 8));
  -- First make base32hex from 60, 60 and 15 bits. Then replace its letters by Crockford's letters.
  SET symbols = CONCAT(LPAD(CONV(high >> 4, 10, 32), 12, '0'),
    LPAD(CONV((high & 15) << 56 | low >> 8, 10, 32), 12, '0'),
    LPAD(CONV((low & 255) << 7 | euid_check(id), 10, 32), 3, '0'));
  RETURN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(symbols,
    'V', 'Z'), 'U', 'Y'), 'T', 'X'), 'S', 'W'), 'R', 'V'), 'Q', 'T'), 'P', 'S'), 'O', 'R'),
    'N', 'Q'), 'M', 'P'), 'L', 'N'), 'K', 'M'), 'J', 'K'), 'I', 'J');
END //

DROP FUNCTION IF EXISTS euid_parse //
CREATE FUNCTION euid_parse(text VARCHAR(255)) RETURNS BINARY(16) DETERMINISTIC NO SQL
COMMENT 'The EUID of 27 symbols or a UUID text. Raises 22018 for any other text.'
BEGIN
  DECLARE a, b, c BIGINT UNSIGNED;
  DECLARE symbols VARCHAR(27) CHARACTER SET ascii COLLATE ascii_bin;
  DECLARE id BINARY(16);
  IF LENGTH(text) = 36 THEN
    RETURN sortid_uuid('euid', text);
  END IF;
  CALL sortid_check_text('euid', text, 27, 27, '0-9A-TV-Za-tv-z');
  SET symbols = REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(UPPER(text),
    'O', '0'), 'I', '1'), 'L', '1'), 'J', 'I'), 'K', 'J'), 'M', 'K'), 'N', 'L'), 'P', 'M'),
    'Q', 'N'), 'R', 'O'), 'S', 'P'), 'T', 'Q'), 'V', 'R'), 'W', 'S'), 'X', 'T'), 'Y', 'U'),
    'Z', 'V');
  SET a = CAST(CONV(SUBSTR(symbols, 1, 12), 32, 10) AS UNSIGNED),
    b = CAST(CONV(SUBSTR(symbols, 13, 12), 32, 10) AS UNSIGNED),
    c = CAST(CONV(SUBSTR(symbols, 25), 32, 10) AS UNSIGNED);
  SET id = UNHEX(CONCAT(LPAD(HEX(a << 4 | b >> 56), 16, '0'), LPAD(HEX(b << 8 | c >> 7), 16, '0')));
  IF euid_check(id) <> c & 127 THEN
    CALL sortid_reject('euid', text, 'the check value does not fit: the text is mistyped');
  END IF;
  RETURN id;
END //

DROP FUNCTION IF EXISTS euid_time //
CREATE FUNCTION euid_time(id VARBINARY(255)) RETURNS DATETIME(3) DETERMINISTIC NO SQL
COMMENT 'The time of an EUID, exact to a millisecond.'
RETURN sortid_time(sortid_number(SUBSTR(id, 1, 6)) >> 6) //

DROP FUNCTION IF EXISTS euid_first //
CREATE FUNCTION euid_first(at DATETIME(6)) RETURNS BINARY(16) DETERMINISTIC NO SQL
COMMENT 'The smallest EUID of a time''s millisecond. The IDs from time a to before time b:
id >= euid_first(a) AND id < euid_first(b).'
RETURN IF(sortid_ms(at) > 4398046511103, UNHEX(REPEAT('F', 32)),
  UNHEX(RPAD(LPAD(HEX(sortid_ms(at) << 22), 16, '0'), 32, '0'))) //

DROP FUNCTION IF EXISTS euid_new //
CREATE FUNCTION euid_new(at DATETIME(6)) RETURNS BINARY(16) NOT DETERMINISTIC NO SQL
COMMENT 'A new EUID with a given time and 79 random bits, for example for an old row. IDs of one
millisecond are in no order.'
RETURN UNHEX(CONCAT(LPAD(HEX(sortid_new_ms('euid', at, 4398046511103) << 22
  | (CONV(HEX(RANDOM_BYTES(2)), 16, 10) >> 1) << 7), 16, '0'), HEX(RANDOM_BYTES(8)))) //

DELIMITER ;
