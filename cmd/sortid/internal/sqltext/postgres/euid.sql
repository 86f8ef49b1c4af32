-- euid: stored as uuid. Every uuid is an ID, and both sort in the same order.

CREATE OR REPLACE FUNCTION sortid.euid_check(hex text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (('x' || left(hex, 4))::bit(16)::bigint + ('x' || substr(hex, 5, 14))::bit(56)::bigint
  + ('x' || right(hex, 14))::bit(56)::bigint) % 127;
COMMENT ON FUNCTION sortid.euid_check(text) IS
'The check value of the EUID with these 32 hexadecimal digits: the ID modulo 127. '
'2^56 divided by 127 leaves 1, so the sum of blocks of 56 bits has the same remainder.';

CREATE OR REPLACE FUNCTION sortid.euid_text(id uuid) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  hex  text := translate(id::text, '-', '');
  high bigint := ('x' || left(hex, 16))::bit(64)::bigint;
  low  bigint := ('x' || right(hex, 16))::bit(64)::bigint;
BEGIN
  RETURN substr(encode(
       sortid.crockford_pair(high >> 59 & 31)
    || sortid.crockford_pair(high >> 49) || sortid.crockford_pair(high >> 39)
    || sortid.crockford_pair(high >> 29) || sortid.crockford_pair(high >> 19)
    || sortid.crockford_pair(high >> 9) || sortid.crockford_pair(high << 1 | (low >> 63 & 1))
    || sortid.crockford_pair(low >> 53) || sortid.crockford_pair(low >> 43)
    || sortid.crockford_pair(low >> 33) || sortid.crockford_pair(low >> 23)
    || sortid.crockford_pair(low >> 13) || sortid.crockford_pair(low >> 3)
    || sortid.crockford_pair((low << 7) | sortid.euid_check(hex)), 'escape'), 2);
END
$$;
COMMENT ON FUNCTION sortid.euid_text(uuid) IS
'The text of an EUID: 27 symbols of Crockford''s Base32 in upper case, with a check value.';

CREATE OR REPLACE FUNCTION sortid.euid_parse(text text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  symbols bytea;
  middle  bigint;
  tail    bigint;
  hex     text;
BEGIN
  IF octet_length(text) = 36 THEN
    RETURN sortid.uuid_parse('euid', text);
  ELSIF octet_length(text) <> 27 THEN
    PERFORM sortid.reject_length('euid', text, '27, or 36 of a UUID');
  ELSIF text COLLATE "C" ~ '[^0-9A-TV-Za-tv-z]' THEN
    PERFORM sortid.reject_symbol('euid', text, '0-9A-TV-Za-tv-z',
      'a symbol of Crockford''s Base32');
  END IF;
  symbols := text::bytea;
  middle := sortid.crockford_four(symbols, 12);
  tail := (sortid.crockford_value(symbols, 24) << 10) | (sortid.crockford_value(symbols, 25) << 5)
    | sortid.crockford_value(symbols, 26);
  hex := lpad(to_hex(
        (sortid.crockford_four(symbols, 0) << 44) | (sortid.crockford_four(symbols, 4) << 24)
      | (sortid.crockford_four(symbols, 8) << 4) | (middle >> 16)), 16, '0')
    || lpad(to_hex(
        (middle << 48) | (sortid.crockford_four(symbols, 16) << 28)
      | (sortid.crockford_four(symbols, 20) << 8) | (tail >> 7)), 16, '0');
  IF sortid.euid_check(hex) <> tail & 127 THEN
    PERFORM sortid.reject('euid', text, 'the check value does not fit: the text is mistyped');
  END IF;
  RETURN hex::uuid;
END
$$;
COMMENT ON FUNCTION sortid.euid_parse(text) IS
'The EUID of a text of 27 symbols of Crockford''s Base32, or of a UUID text, in either case. '
'In the symbols, O counts as 0, and I and L count as 1. Raises 22P02 for any other text, and if the check value does not fit.';

CREATE OR REPLACE FUNCTION sortid.euid_time(id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '1970-01-01'
  + ('x' || encode(substr(uuid_send(id), 1, 4), 'hex'))::bit(32)::bigint * interval '1.024 s'
  + (('x' || encode(substr(uuid_send(id), 5, 2), 'hex'))::bit(16)::int >> 6) * interval '1 ms'
) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION sortid.euid_time(uuid) IS
'The time of an EUID, exact to a millisecond. To find the IDs of a time range, '
'compare the ID with euid_first: PostgreSQL can use an index on the ID for that.';

CREATE OR REPLACE FUNCTION sortid.euid_first("time" timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN rpad(
  lpad(to_hex((
    floor(extract(epoch from
      timestamptz_smaller(timestamptz '2109-05-15 07:35:11.103+00',
        timestamptz_larger(timestamptz '1970-01-01 00:00:00+00', "time"))
      AT TIME ZONE 'UTC') * 1000)::bigint << 22)
    + 4194303 * ("time" >= timestamptz '2109-05-15 07:35:11.104+00')::int), 16, '0'),
  32, substr('0f', 1 + ("time" >= timestamptz '2109-05-15 07:35:11.104+00')::int, 1))::uuid;
COMMENT ON FUNCTION sortid.euid_first(timestamptz) IS
'The smallest EUID of a time''s millisecond. '
'The IDs from time a to before time b: id >= euid_first(a) AND id < euid_first(b). '
'Before 1970, it is the smallest ID. After the last timestamp, it is the largest ID.';

CREATE OR REPLACE FUNCTION sortid.euid_partman_time(id text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.euid_time(id::uuid);
COMMENT ON FUNCTION sortid.euid_partman_time(text) IS
'The time decoder for pg_partman; the encoder is euid_first.';

CREATE OR REPLACE FUNCTION sortid.euid_at(ms bigint) RETURNS uuid
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
AS $$
DECLARE
  random bytea := uuid_send(gen_random_uuid()); -- some bits of bytes 7 and 9 are constant
BEGIN
  IF ms NOT BETWEEN 1 AND 4398046511103 THEN
    PERFORM sortid.reject_clock('euid', ms);
  END IF;
  -- 15 random bits, then zeros: four bits for the extension's length, and three for the version.
  RETURN encode(
    int8send(ms << 22 | ((get_byte(random, 0) << 8 | get_byte(random, 1)) >> 1 << 7)::bigint)
    || substr(random, 3, 1) || substr(random, 10), 'hex')::uuid;
END
$$;
COMMENT ON FUNCTION sortid.euid_at(bigint) IS
'A new EUID without an extension, with a Unix time in milliseconds and 79 random bits.';

CREATE OR REPLACE FUNCTION sortid.euid_new() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN sortid.euid_at(sortid.clock_ms());
COMMENT ON FUNCTION sortid.euid_new() IS
'A new EUID without an extension: the time and 79 random bits. IDs are in order '
'of their milliseconds, but not within a millisecond. It works in read-only transactions, too.';

CREATE OR REPLACE FUNCTION sortid.euid_new("time" timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
RETURN sortid.euid_at(sortid.time_ms("time"));
COMMENT ON FUNCTION sortid.euid_new(timestamptz) IS
'A new EUID with a given time and 79 random bits, for example for an old row. '
'IDs are in order of their milliseconds, but not within a millisecond.';
