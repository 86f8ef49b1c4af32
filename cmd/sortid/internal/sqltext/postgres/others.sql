-- IDs of other projects. The functions return NULL for a value that is not an ID of the format.

CREATE OR REPLACE FUNCTION sortid.digit_after(n bigint, digits text, i int, symbols text)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN n * length(symbols) + strpos(symbols, substr(digits, i, 1)) - 1;
COMMENT ON FUNCTION sortid.digit_after(bigint, text, int, text) IS
'A number with one more digit at its end: the digit at position i.';

CREATE OR REPLACE FUNCTION sortid.digit_before(n bigint, digits text, symbols text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(symbols, (n % length(symbols))::int + 1, 1) || digits;
COMMENT ON FUNCTION sortid.digit_before(bigint, text, text) IS
'The last digit of a number, before other digits.';

CREATE OR REPLACE FUNCTION sortid.without_digit(n bigint, symbols text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN n / length(symbols);
COMMENT ON FUNCTION sortid.without_digit(bigint, text) IS
'A number without its last digit.';

CREATE OR REPLACE FUNCTION sortid.digits_value(digits text, symbols text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  n bigint := 0;
BEGIN
  FOR i IN 1 .. pg_catalog.length(digits) LOOP
    n := sortid.digit_after(n, digits, i, symbols);
  END LOOP;
  RETURN n;
END
$$;
COMMENT ON FUNCTION sortid.digits_value(text, text) IS
'The number of some digits. The base is the number of symbols.';

CREATE OR REPLACE FUNCTION sortid.digits_text(n bigint, count int, symbols text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  digits pg_catalog.text := '';
BEGIN
  FOR i IN 1 .. count LOOP
    digits := sortid.digit_before(n, digits, symbols);
    n := sortid.without_digit(n, symbols);
  END LOOP;
  RETURN digits;
END
$$;
COMMENT ON FUNCTION sortid.digits_text(bigint, int, text) IS
'The digits of a number, at a fixed length. The base is the number of symbols.';

CREATE OR REPLACE FUNCTION sortid.unix_us("time" timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (extract(epoch from "time" AT TIME ZONE 'UTC') * 1000000)::bigint;
COMMENT ON FUNCTION sortid.unix_us(timestamptz) IS
'The Unix time in microseconds.';

CREATE OR REPLACE FUNCTION sortid.time_at(epoch timestamp, us bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (epoch + us / 1000000 * interval '1 s' + us % 1000000 * interval '1 us')
  AT TIME ZONE 'UTC';
COMMENT ON FUNCTION sortid.time_at(timestamp, bigint) IS
'The time so many microseconds after an epoch, both in UTC.';
