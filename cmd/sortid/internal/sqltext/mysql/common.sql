DELIMITER //

DROP PROCEDURE IF EXISTS sortid_reject //
CREATE PROCEDURE sortid_reject(format VARCHAR(10), input VARCHAR(255), reason VARCHAR(255))
NO SQL
COMMENT 'Raises 22018 for an input that is not an ID.'
BEGIN
  -- MESSAGE_TEXT has at most 128 characters.
  DECLARE message VARCHAR(128) DEFAULT LEFT(CONCAT(
    format, ': cannot parse "', REPLACE(LEFT(input, 32), CHAR(0), '?'), '": ', reason), 128);
  SIGNAL SQLSTATE '22018' SET MESSAGE_TEXT = message;
END //

DROP PROCEDURE IF EXISTS sortid_check_text //
CREATE PROCEDURE sortid_check_text(
  format VARCHAR(10), input VARCHAR(255), shortest INT, longest INT, symbols VARCHAR(255))
NO SQL
COMMENT 'Raises 22018 for a text with a wrong length or wrong characters.'
BEGIN
  IF LENGTH(input) NOT BETWEEN shortest AND longest THEN
    CALL sortid_reject(format, input, CONCAT('wrong length: ', LENGTH(input), ' bytes'));
  ELSEIF CAST(input AS BINARY) REGEXP CONCAT('[^', symbols, ']') THEN
    CALL sortid_reject(format, input, CONCAT('a character is none of ', symbols));
  END IF;
END //

DROP FUNCTION IF EXISTS sortid_uuid //
CREATE FUNCTION sortid_uuid(format VARCHAR(10), text VARCHAR(255)) RETURNS BINARY(16)
DETERMINISTIC NO SQL
COMMENT 'The ID of a UUID text. Raises 22018 for any other text.'
BEGIN
  IF CAST(text AS BINARY) NOT REGEXP '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$' THEN
    CALL sortid_reject(format, text, 'wrong length for an ID, and not a UUID');
  END IF;
  RETURN UNHEX(REPLACE(text, '-', ''));
END //

DROP FUNCTION IF EXISTS sortid_ms //
CREATE FUNCTION sortid_ms(at DATETIME(6)) RETURNS BIGINT DETERMINISTIC NO SQL
COMMENT 'The Unix time of a DATETIME, in milliseconds, or 0 before 1970.'
RETURN GREATEST(0, TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', at) DIV 1000) //

DROP FUNCTION IF EXISTS sortid_time //
CREATE FUNCTION sortid_time(ms BIGINT) RETURNS DATETIME(3) DETERMINISTIC NO SQL
COMMENT 'The DATETIME of a Unix time in milliseconds; NULL after the year 9999.'
RETURN IF(ms > 253402300799999, NULL,
  TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ms DIV 1000 SECOND
    + INTERVAL ms MOD 1000 * 1000 MICROSECOND) //

DROP FUNCTION IF EXISTS sortid_new_ms //
CREATE FUNCTION sortid_new_ms(format VARCHAR(10), at DATETIME(6), last BIGINT) RETURNS BIGINT
DETERMINISTIC NO SQL
COMMENT 'The Unix time of a new ID, in milliseconds. Raises 22008 for a time that it cannot carry.'
BEGIN
  DECLARE message VARCHAR(128) DEFAULT CONCAT(format, ': no new ID can carry the time ', at);
  IF sortid_ms(at) NOT BETWEEN 1 AND last THEN
    SIGNAL SQLSTATE '22008' SET MESSAGE_TEXT = message;
  END IF;
  RETURN sortid_ms(at);
END //

DROP PROCEDURE IF EXISTS sortid_reject_time //
CREATE PROCEDURE sortid_reject_time(format VARCHAR(10))
NO SQL
COMMENT 'Raises 0A000, because a format has no new ID at a given time.'
BEGIN
  DECLARE message VARCHAR(128) DEFAULT CONCAT(format,
    ': no new ID at a given time, because nobody knows which counters of an earlier time are free');
  SIGNAL SQLSTATE '0A000' SET MESSAGE_TEXT = message;
END //

DROP FUNCTION IF EXISTS sortid_number //
CREATE FUNCTION sortid_number(bytes VARBINARY(8)) RETURNS BIGINT UNSIGNED DETERMINISTIC NO SQL
COMMENT 'The number in at most eight bytes, the highest byte first.'
RETURN CAST(CONV(HEX(bytes), 16, 10) AS UNSIGNED) //

DELIMITER ;
