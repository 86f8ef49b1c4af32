-- scru160: stored as bytea, or as the domain scru160, which checks the length.

DO $$
BEGIN
  CREATE DOMAIN sortid.scru160 AS bytea CHECK (octet_length(VALUE) = 20);
EXCEPTION WHEN duplicate_object THEN NULL;
END
$$;
COMMENT ON DOMAIN sortid.scru160 IS 'A SCRU160 ID: its 20 bytes.';

CREATE OR REPLACE FUNCTION sortid.scru160_reject(id bytea) RETURNS void
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.reject('scru160', id::text,
  'wrong length of the binary form: ' || octet_length(id) || ' bytes, want 20');
COMMENT ON FUNCTION sortid.scru160_reject(bytea) IS
'Raises 22P02 for a bytea that does not have 20 bytes.';

CREATE OR REPLACE FUNCTION sortid.scru160_symbols(hex text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.base32hex_text(('x' || left(hex, 10))::bit(40)::bigint)
  || sortid.base32hex_text(('x' || substr(hex, 11, 10))::bit(40)::bigint)
  || sortid.base32hex_text(('x' || substr(hex, 21, 10))::bit(40)::bigint)
  || sortid.base32hex_text(('x' || substr(hex, 31))::bit(40)::bigint);
COMMENT ON FUNCTION sortid.scru160_symbols(text) IS
'The 32 base32hex symbols of 40 hexadecimal digits.';

CREATE OR REPLACE FUNCTION sortid.scru160_text(id bytea) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  hex pg_catalog.text := pg_catalog.encode(id, 'hex');
BEGIN
  IF NOT sortid.has_length(hex, 40) THEN
    PERFORM sortid.scru160_reject(id);
  END IF;
  RETURN sortid.scru160_symbols(hex);
END
$$;
COMMENT ON FUNCTION sortid.scru160_text(bytea) IS
'The text of a SCRU160 ID: 32 base32hex symbols in upper case. The other text, of 40 '
'hexadecimal digits, is encode(id, ''hex''). Raises 22P02 for a bytea that does not have 20 bytes.';

CREATE OR REPLACE FUNCTION sortid.scru160_bytes(symbols bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN decode(sortid.base32hex_hex(symbols, 0) || sortid.base32hex_hex(symbols, 8)
  || sortid.base32hex_hex(symbols, 16) || sortid.base32hex_hex(symbols, 24), 'hex');
COMMENT ON FUNCTION sortid.scru160_bytes(bytea) IS
'The 20 bytes of 32 base32hex symbols. All bytes must be such symbols.';

CREATE OR REPLACE FUNCTION sortid.scru160_parse(text text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  symbols pg_catalog.bytea;
BEGIN
  IF sortid.has_length(text, 40) THEN
    IF sortid.matches(text, '[^0-9A-Fa-f]') THEN
      PERFORM sortid.reject_symbol('scru160', text, '0-9A-Fa-f', 'a hexadecimal digit');
    END IF;
    RETURN pg_catalog.decode(text, 'hex');
  ELSIF NOT sortid.has_length(text, 32) THEN
    PERFORM sortid.reject_length('scru160', text, '32 or 40');
  ELSIF sortid.matches(text, '[^0-9A-Va-v]') THEN
    PERFORM sortid.reject_symbol('scru160', text, '0-9A-Va-v', 'a base32hex symbol');
  END IF;
  symbols := text::pg_catalog.bytea;
  RETURN sortid.scru160_bytes(symbols);
END
$$;
COMMENT ON FUNCTION sortid.scru160_parse(text) IS
'The SCRU160 ID of a text of 32 base32hex symbols or 40 hexadecimal digits, in either case. '
'Raises 22P02 for any other text.';

CREATE OR REPLACE FUNCTION sortid.typed_text(prefix text, id bytea) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.typed_text(prefix, sortid.scru160_text(id));
COMMENT ON FUNCTION sortid.typed_text(text, bytea) IS
'The text of a SCRU160 ID with its prefix, as in typed_text(''user'', id). '
'Its parser is scru160_parse(typed_parse(''user'', text)).';

CREATE OR REPLACE FUNCTION sortid.scru160_time(id bytea) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '1970-01-01'
  + ('x' || encode(substr(id, 1, 4), 'hex'))::bit(32)::bigint * interval '65.536 s'
  + ('x' || encode(substr(id, 5, 2), 'hex'))::bit(16)::int * interval '1 ms'
) AT TIME ZONE 'UTC';
COMMENT ON FUNCTION sortid.scru160_time(bytea) IS
'The time of a SCRU160 ID, exact to a millisecond. To find the IDs of a time range, '
'compare the ID with scru160_first: PostgreSQL can use an index on the ID for that.';

CREATE OR REPLACE FUNCTION sortid.scru160_first("time" timestamptz) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN decode(rpad(
  lpad(to_hex(
    floor(extract(epoch from
      timestamptz_smaller(timestamptz '10889-08-02 05:31:50.655+00',
        timestamptz_larger(timestamptz '1970-01-01 00:00:00+00', "time"))
      AT TIME ZONE 'UTC') * 1000)::bigint), 12, '0'),
  40, substr('0f', 1 + ("time" >= timestamptz '10889-08-02 05:31:50.656+00')::int, 1)), 'hex');
COMMENT ON FUNCTION sortid.scru160_first(timestamptz) IS
'The smallest SCRU160 ID of a time''s millisecond. '
'The IDs from time a to before time b: id >= scru160_first(a) AND id < scru160_first(b). '
'Before 1970, it is the smallest ID. After the last timestamp, it is the largest ID.';

CREATE OR REPLACE FUNCTION sortid.scru160_partman_time(id text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.scru160_time(id::bytea);
COMMENT ON FUNCTION sortid.scru160_partman_time(text) IS
'The time decoder for pg_partman; the encoder is scru160_first.';

-- Some bits of a UUID's bytes 7 and 9 are constant. Generators in programs start each millisecond's
-- counter with a 0 as its highest bit. So this bit is 0 here, too.
CREATE OR REPLACE FUNCTION sortid.scru160_fill(ms bigint, random uuid) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN substr(int8send(ms), 3)
  || set_byte(substr(uuid_send(random), 1, 6), 0, get_byte(uuid_send(random), 0) & 127)
  || substr(uuid_send(random), 8, 1) || substr(uuid_send(random), 10);
COMMENT ON FUNCTION sortid.scru160_fill(bigint, uuid) IS
'The SCRU160 ID with a Unix time in milliseconds and the random bits of a UUID.';

CREATE OR REPLACE FUNCTION sortid.scru160_at(ms bigint) RETURNS bytea
LANGUAGE plpgsql VOLATILE STRICT PARALLEL SAFE
AS $$
DECLARE
  checked sortid.generated_ms := ms;
  random  pg_catalog.uuid := pg_catalog.gen_random_uuid();
BEGIN
  RETURN sortid.scru160_fill(checked, random);
END
$$;
COMMENT ON FUNCTION sortid.scru160_at(bigint) IS
'A new SCRU160 ID with a Unix time in milliseconds and 111 random bits.';

CREATE OR REPLACE FUNCTION sortid.scru160_new() RETURNS bytea
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN sortid.scru160_at(sortid.clock_ms());
COMMENT ON FUNCTION sortid.scru160_new() IS
'A new SCRU160 ID: the time and 111 random bits. IDs are in order of their milliseconds, '
'but not within a millisecond. It works in read-only transactions, too.';

CREATE OR REPLACE FUNCTION sortid.scru160_new("time" timestamptz) RETURNS bytea
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
RETURN sortid.scru160_at(sortid.time_ms("time"));
COMMENT ON FUNCTION sortid.scru160_new(timestamptz) IS
'A new SCRU160 ID with a given time and 111 random bits, for example for an old row. '
'IDs are in order of their milliseconds, but not within a millisecond.';
