-- scru128: stored as uuid. Every uuid is an ID, and both sort in the same order.

CREATE OR REPLACE FUNCTION sortid.bytes3(bytes bytea, i int) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (get_byte(bytes, i) << 16) | (get_byte(bytes, i + 1) << 8) | get_byte(bytes, i + 2);
COMMENT ON FUNCTION sortid.bytes3(bytea, int) IS
'The number of the three bytes from an offset on.';

CREATE OR REPLACE FUNCTION sortid.bytes7(bytes bytea) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (sortid.bytes3(bytes, 0) << 32) | (get_byte(bytes, 3)::bigint << 24)
  | sortid.bytes3(bytes, 4);
COMMENT ON FUNCTION sortid.bytes7(bytea) IS
'The number of the first seven bytes.';

CREATE OR REPLACE FUNCTION sortid.scru128_remainder(dividend bigint, low bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (dividend % 282429536481 << 24) | low;
COMMENT ON FUNCTION sortid.scru128_remainder(bigint, bigint) IS
'The remainder by 3^24, with 24 more bits.';

CREATE OR REPLACE FUNCTION sortid.scru128_quotient(high bigint, low bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (high / 282429536481 << 24) | (low / 282429536481);
COMMENT ON FUNCTION sortid.scru128_quotient(bigint, bigint) IS
'The quotients of two numbers by 3^24: the second one has 24 bits.';

CREATE OR REPLACE FUNCTION sortid.scru128_middle(top bigint, third bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (top % 282429536481 << 24) | (third / 282429536481);
COMMENT ON FUNCTION sortid.scru128_middle(bigint, bigint) IS
'The remainder of a number by 3^24, and the quotient of another one, which has 24 bits.';

CREATE OR REPLACE FUNCTION sortid.scru128_digits(top bigint, middle bigint, low bigint)
RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN to_hex(top / 282429536481) || sortid.base36_text(middle) || sortid.base36_text(low);
COMMENT ON FUNCTION sortid.scru128_digits(bigint, bigint, bigint) IS
'The 25 digits of an ID, from three parts of one, twelve and twelve digits.';

CREATE OR REPLACE FUNCTION sortid.scru128_text(id uuid) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  -- Two divisions by 36^12 = 2^24 * 3^24 give the digits. Each division cuts off the low 24 bits,
  -- divides by 3^24, and appends the 24 bits to the remainder. The result has at most 63 bits, so
  -- it fits a bigint.
  bytes  pg_catalog.bytea := pg_catalog.uuid_send(id);
  first  bigint := sortid.bytes7(bytes);
  second bigint := sortid.scru128_remainder(first, sortid.bytes3(bytes, 7));
  third  bigint := sortid.scru128_remainder(second, sortid.bytes3(bytes, 10));
  top    bigint := sortid.scru128_quotient(first, second);
  middle bigint := sortid.scru128_middle(top, third);
  low    bigint := sortid.scru128_remainder(third, sortid.bytes3(bytes, 13));
BEGIN
  RETURN sortid.scru128_digits(top, middle, low);
END
$$;
COMMENT ON FUNCTION sortid.scru128_text(uuid) IS
'The text of a SCRU128 ID: 25 Base36 digits in lower case.';

CREATE OR REPLACE FUNCTION sortid.scru128_carry(n bigint, lower bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (n & 16777215) * 282429536481 + (lower >> 24);
COMMENT ON FUNCTION sortid.scru128_carry(bigint, bigint) IS
'The low 24 bits of a number times 3^24, and the bits that a lower number carries.';

CREATE OR REPLACE FUNCTION sortid.scru128_top(high bigint, middle bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (high >> 24) * 282429536481 + (middle >> 24);
COMMENT ON FUNCTION sortid.scru128_top(bigint, bigint) IS
'The highest bits of an ID: the bits above the low 24 times 3^24, and what is carried.';

CREATE OR REPLACE FUNCTION sortid.scru128_fits(top bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN top < 72057594037927936 /* 2^56 */;
COMMENT ON FUNCTION sortid.scru128_fits(bigint) IS
'Whether an ID with these highest bits has at most 128 bits.';

CREATE OR REPLACE FUNCTION sortid.scru128_join(top bigint, high bigint, middle bigint, low bigint)
RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (lpad(to_hex(top), 14, '0') || lpad(to_hex(high & 16777215), 6, '0')
  || lpad(to_hex((middle & 16777215) << 24 | (low & 16777215)), 12, '0'))::uuid;
COMMENT ON FUNCTION sortid.scru128_join(bigint, bigint, bigint, bigint) IS
'The ID of its highest bits, and three times 24 bits.';

CREATE OR REPLACE FUNCTION sortid.scru128_parse(text text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  digits pg_catalog.bytea;
  top    bigint;
  high   bigint;
  middle bigint;
  low    bigint;
BEGIN
  IF sortid.has_length(text, 36) THEN
    RETURN sortid.uuid_parse('scru128', text);
  ELSIF NOT sortid.has_length(text, 25) THEN
    PERFORM sortid.reject_length('scru128', text, '25, or 36 of a UUID');
  ELSIF sortid.matches(text, '[^0-9A-Za-z]') THEN
    PERFORM sortid.reject_symbol('scru128', text, '0-9A-Za-z', 'a Base36 digit');
  END IF;
  digits := text::pg_catalog.bytea;
  -- The ID is (first digit * 36^12 + middle) * 36^12 + low, where 36^12 = 2^24 * 3^24. Each step
  -- multiplies by 3^24, keeps 24 bits and carries the higher bits.
  low := sortid.base36_number(digits, 13);
  middle := sortid.base36_number(digits, 1);
  top := sortid.scru128_carry(sortid.base36_value(digits, 0), middle);
  middle := sortid.scru128_carry(middle, low);
  high := sortid.scru128_carry(top, middle);
  top := sortid.scru128_top(top, high);
  IF NOT sortid.scru128_fits(top) THEN
    PERFORM sortid.reject('scru128', text,
      'larger than f5lxx1zz5pnorynqglhzmsp33, the largest ID', '22003');
  END IF;
  RETURN sortid.scru128_join(top, high, middle, low);
END
$$;
COMMENT ON FUNCTION sortid.scru128_parse(text) IS
'The SCRU128 ID of a text of 25 Base36 digits, or of a UUID text, in either case. '
'Raises 22003 for a number above the largest ID, and 22P02 for any other text.';

CREATE OR REPLACE FUNCTION sortid.typed_text(prefix text, id uuid) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.typed_text(prefix, sortid.scru128_text(id));
COMMENT ON FUNCTION sortid.typed_text(text, uuid) IS
'The text of a SCRU128 ID with its prefix, as in typed_text(''user'', id). '
'Its parser is scru128_parse(typed_parse(''user'', text)).';

CREATE OR REPLACE FUNCTION sortid.scru128_time(id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '1970-01-01'
  + ('x' || encode(substr(uuid_send(id), 1, 4), 'hex'))::bit(32)::bigint * interval '65.536 s'
  + ('x' || encode(substr(uuid_send(id), 5, 2), 'hex'))::bit(16)::int * interval '1 ms'
) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION sortid.scru128_time(uuid) IS
'The time of a SCRU128 ID, exact to a millisecond. To find the IDs of a time range, '
'compare the ID with scru128_first: PostgreSQL can use an index on the ID for that.';

CREATE OR REPLACE FUNCTION sortid.scru128_first("time" timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN rpad(
  lpad(to_hex(
    floor(extract(epoch from
      timestamptz_smaller(timestamptz '10889-08-02 05:31:50.655+00',
        timestamptz_larger(timestamptz '1970-01-01 00:00:00+00', "time"))
      AT TIME ZONE 'UTC') * 1000)::bigint), 12, '0'),
  32, substr('0f', 1 + ("time" >= timestamptz '10889-08-02 05:31:50.656+00')::int, 1))::uuid;
COMMENT ON FUNCTION sortid.scru128_first(timestamptz) IS
'The smallest SCRU128 ID of a time''s millisecond. '
'The IDs from time a to before time b: id >= scru128_first(a) AND id < scru128_first(b). '
'Before 1970, it is the smallest ID. After the last timestamp, it is the largest ID.';

CREATE OR REPLACE FUNCTION sortid.scru128_partman_time(id text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.scru128_time(id::uuid);
COMMENT ON FUNCTION sortid.scru128_partman_time(text) IS
'The time decoder for pg_partman; the encoder is scru128_first.';

-- The last six bytes of clock_ms() are the time. The other ten bytes are from a random UUID. It has
-- constant bits in bytes 7 and 9, so the ID does not use the UUID's bytes 4 to 9.
CREATE OR REPLACE FUNCTION sortid.scru128_new() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN encode(substr(int8send(sortid.clock_ms()::sortid.generated_ms), 3)
  || overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 4 FOR 6), 'hex')::uuid;
COMMENT ON FUNCTION sortid.scru128_new() IS
'A new SCRU128 ID: the time and 80 random bits. IDs are in order of their milliseconds, '
'but not within a millisecond. It works in read-only transactions, too.';

CREATE OR REPLACE FUNCTION sortid.scru128_new("time" timestamptz) RETURNS uuid
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
RETURN encode(substr(int8send(sortid.time_ms("time")::sortid.generated_ms), 3)
  || overlay(uuid_send(gen_random_uuid()) PLACING ''::bytea FROM 4 FOR 6), 'hex')::uuid;
COMMENT ON FUNCTION sortid.scru128_new(timestamptz) IS
'A new SCRU128 ID with a given time and 80 random bits, for example for an old row. '
'IDs are in order of their milliseconds, but not within a millisecond. '
'It leaves the state of scru128_new_ordered alone, and works in read-only transactions, too.';

-- The counter starts at a random number, so that it differs between databases.
DO $$
BEGIN
  IF to_regclass('sortid.scru128_counter') IS NULL THEN
    EXECUTE format(
      'CREATE SEQUENCE sortid.scru128_counter'
      ' MINVALUE 0 MAXVALUE 281474976710655 START %s NO CYCLE CACHE 64',
      floor(random() * 140737488355328)::bigint);
  END IF;
END
$$;
COMMENT ON SEQUENCE sortid.scru128_counter IS
'The counters of the IDs that scru128_new_counted makes; each session takes 64 at a time.';
GRANT USAGE ON SEQUENCE sortid.scru128_counter TO PUBLIC;

CREATE OR REPLACE FUNCTION sortid.scru128_new_counted() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN encode(substr(int8send(sortid.clock_ms()::sortid.generated_ms), 3)
  || substr(int8send(nextval('sortid.scru128_counter')), 3)
  || substr(uuid_send(gen_random_uuid()), 1, 4), 'hex')::uuid;
COMMENT ON FUNCTION sortid.scru128_new_counted() IS
'A new SCRU128 ID: the time, a counter and 32 random bits. '
'IDs are in order of the clock, and within a millisecond in order of the session''s counter. '
'If the clock is set back, new IDs are smaller than earlier ones, and there is no error. '
'The counter comes from the sequence scru128_counter, and shows roughly how many IDs were made. '
'It does not work in read-only transactions.';

CREATE SEQUENCE IF NOT EXISTS sortid.scru128_state AS bigint MINVALUE 0 NO CYCLE CACHE 1;
COMMENT ON SEQUENCE sortid.scru128_state IS
'The first 64 bits of the last ID that scru128_new_ordered made: the timestamp and a counter. '
'Never set it back.';
GRANT USAGE ON SEQUENCE sortid.scru128_state TO PUBLIC;

CREATE OR REPLACE FUNCTION sortid.scru128_advance() RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  -- The counter starts at a random number in the lower half of its range, and does not reach the
  -- last quarter.
  RETURN sortid.advance('scru128', 'sortid.scru128_state', 1, 140737488355327, 16, 49152, 32768);
END
$$;
COMMENT ON FUNCTION sortid.scru128_advance() IS
'The part of scru128_new_ordered that begins a new millisecond. '
'Roles need no rights on the sequence for it.';

CREATE OR REPLACE FUNCTION sortid.scru128_is_current(head bigint, ms bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN head >> 16 BETWEEN ms AND ms + 10000 AND head & 65535 < 49152;
COMMENT ON FUNCTION sortid.scru128_is_current(bigint, bigint) IS
'Whether a state of scru128_new_ordered is not before the clock, at most 10 seconds ahead of it, '
'and has a counter that is not used up.';

CREATE OR REPLACE FUNCTION sortid.scru128_fill(head bigint, random uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN encode(int8send(head)
  || overlay(uuid_send(random) PLACING ''::bytea FROM 5 FOR 8), 'hex')::uuid;
COMMENT ON FUNCTION sortid.scru128_fill(bigint, uuid) IS
'The SCRU128 ID with these first 64 bits, and 64 random bits of a UUID.';

CREATE OR REPLACE FUNCTION sortid.scru128_new_ordered() RETURNS uuid
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
AS $$
DECLARE
  ms   bigint := sortid.clock_ms();
  head bigint := pg_catalog.nextval('sortid.scru128_state');
BEGIN
  IF NOT sortid.scru128_is_current(head, ms) THEN
    head := sortid.scru128_advance();
  END IF;
  RETURN sortid.scru128_fill(head, pg_catalog.gen_random_uuid());
END
$$;
COMMENT ON FUNCTION sortid.scru128_new_ordered() IS
'A new SCRU128 ID: the time, a counter of 16 bits with a random start in each millisecond, and 64 '
'random bits. IDs strictly increase over all sessions of this database, whatever the clock does. '
'After a crash of the server, new IDs are larger than all IDs that a COMMIT has saved. '
'There are gaps. Raises 55000 while the clock is more than 10 seconds behind the last ID. '
'It does not work in read-only transactions.';
