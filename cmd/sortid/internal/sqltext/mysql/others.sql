-- IDs of other projects. The functions return NULL for a value that is not an ID of the format.
-- F_time reads the text, the 16 bytes of a UUID, or a UUID's text.

DELIMITER //

DROP FUNCTION IF EXISTS sortid_digits_value //
CREATE FUNCTION sortid_digits_value(digits VARBINARY(255), symbols VARBINARY(255))
RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
COMMENT 'The number of some digits. The base is the number of symbols.'
BEGIN
  DECLARE n BIGINT UNSIGNED DEFAULT 0;
  DECLARE i INT DEFAULT 1;
  WHILE i <= LENGTH(digits) DO
    SET n = n * LENGTH(symbols) + LOCATE(SUBSTR(digits, i, 1), symbols) - 1, i = i + 1;
  END WHILE;
  RETURN n;
END //

DROP FUNCTION IF EXISTS sortid_digits_text //
CREATE FUNCTION sortid_digits_text(n BIGINT UNSIGNED, count INT, symbols VARBINARY(255))
RETURNS VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin DETERMINISTIC NO SQL
COMMENT 'The digits of a number, at a fixed length. The base is the number of symbols.'
BEGIN
  DECLARE digits VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin DEFAULT '';
  WHILE LENGTH(digits) < count DO
    SET digits = CONCAT(SUBSTR(symbols, n MOD LENGTH(symbols) + 1, 1), digits),
      n = n DIV LENGTH(symbols);
  END WHILE;
  RETURN digits;
END //

DROP FUNCTION IF EXISTS sortid_hex //
CREATE FUNCTION sortid_hex(id VARBINARY(255)) RETURNS CHAR(32) CHARACTER SET ascii
DETERMINISTIC NO SQL
COMMENT 'The hexadecimal digits of the 16 bytes of a UUID, or of its text; otherwise NULL.'
RETURN CASE
  WHEN LENGTH(id) = 16 THEN HEX(id)
  WHEN LENGTH(id) = 36 AND id REGEXP '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$'
    THEN REPLACE(id, '-', '')
  END //

DROP FUNCTION IF EXISTS sortid_unix_us //
CREATE FUNCTION sortid_unix_us(at DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
COMMENT 'The Unix time of a DATETIME, in microseconds.'
RETURN TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', at) //

DROP FUNCTION IF EXISTS sortid_time_at //
CREATE FUNCTION sortid_time_at(epoch DATETIME(6), us BIGINT) RETURNS DATETIME(6)
DETERMINISTIC NO SQL
COMMENT 'The time so many microseconds after an epoch; NULL after the year 9999.'
RETURN IF(us DIV 1000000 > TIMESTAMPDIFF(SECOND, epoch, TIMESTAMP'9999-12-31 23:59:59'), NULL,
  epoch + INTERVAL us DIV 1000000 SECOND + INTERVAL us MOD 1000000 MICROSECOND) //

DELIMITER ;
