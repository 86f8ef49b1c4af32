-- For generators whose IDs always increase. A sequence has the last ID's tick (its timestamp) and,
-- in the low bits, a counter. So most calls need only nextval. When a tick begins, one session
-- moves the sequence under a lock. No ROLLBACK moves it back. A crash can undo the last steps, if
-- no later COMMIT has waited for the disk.

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
          HINT = 'IDs can be made again once the clock has caught up; it shows '
            || clock_timestamp() || '.';
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
