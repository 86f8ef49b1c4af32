-- euid: stored as uuid. Every uuid is an ID, and both sort in the same order.

CREATE OR REPLACE FUNCTION sortid.euid_check(hex text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (('x' || left(hex, 4))::bit(16)::bigint + ('x' || substr(hex, 5, 14))::bit(56)::bigint
  + ('x' || right(hex, 14))::bit(56)::bigint) % 127;
COMMENT ON FUNCTION sortid.euid_check(text) IS
'The check value of the EUID with these 32 hexadecimal digits: the ID modulo 127. '
'2^56 divided by 127 leaves 1, so the sum of blocks of 56 bits has the same remainder.';

CREATE OR REPLACE FUNCTION sortid.uuid_hex(id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN translate(id::text, '-', '');
COMMENT ON FUNCTION sortid.uuid_hex(uuid) IS
'The 32 hexadecimal digits of a UUID.';

CREATE OR REPLACE FUNCTION sortid.hex_high(hex text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('x' || left(hex, 16))::bit(64)::bigint;
COMMENT ON FUNCTION sortid.hex_high(text) IS
'The number of the first 16 hexadecimal digits.';

CREATE OR REPLACE FUNCTION sortid.hex_low(hex text) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ('x' || right(hex, 16))::bit(64)::bigint;
COMMENT ON FUNCTION sortid.hex_low(text) IS
'The number of the last 16 hexadecimal digits.';

CREATE OR REPLACE FUNCTION sortid.euid_symbols(high bigint, low bigint, checksum bigint)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(encode(
     sortid.crockford_pair(high >> 59 & 31)
  || sortid.crockford_pair(high >> 49) || sortid.crockford_pair(high >> 39)
  || sortid.crockford_pair(high >> 29) || sortid.crockford_pair(high >> 19)
  || sortid.crockford_pair(high >> 9) || sortid.crockford_pair(high << 1 | (low >> 63 & 1))
  || sortid.crockford_pair(low >> 53) || sortid.crockford_pair(low >> 43)
  || sortid.crockford_pair(low >> 33) || sortid.crockford_pair(low >> 23)
  || sortid.crockford_pair(low >> 13) || sortid.crockford_pair(low >> 3)
  || sortid.crockford_pair((low << 7) | checksum), 'escape'), 2);
COMMENT ON FUNCTION sortid.euid_symbols(bigint, bigint, bigint) IS
'The 27 symbols of an ID in two parts of 64 bits, and its check value.';

CREATE OR REPLACE FUNCTION sortid.euid_text(id uuid) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  hex  pg_catalog.text := sortid.uuid_hex(id);
  high bigint := sortid.hex_high(hex);
  low  bigint := sortid.hex_low(hex);
BEGIN
  RETURN sortid.euid_symbols(high, low, sortid.euid_check(hex));
END
$$;
COMMENT ON FUNCTION sortid.euid_text(uuid) IS
'The text of an EUID: 27 symbols of Crockford''s Base32 in upper case, with a check value.';

CREATE OR REPLACE FUNCTION sortid.crockford_tail(symbols bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (sortid.crockford_value(symbols, 24) << 10)
  | (sortid.crockford_value(symbols, 25) << 5) | sortid.crockford_value(symbols, 26);
COMMENT ON FUNCTION sortid.crockford_tail(bytea) IS
'The 15 bits of the last three of 27 symbols.';

CREATE OR REPLACE FUNCTION sortid.euid_hex(symbols bytea, middle bigint, tail bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN lpad(to_hex(
      (sortid.crockford_four(symbols, 0) << 44) | (sortid.crockford_four(symbols, 4) << 24)
    | (sortid.crockford_four(symbols, 8) << 4) | (middle >> 16)), 16, '0')
  || lpad(to_hex(
      (middle << 48) | (sortid.crockford_four(symbols, 16) << 28)
    | (sortid.crockford_four(symbols, 20) << 8) | (tail >> 7)), 16, '0');
COMMENT ON FUNCTION sortid.euid_hex(bytea, bigint, bigint) IS
'The 32 hexadecimal digits of 27 symbols. '
'Callers pass the bits of the symbols 12 to 15 and of the last three.';

CREATE OR REPLACE FUNCTION sortid.euid_fits(hex text, tail bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.euid_check(hex) = tail & 127;
COMMENT ON FUNCTION sortid.euid_fits(text, bigint) IS
'Whether the check value of an ID is in the low seven bits of a number.';

CREATE OR REPLACE FUNCTION sortid.euid_parse(text text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  symbols pg_catalog.bytea;
  middle  bigint;
  tail    bigint;
  hex     pg_catalog.text;
BEGIN
  IF sortid.has_length(text, 36) THEN
    RETURN sortid.uuid_parse('euid', text);
  ELSIF NOT sortid.has_length(text, 27) THEN
    PERFORM sortid.reject_length('euid', text, '27, or 36 of a UUID');
  ELSIF sortid.matches(text, '[^0-9A-TV-Za-tv-z]') THEN
    PERFORM sortid.reject_symbol('euid', text, '0-9A-TV-Za-tv-z',
      'a symbol of Crockford''s Base32');
  END IF;
  symbols := text::pg_catalog.bytea;
  middle := sortid.crockford_four(symbols, 12);
  tail := sortid.crockford_tail(symbols);
  hex := sortid.euid_hex(symbols, middle, tail);
  IF NOT sortid.euid_fits(hex, tail) THEN
    PERFORM sortid.reject('euid', text, 'the check value does not fit: the text is mistyped');
  END IF;
  RETURN hex::pg_catalog.uuid;
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

DO $$
BEGIN
  CREATE DOMAIN sortid.euid_ms AS bigint
    CONSTRAINT a_generated_euid_carries_a_time_from_1970_to_2109
    CHECK (VALUE BETWEEN 1 AND 4398046511103);
EXCEPTION WHEN duplicate_object THEN NULL;
END
$$;
COMMENT ON DOMAIN sortid.euid_ms IS
'The time of a new EUID, in milliseconds since 1970.';

-- 15 random bits, then zeros: four bits for the extension's length, and three for the version. Then
-- 64 random bits. Some bits of a UUID's bytes 7 and 9 are constant.
CREATE OR REPLACE FUNCTION sortid.euid_at(ms sortid.euid_ms) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN encode(
  int8send(ms << 22 | (('x' || left(gen_random_uuid()::text, 4))::bit(16)::bigint >> 1 << 7))
  || overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 5 FOR 8), 'hex')::uuid;
COMMENT ON FUNCTION sortid.euid_at(sortid.euid_ms) IS
'A new EUID without an extension, with a Unix time in milliseconds and 79 random bits.';

CREATE OR REPLACE FUNCTION sortid.euid_new() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN sortid.euid_at(sortid.clock_ms()::sortid.euid_ms);
COMMENT ON FUNCTION sortid.euid_new() IS
'A new EUID without an extension: the time and 79 random bits. IDs are in order '
'of their milliseconds, but not within a millisecond. It works in read-only transactions, too.';

CREATE OR REPLACE FUNCTION sortid.euid_new("time" timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN sortid.euid_at(sortid.time_ms("time")::sortid.euid_ms);
COMMENT ON FUNCTION sortid.euid_new(timestamptz) IS
'A new EUID with a given time and 79 random bits, for example for an old row. '
'IDs are in order of their milliseconds, but not within a millisecond.';
