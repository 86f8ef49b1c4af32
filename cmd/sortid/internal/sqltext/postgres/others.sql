-- IDs of other projects. The functions return NULL for a value that is not an ID of the format.

CREATE OR REPLACE FUNCTION sortid.digits_value(digits text, symbols text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  n bigint := 0;
BEGIN
  FOR i IN 1 .. length(digits) LOOP
    n := n * length(symbols) + strpos(symbols, substr(digits, i, 1)) - 1;
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
  digits text := '';
BEGIN
  FOR i IN 1 .. count LOOP
    digits := substr(symbols, (n % length(symbols))::int + 1, 1) || digits;
    n := n / length(symbols);
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
