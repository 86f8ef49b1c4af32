CREATE SCHEMA IF NOT EXISTS sortid;

-- date_part returns double precision, which is exact to a fraction of a microsecond.
CREATE OR REPLACE FUNCTION sortid.clock_ms() RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN floor(date_part('epoch', clock_timestamp()) * 1000)::bigint;
COMMENT ON FUNCTION sortid.clock_ms() IS
'The server''s clock: Unix time in milliseconds. All generators of this schema use this function.';

DO $$
BEGIN
  CREATE DOMAIN sortid.generated_ms AS bigint
    CONSTRAINT a_generated_id_carries_a_time_from_1970_to_10889
    CHECK (VALUE BETWEEN 1 AND 281474976710654);
EXCEPTION WHEN duplicate_object THEN NULL;
END
$$;
COMMENT ON DOMAIN sortid.generated_ms IS
'The time of a new scru128 or scru160 ID, in milliseconds since 1970. '
'The first and the last number are reserved.';

CREATE OR REPLACE FUNCTION sortid.reject_clock(format text, ms bigint) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  RAISE EXCEPTION '%: the clock shows % ms after 1970, which no ID can carry', format, ms
    USING ERRCODE = 'datetime_field_overflow';
END
$$;
COMMENT ON FUNCTION sortid.reject_clock(text, bigint) IS
'Raises 22008, because the clock of a generator shows a time that no ID can carry.';

CREATE OR REPLACE FUNCTION sortid.reject(format text, input text, reason text, code text = '22P02')
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  RAISE EXCEPTION '%: cannot parse "%": %', format,
    left(input, 64) || CASE WHEN length(input) > 64 THEN '...' ELSE '' END, reason
    USING ERRCODE = code;
END
$$;
COMMENT ON FUNCTION sortid.reject(text, text, text, text) IS
'Raises 22P02, or another given code, for an input that is not an ID.';

CREATE OR REPLACE FUNCTION sortid.reject_length(format text, input text, want text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
  PERFORM sortid.reject(format, input,
    'wrong length: ' || octet_length(input) || ' bytes, want ' || want);
END
$$;
COMMENT ON FUNCTION sortid.reject_length(text, text, text) IS
'Raises 22P02 for a text with a wrong length.';

CREATE OR REPLACE FUNCTION sortid.reject_symbol(format text, input text, symbols text, name text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
  good text := substring(input COLLATE "C" from '^[' || symbols || ']*');
BEGIN
  PERFORM sortid.reject(format, input,
    'not ' || name || ': "' || substr(input, length(good) + 1, 1)
    || '" at offset ' || octet_length(good));
END
$$;
COMMENT ON FUNCTION sortid.reject_symbol(text, text, text, text) IS
'Raises 22P02 for a text with a character that is not one of the symbols.';
