-- uid60: stored as bigint, or as the domain uid60, which checks the range. The texts do not sort by
-- time. There is no generator. It would have to count the 512 IDs of a millisecond over all
-- sessions, so each call would wait for a lock.

DO $$
BEGIN
  CREATE DOMAIN sortid.uid60 AS bigint CHECK (VALUE BETWEEN 0 AND 1152921504606846975);
EXCEPTION WHEN duplicate_object THEN NULL;
END
$$;
COMMENT ON DOMAIN sortid.uid60 IS 'A uid60: its integer, from 0 to 2^60 - 1.';

CREATE OR REPLACE FUNCTION sortid.is_uid60(id bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN id BETWEEN 0 AND 1152921504606846975;
COMMENT ON FUNCTION sortid.is_uid60(bigint) IS
'Whether an integer is a uid60.';

-- Nine bytes are twelve Base64 digits.
CREATE OR REPLACE FUNCTION sortid.base64_text(id bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ltrim(
  translate(encode('\x00'::bytea || int8send(id), 'base64'), '+/', '-_'), 'A');
COMMENT ON FUNCTION sortid.base64_text(bigint) IS
'The Base64 digits of a number, without leading zeros (A).';

CREATE OR REPLACE FUNCTION sortid.uid60_join(digits text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN right(lpad(digits, greatest(length(digits), 4), 'A'), 2)
  || left(lpad(digits, greatest(length(digits), 4), 'A'), -2);
COMMENT ON FUNCTION sortid.uid60_join(text) IS
'The text of a uid60: at least four digits, the last two of them first.';

CREATE OR REPLACE FUNCTION sortid.uid60_text(id bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  digits pg_catalog.text;
BEGIN
  IF NOT sortid.is_uid60(id) THEN
    PERFORM sortid.reject('uid60', id::pg_catalog.text,
      'not from 0 to 1152921504606846975, the largest ID', '22003');
  END IF;
  digits := sortid.base64_text(id);
  RETURN sortid.uid60_join(digits);
END
$$;
COMMENT ON FUNCTION sortid.uid60_text(bigint) IS
'The text of a uid60: 4 to 10 characters of 0-9A-Za-z_-. '
'Texts do not sort by time. Raises 22003 for an integer that is not an ID.';

CREATE OR REPLACE FUNCTION sortid.is_uid60_length(text text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN octet_length(text) BETWEEN 4 AND 10;
COMMENT ON FUNCTION sortid.is_uid60_length(text) IS
'Whether a text has the length of a uid60.';

CREATE OR REPLACE FUNCTION sortid.uid60_number(text text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('x' || right(encode(decode(
    lpad(translate(substr(text, 3) || left(text, 2), '-_', '+/'), 12, 'A'),
  'base64'), 'hex'), 16))::bit(64)::bigint;
COMMENT ON FUNCTION sortid.uid60_number(text) IS
'The uid60 of a text. All characters must be valid.';

CREATE OR REPLACE FUNCTION sortid.uid60_parse(text text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF NOT sortid.is_uid60_length(text) THEN
    PERFORM sortid.reject_length('uid60', text, '4 to 10');
  ELSIF sortid.matches(text, '[^0-9A-Za-z_-]') THEN
    PERFORM sortid.reject_symbol('uid60', text, '0-9A-Za-z_-', 'one of A-Z, a-z, 0-9, - and _');
  END IF;
  RETURN sortid.uid60_number(text);
END
$$;
COMMENT ON FUNCTION sortid.uid60_parse(text) IS
'The uid60 of a text of 4 to 10 characters. Case matters. Raises 22P02 for any other text.';

CREATE OR REPLACE FUNCTION sortid.uid60_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '2018-03-01' + (id >> 18) * interval '1 ms') AT TIME ZONE 'UTC';
COMMENT ON FUNCTION sortid.uid60_time(bigint) IS
'The time of a uid60, exact to a millisecond. To find the IDs of a time range, '
'compare the ID with uid60_first: PostgreSQL can use an index on the ID for that.';

CREATE OR REPLACE FUNCTION sortid.uid60_first("time" timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN int8smaller(1152921504606846975,
  (floor(extract(epoch from
    timestamptz_smaller(timestamptz '2157-07-13 15:35:11.104+00',
      timestamptz_larger(timestamptz '2018-03-01 00:00:00+00', "time"))
    AT TIME ZONE 'UTC') * 1000)::bigint - 1519862400000) << 18);
COMMENT ON FUNCTION sortid.uid60_first(timestamptz) IS
'The smallest uid60 of a time''s millisecond. '
'The IDs from time a to before time b: id >= uid60_first(a) AND id < uid60_first(b). '
'Before 2018-03-01, it is 0. After the last timestamp, it is the largest ID.';

CREATE OR REPLACE FUNCTION sortid.uid60_partman_time(id text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.uid60_time(id::bigint);
COMMENT ON FUNCTION sortid.uid60_partman_time(text) IS
'The time decoder for pg_partman; the encoder is uid60_first.';

CREATE OR REPLACE FUNCTION sortid.uid60_new("time" timestamptz) RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN sortid.reject_time('uid60', 'For old rows, number the rows of each millisecond: '
  'uid60_first(t) + 512 * (row_number() OVER (PARTITION BY uid60_first(t)) - 1).');
COMMENT ON FUNCTION sortid.uid60_new(timestamptz) IS
'Raises 0A000: there is no new uid60 at a given time. The hint says how to number old rows.';
