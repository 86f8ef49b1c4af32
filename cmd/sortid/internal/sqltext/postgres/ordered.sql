-- For generators whose IDs always increase. A sequence has the last ID's tick (its timestamp) and,
-- in the low bits, a counter. So most calls need only nextval. When a tick begins, one session
-- moves the sequence under a lock. No ROLLBACK moves it back. A crash can undo the last steps, if
-- no later COMMIT has waited for the disk.

CREATE OR REPLACE FUNCTION sortid.clock_hint(tick bigint, tick_ms int) RETURNS text
LANGUAGE sql VOLATILE STRICT PARALLEL SAFE
RETURN 'The last ID has the time '
  || (timestamp '1970-01-01' + tick * tick_ms * interval '1 ms')
  || ' UTC. The clock shows ' || (timestamp '1970-01-01' + sortid.clock_ms() * interval '1 ms')
  || ' UTC.';
COMMENT ON FUNCTION sortid.clock_hint(bigint, int) IS
'A hint for errors about the clock: the times of a tick and of the clock.';

CREATE OR REPLACE FUNCTION sortid.advance(
  format text, state regclass, tick_ms int, last_tick bigint, bits int, counters int, starts int)
RETURNS bigint
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
AS $$
DECLARE
  clock bigint; -- in ticks
  value bigint;
  tick  bigint; -- the earliest tick that the next ID may have
  ahead int := 2000 / tick_ms; -- a new tick is at most this many ticks ahead of the clock
BEGIN
  -- This block ends with a rollback of its subtransaction, which releases the lock. An error, a
  -- cancelled query or the session's end also releases the lock.
  BEGIN
    PERFORM pg_advisory_xact_lock(1936683636, state::oid::int);
    clock := sortid.clock_ms() / tick_ms;
    IF clock NOT BETWEEN 1 AND last_tick THEN
      PERFORM sortid.reject_clock(format, sortid.clock_ms());
    END IF;
    value := nextval(state);
    tick := value >> bits;
    IF tick BETWEEN 1 AND clock - 8640000000 / tick_ms THEN -- 100 days
      RAISE EXCEPTION '%: the clock is ahead of the last ID by more than 100 days', format
        USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = sortid.clock_hint(tick, tick_ms)
            || ' If the clock is right, the owner of these functions calls sortid.recover() once.';
    END IF;
    IF value & ((1 << bits) - 1) >= counters THEN -- the tick's counters are used up
      tick := tick + 1;
      IF tick > clock + ahead THEN
        PERFORM pg_sleep(tick_ms / 1000.0);
        clock := sortid.clock_ms() / tick_ms;
      END IF;
    END IF;
    IF tick > clock + 10000 / tick_ms THEN
      RAISE EXCEPTION '%: the clock is behind the last ID by more than 10 seconds', format
        USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = sortid.clock_hint(tick, tick_ms) || ' IDs can be made again once the clock '
            'has caught up. If the clock was wrong at the last ID, see \df+ sortid.recover.';
    END IF;
    tick := greatest(tick, clock);
    IF tick > value >> bits THEN -- the counter begins at random, below the limit in "starts"
      value := setval(state, tick << bits | floor(random() * starts)::bigint);
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'SRTID';
  EXCEPTION WHEN SQLSTATE 'SRTID' THEN NULL;
  END;
  RETURN value;
END
$$;
COMMENT ON FUNCTION sortid.advance(text, regclass, int, bigint, int, int, int) IS
'Moves the state of an ordered generator to the clock''s tick, or to the next tick '
'if the counters are used up, and returns the new state.';
REVOKE EXECUTE ON FUNCTION sortid.advance(text, regclass, int, bigint, int, int, int) FROM PUBLIC;

CREATE OR REPLACE FUNCTION sortid.recover(keep_later_ids boolean DEFAULT false)
RETURNS TABLE (generator text, time_before timestamptz, time_now timestamptz)
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  state   regclass;
  tick_ms int;
  bits    int;
  clock   bigint; -- in ticks
  last    bigint; -- the state
  later   bigint; -- the number of IDs with later times in a column
  id_type regtype;
  id_name name;
  id_from regclass;
BEGIN
  FOR generator, state, tick_ms, bits IN
    SELECT g.name, to_regclass('sortid.' || g.format || '_state'), g.ms, g.bits
    FROM (VALUES ('scru64_new', 'scru64', 256, 24), ('scru128_new_ordered', 'scru128', 1, 16))
      AS g(name, format, ms, bits)
    WHERE to_regclass('sortid.' || g.format || '_state') IS NOT NULL
  LOOP
    PERFORM pg_advisory_xact_lock(1936683636, state::oid::int);
    last := nextval(state);
    time_before := timestamptz 'epoch' + (last >> bits) * tick_ms * interval '1 ms';
    time_now := time_before;
    clock := sortid.clock_ms() / tick_ms;
    IF last >> bits BETWEEN 1 AND clock - 8640000000 / tick_ms THEN
      last := setval(state, clock << bits);
    ELSIF last >> bits > clock + 10000 / tick_ms THEN
      -- When the clock was right, the IDs were at most two seconds ahead of it.
      clock := clock + 2000 / tick_ms;
      FOR id_from, id_name, id_type IN
        SELECT c.oid, a.attname, a.atttypid
        FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
        WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
          AND a.attnum > 0 AND NOT a.attisdropped
          AND (a.atttypid = to_regtype('sortid.' || split_part(generator, '_', 1))
            AND tick_ms = 256
            OR EXISTS (
              SELECT FROM pg_attrdef AS d
                JOIN pg_depend AS p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid
                JOIN pg_proc AS f ON p.refclassid = 'pg_proc'::regclass AND p.refobjid = f.oid
              WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND f.proname = generator
                AND f.pronamespace = (SELECT relnamespace FROM pg_class WHERE oid = state)))
      LOOP
        EXECUTE format('SELECT count(*) FROM %s WHERE %I >= $1::%s', id_from, id_name, id_type)
          INTO later
          USING CASE tick_ms WHEN 256 THEN ((clock + 1) << bits)::text
            ELSE rpad(lpad(to_hex(clock + 1), 12, '0'), 32, '0') END;
        IF later > 0 AND NOT keep_later_ids THEN
          RAISE EXCEPTION '%: % has % rows with later IDs than the clock shows', generator,
            format('%s(%I)', id_from, id_name), later
            USING ERRCODE = 'object_not_in_prerequisite_state',
              HINT = 'Delete these rows or give them other IDs, or see \df+ sortid.recover.';
        END IF;
      END LOOP;
      last := setval(state, clock << bits);
    END IF;
    time_now := timestamptz 'epoch' + (last >> bits) * tick_ms * interval '1 ms';
    RETURN NEXT;
  END LOOP;
END
$$;
COMMENT ON FUNCTION sortid.recover(boolean) IS
'Sets scru64_new and scru128_new_ordered to the clock, when the clock was wrong and is right again, '
'or when they refuse a clock that is more than 100 days ahead of the last ID. Returns the times of '
'their states before and now. It raises 55000 if a column has IDs of later times. It knows the '
'columns with the generator in the DEFAULT and columns of the domain scru64, but no others, '
'databases or programs. recover(true) keeps such IDs. '
'The next IDs are smaller than these. Then scru64_new can repeat these IDs when their time comes, '
'unless you give it a node ID that nobody has used. Only the owner can call it, and '
'roles to which the owner has granted EXECUTE and the rights on the sequences.';
REVOKE EXECUTE ON FUNCTION sortid.recover(boolean) FROM PUBLIC;
