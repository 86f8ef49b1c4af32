-- If two clients run this file at once, each in a transaction, one waits for the other.
DO $$ BEGIN PERFORM pg_advisory_xact_lock(1936683636, 0); END $$;

CREATE SCHEMA IF NOT EXISTS sortid;

CREATE OR REPLACE FUNCTION sortid.version() RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN '(devel)';
COMMENT ON FUNCTION sortid.version() IS
'The version of the command sortid that wrote these functions.';

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

CREATE OR REPLACE FUNCTION sortid.time_ms("time" timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN floor(extract(epoch from "time" AT TIME ZONE 'UTC') * 1000)::bigint;
COMMENT ON FUNCTION sortid.time_ms(timestamptz) IS
'The Unix time of a new ID at a given time, in milliseconds.';

CREATE OR REPLACE FUNCTION sortid.reject_time(format text, rule text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION '%: no new ID at a given time, because only counters distinguish IDs of one node '
    'ID, and no session knows which counters of an earlier time are free', format
    USING ERRCODE = 'feature_not_supported', HINT = rule;
END
$$;
COMMENT ON FUNCTION sortid.reject_time(text, text) IS
'Raises 0A000 with a hint, because a format has no new ID at a given time.';

CREATE OR REPLACE FUNCTION sortid.reject_clock(format text, ms bigint) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
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
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION '%: cannot parse "%": %', format,
    left(input, 64) || CASE WHEN length(input) > 64 THEN '...' ELSE '' END, reason
    USING ERRCODE = code;
END
$$;
COMMENT ON FUNCTION sortid.reject(text, text, text, text) IS
'Raises 22P02, or another given code, for an input that is not an ID.';

-- A plpgsql body finds operators, types and functions by the search_path of the session, even in
-- schemas before pg_catalog. So these bodies only call functions by schema and name. A body after
-- RETURN is bound to its operators when it is made, and PostgreSQL copies it into the plan. It would
-- not copy a STRICT function with AND, OR, BETWEEN or greatest.

CREATE OR REPLACE FUNCTION sortid.has_length(text text, bytes int) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN octet_length(text) = bytes;
COMMENT ON FUNCTION sortid.has_length(text, int) IS
'Whether a text has this number of bytes.';

CREATE OR REPLACE FUNCTION sortid.matches(text text, pattern text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN text COLLATE "C" ~ pattern;
COMMENT ON FUNCTION sortid.matches(text, text) IS
'Whether a text matches a regular expression, in any locale.';

CREATE OR REPLACE FUNCTION sortid.uuid_parse(format text, text text) RETURNS uuid
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF NOT sortid.matches(text, '^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$') THEN
    PERFORM sortid.reject(format, text, 'wrong length for an ID, and not a UUID');
  END IF;
  RETURN text::pg_catalog.uuid;
END
$$;
COMMENT ON FUNCTION sortid.uuid_parse(text, text) IS
'The ID of a UUID text, as to_jsonb writes it. Raises 22P02 for any other text.';

CREATE OR REPLACE FUNCTION sortid.reject_length(format text, input text, want text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
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
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
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
