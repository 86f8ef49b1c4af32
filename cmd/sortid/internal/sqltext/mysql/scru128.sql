-- scru128: stored as BINARY(16). For example:
--
--   CREATE TABLE events_scru128 (
--     id   BINARY(16) PRIMARY KEY DEFAULT (expression),
--     at   DATETIME(3) AS (TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
--            CAST(CONV(HEX(SUBSTR(id, 1, 6)), 16, 10) AS UNSIGNED) * 1000 MICROSECOND) VIRTUAL,
--     what VARCHAR(100) NOT NULL
--   );
--   INSERT INTO events_scru128 (what) VALUES ('made here');
--   INSERT INTO events_scru128 (id, what)
--     VALUES (scru128_parse('0372ijojuxuhjsfkeryi2mrtm'), 'made elsewhere');
--   CREATE VIEW events_scru128_text AS SELECT scru128_text(id) AS id, at, what FROM events_scru128;
--   SELECT * FROM events_scru128
--     WHERE id >= scru128_first('2026-11-17') AND id < scru128_first('2026-11-18');

DELIMITER //

DROP FUNCTION IF EXISTS scru128_text //
CREATE FUNCTION scru128_text(id VARBINARY(255))
RETURNS CHAR(25) CHARACTER SET ascii COLLATE ascii_bin DETERMINISTIC NO SQL
COMMENT 'The text of a SCRU128 ID: 25 Base36 digits in lower case.'
BEGIN
  -- Two divisions by 36^12 = 2^24 * 3^24 give the digits. Each division cuts off the low 24 bits,
  -- divides by 3^24, and appends the 24 bits to the remainder. The result has at most 63 bits.
  DECLARE remainder, quotient, low BIGINT UNSIGNED;
  IF LENGTH(id) <> 16 THEN
    CALL sortid_reject('scru128', HEX(id),
      CONCAT('wrong length of the binary form: ', LENGTH(id), ' bytes, want 16'));
  END IF;
  SET remainder = sortid_number(SUBSTR(id, 1, 7));
  SET quotient = remainder DIV 282429536481;
  SET remainder = (remainder MOD 282429536481) << 24 | sortid_number(SUBSTR(id, 8, 3));
  SET quotient = quotient << 24 | remainder DIV 282429536481;
  SET remainder = (remainder MOD 282429536481) << 24 | sortid_number(SUBSTR(id, 11, 3));
  SET low = remainder DIV 282429536481;
  SET remainder = (remainder MOD 282429536481) << 24 | sortid_number(SUBSTR(id, 14, 3));
  RETURN LOWER(CONCAT(CONV(quotient DIV 282429536481, 10, 36),
    LPAD(CONV((quotient MOD 282429536481) << 24 | low, 10, 36), 12, '0'),
    LPAD(CONV(remainder, 10, 36), 12, '0')));
END //

DROP FUNCTION IF EXISTS scru128_parse //
CREATE FUNCTION scru128_parse(text VARCHAR(255)) RETURNS BINARY(16) DETERMINISTIC NO SQL
COMMENT 'The SCRU128 ID of 25 Base36 digits or a UUID text. Raises 22018 for any other text.'
BEGIN
  -- The ID is (first digit * 36^12 + middle) * 36^12 + low, where 36^12 = 2^24 * 3^24. Each step
  -- multiplies by 3^24, keeps 24 bits and carries the higher bits.
  DECLARE high, middle, low BIGINT UNSIGNED;
  IF LENGTH(text) = 36 THEN
    RETURN sortid_uuid('scru128', text);
  END IF;
  CALL sortid_check_text('scru128', text, 25, 25, '0-9A-Za-z');
  SET high = CAST(CONV(SUBSTR(text, 1, 1), 36, 10) AS UNSIGNED);
  SET middle = CAST(CONV(SUBSTR(text, 2, 12), 36, 10) AS UNSIGNED);
  SET low = CAST(CONV(SUBSTR(text, 14), 36, 10) AS UNSIGNED);
  SET high = high * 282429536481 + (middle >> 24);
  SET middle = (middle & 16777215) * 282429536481 + (low >> 24);
  SET low = (middle & 16777215) << 24 | (low & 16777215);
  SET middle = (high & 16777215) * 282429536481 + (middle >> 24);
  SET high = (high >> 24) * 282429536481 + (middle >> 24);
  IF high >= 72057594037927936 THEN -- 2^56
    CALL sortid_reject('scru128', text, 'larger than f5lxx1zz5pnorynqglhzmsp33, the largest ID');
  END IF;
  RETURN UNHEX(CONCAT(LPAD(HEX(high), 14, '0'), LPAD(HEX(middle & 16777215), 6, '0'),
    LPAD(HEX(low), 12, '0')));
END //

DROP FUNCTION IF EXISTS scru128_time //
CREATE FUNCTION scru128_time(id VARBINARY(255)) RETURNS DATETIME(3) DETERMINISTIC NO SQL
COMMENT 'The time of a SCRU128 ID, exact to a millisecond; NULL after the year 9999.'
RETURN sortid_time(sortid_number(SUBSTR(id, 1, 6))) //

DROP FUNCTION IF EXISTS scru128_first //
CREATE FUNCTION scru128_first(at DATETIME(6)) RETURNS BINARY(16) DETERMINISTIC NO SQL
COMMENT 'The smallest SCRU128 ID of a time''s millisecond. The IDs from time a to before time b:
id >= scru128_first(a) AND id < scru128_first(b).'
RETURN UNHEX(RPAD(LPAD(HEX(sortid_ms(at)), 12, '0'), 32, '0')) //

DROP FUNCTION IF EXISTS scru128_new //
CREATE FUNCTION scru128_new(at DATETIME(6)) RETURNS BINARY(16) NOT DETERMINISTIC NO SQL
COMMENT 'A new SCRU128 ID with a given time and 80 random bits, for example for an old row. IDs of
one millisecond are in no order.'
RETURN UNHEX(CONCAT(LPAD(HEX(sortid_new_ms('scru128', at, 281474976710654)), 12, '0'),
  HEX(RANDOM_BYTES(10)))) //

DELIMITER ;
