-- scru64: stored as bigint, or as the domain scru64, which checks the range.

DO $$
BEGIN
  CREATE DOMAIN sortid.scru64 AS bigint CHECK (VALUE BETWEEN 0 AND 4738381338321616895);
EXCEPTION WHEN duplicate_object THEN NULL;
END
$$;
COMMENT ON DOMAIN sortid.scru64 IS 'A SCRU64 ID: its integer, from 0 to 36^12 - 1.';

CREATE OR REPLACE FUNCTION sortid.is_scru64(id bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN id BETWEEN 0 AND 4738381338321616895;
COMMENT ON FUNCTION sortid.is_scru64(bigint) IS
'Whether an integer is a SCRU64 ID.';

CREATE OR REPLACE FUNCTION sortid.scru64_text(id bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF NOT sortid.is_scru64(id) THEN
    PERFORM sortid.reject('scru64', id::pg_catalog.text,
      'not from 0 to 4738381338321616895, the largest ID', '22003');
  END IF;
  RETURN sortid.base36_text(id);
END
$$;
COMMENT ON FUNCTION sortid.scru64_text(bigint) IS
'The text of a SCRU64 ID: 12 Base36 digits in lower case. '
'Raises 22003 for an integer that is not an ID.';

CREATE OR REPLACE FUNCTION sortid.scru64_parse(text text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
DECLARE
  digits pg_catalog.bytea;
BEGIN
  IF NOT sortid.has_length(text, 12) THEN
    PERFORM sortid.reject_length('scru64', text, '12');
  ELSIF sortid.matches(text, '[^0-9A-Za-z]') THEN
    PERFORM sortid.reject_symbol('scru64', text, '0-9A-Za-z', 'a Base36 digit');
  END IF;
  digits := text::pg_catalog.bytea;
  RETURN sortid.base36_number(digits, 0);
END
$$;
COMMENT ON FUNCTION sortid.scru64_parse(text) IS
'The SCRU64 ID of a text of 12 Base36 digits, in either case. Raises 22P02 for any other text.';

CREATE OR REPLACE FUNCTION sortid.typed_text(prefix text, id bigint) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.typed_text(prefix, sortid.scru64_text(id));
COMMENT ON FUNCTION sortid.typed_text(text, bigint) IS
'The text of a SCRU64 ID with its prefix, as in typed_text(''user'', id). '
'Its parser is scru64_parse(typed_parse(''user'', text)).';

CREATE OR REPLACE FUNCTION sortid.scru64_time(id bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (timestamp '1970-01-01' + (id >> 24) * interval '0.256 s') AT TIME ZONE 'UTC';
COMMENT ON FUNCTION sortid.scru64_time(bigint) IS
'The time of a SCRU64 ID, in steps of 256 milliseconds. To find the IDs of a time range, '
'compare the ID with scru64_first: PostgreSQL can use an index on the ID for that.';

CREATE OR REPLACE FUNCTION sortid.scru64_first("time" timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN int8smaller(4738381338321616895,
  (floor(extract(epoch from
    timestamptz_smaller(timestamptz '4261-02-27 06:08:59.136+00',
      timestamptz_larger(timestamptz '1970-01-01 00:00:00+00', "time"))
    AT TIME ZONE 'UTC') * 1000)::bigint >> 8) << 24);
COMMENT ON FUNCTION sortid.scru64_first(timestamptz) IS
'The smallest SCRU64 ID of a time''s tick of 256 milliseconds. '
'The IDs from time a to before time b: id >= scru64_first(a) AND id < scru64_first(b). '
'Before 1970, it is 0. After the last timestamp, it is the largest ID.';

CREATE OR REPLACE FUNCTION sortid.scru64_partman_time(id text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.scru64_time(id::bigint);
COMMENT ON FUNCTION sortid.scru64_partman_time(text) IS
'The time decoder for pg_partman; the encoder is scru64_first.';

CREATE SEQUENCE IF NOT EXISTS sortid.scru64_state AS bigint MINVALUE 0 NO CYCLE CACHE 1;
COMMENT ON SEQUENCE sortid.scru64_state IS
'The last ID that scru64_new made: its tick (the timestamp), and a counter in the low 24 bits. '
'Never set it back.';
GRANT USAGE ON SEQUENCE sortid.scru64_state TO PUBLIC;

-- A crash can undo the sequence's last steps, if no later COMMIT has waited for the disk. So after
-- a crash, scru64_new skips the ticks whose IDs the sequence may have forgotten. A crash also
-- empties unlogged tables and ends all sessions. So each session checks once whether this table is
-- empty.
CREATE UNLOGGED TABLE IF NOT EXISTS sortid.scru64_begun AS SELECT clock_timestamp() AS at;
COMMENT ON TABLE sortid.scru64_begun IS
'The time of the installation or, after a crash of the server, of the next call of scru64_new. '
'Empty until this call. A standby that becomes the primary counts as crashed.';

CREATE OR REPLACE FUNCTION sortid.scru64_has_begun() RETURNS boolean
LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN current_setting('scru64_new.begun', true)
  IS NOT DISTINCT FROM 'sortid.scru64_state'::regclass::oid::text;
COMMENT ON FUNCTION sortid.scru64_has_begun() IS
'Whether the session has called scru64_begin.';

CREATE OR REPLACE FUNCTION sortid.scru64_begin() RETURNS void
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  session timestamptz := coalesce(
    (SELECT backend_start FROM pg_stat_get_activity(pg_backend_pid())), now());
BEGIN
  IF NOT EXISTS (SELECT FROM sortid.scru64_begun) THEN
    -- The ticks of forgotten IDs are at most two seconds after the crash: see sortid.advance.
    PERFORM pg_sleep(extract(epoch FROM session - clock_timestamp()) + 2.5);
    INSERT INTO sortid.scru64_begun SELECT clock_timestamp();
  END IF;
  PERFORM set_config('scru64_new.begun', 'sortid.scru64_state'::regclass::oid::text, false);
END
$$;
COMMENT ON FUNCTION sortid.scru64_begin() IS
'The part of scru64_new for the first call in a session. '
'After a crash it waits until 2.5 seconds after the start of the session.';

CREATE OR REPLACE FUNCTION sortid.scru64_advance(node_bits int) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  -- A tick's counter starts in the lowest sixteenth of its range, so that the tick has room for
  -- many IDs.
  counters int := 1 << (24 - node_bits);
BEGIN
  RETURN sortid.advance('scru64', 'sortid.scru64_state', 256, 282429536479, 24, counters,
    greatest(counters / 16, 1));
END
$$;
COMMENT ON FUNCTION sortid.scru64_advance(int) IS
'The part of scru64_new that begins a new tick. Roles need no rights on the sequence for it.';

CREATE OR REPLACE FUNCTION sortid.is_node(node_id int, node_bits int) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN node_bits BETWEEN 1 AND 23 AND node_id BETWEEN 0 AND (1 << node_bits) - 1;
COMMENT ON FUNCTION sortid.is_node(int, int) IS
'Whether a node ID has a number of bits, from 1 to 23.';

CREATE OR REPLACE FUNCTION sortid.scru64_is_current(id bigint, ms bigint, node_bits int)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN id >> 24 BETWEEN ms >> 8 AND (ms >> 8) + 39 -- 39 ticks are 10 seconds
  AND id & 16777215 < 1 << (24 - node_bits);
COMMENT ON FUNCTION sortid.scru64_is_current(bigint, bigint, int) IS
'Whether a state of scru64_new is not before the clock, at most 10 seconds ahead of it, '
'and has a counter that is not used up.';

CREATE OR REPLACE FUNCTION sortid.scru64_with_node(id bigint, node_id int, node_bits int)
RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN id | (node_id::bigint << (24 - node_bits));
COMMENT ON FUNCTION sortid.scru64_with_node(bigint, int, int) IS
'A state of scru64_new with a node ID: a new ID.';

CREATE OR REPLACE FUNCTION sortid.scru64_new(node_id int, node_bits int) RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
AS $$
DECLARE
  ms bigint := sortid.clock_ms();
  id bigint;
BEGIN
  IF NOT sortid.is_node(node_id, node_bits) THEN
    RAISE EXCEPTION
      'scru64: % is no node ID of % bits: want 1 to 23 bits, and a node ID that fits into them',
      node_id, node_bits USING ERRCODE = 'invalid_parameter_value';
  END IF;
  id := pg_catalog.nextval('sortid.scru64_state');
  IF NOT sortid.scru64_has_begun() THEN
    PERFORM sortid.scru64_begin();
    id := sortid.scru64_advance(node_bits);
  ELSIF NOT sortid.scru64_is_current(id, ms, node_bits) THEN
    id := sortid.scru64_advance(node_bits);
  END IF;
  RETURN sortid.scru64_with_node(id, node_id, node_bits);
END
$$;
COMMENT ON FUNCTION sortid.scru64_new(int, int) IS
'A new SCRU64 ID with a node ID of node_bits bits. IDs strictly increase over all sessions of this '
'database, whatever the clock does. There are gaps. IDs are unique while no other database or '
'program uses the node ID. The call waits if the ID would be more than two seconds ahead of the '
'clock. After a crash of the server, it waits until the session is 2.5 seconds old. Raises 55000 '
'while the clock is more than 10 seconds behind the last ID. It does not work in read-only '
'transactions.';

CREATE OR REPLACE FUNCTION sortid.scru64_new(node_id int, node_bits int, "time" timestamptz)
RETURNS bigint
LANGUAGE sql VOLATILE PARALLEL UNSAFE
RETURN sortid.reject_time('scru64', 'For old rows, number the rows of each tick: '
  'scru64_first(t) + (node_id::bigint << (24 - node_bits)) + row_number() '
  'OVER (PARTITION BY scru64_first(t)) - 1. Use a node ID that nothing else uses.');
COMMENT ON FUNCTION sortid.scru64_new(int, int, timestamptz) IS
'Raises 0A000: there is no new SCRU64 ID at a given time. The hint says how to number old rows.';
