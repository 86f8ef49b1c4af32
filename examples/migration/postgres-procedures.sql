-- The procedures of docs/migration.md.
--
-- Some commands need a table alone for some milliseconds. While they wait for an open transaction,
-- everybody else waits behind them. So short_lock waits for at most 80 ms, and tries again later.
CREATE OR REPLACE PROCEDURE short_lock(tables text, commands text) LANGUAGE plpgsql AS $procedure$
DECLARE
  wait_ms int := 80 / array_length(string_to_array(tables, ','), 1);
BEGIN
  -- This keeps autovacuum away, which can hold its lock for hours. Readers and writers continue.
  EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', tables);
  FOR attempt IN 1..1000 LOOP
    BEGIN
      PERFORM set_config('lock_timeout', wait_ms::text, true);
      EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', tables);
      EXECUTE commands;
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      PERFORM pg_sleep(0.1 + random() / 2);
    END;
  END LOOP;
  RAISE EXCEPTION 'other transactions hold locks on % all the time', tables
    USING ERRCODE = 'lock_not_available', HINT = 'Find long transactions in pg_stat_activity.';
END
$procedure$;

-- fill changes the rows that meet a condition, until there are none. It commits after every 32
-- blocks, so it locks about 2000 rows for a few milliseconds.
CREATE OR REPLACE PROCEDURE fill(target regclass, condition text, assignment text)
LANGUAGE plpgsql AS $procedure$
DECLARE
  batch    int := 32; -- blocks
  blocks   bigint;
  unfilled boolean := true;
BEGIN
  WHILE unfilled LOOP
    blocks := pg_relation_size(target) / current_setting('block_size')::int;
    FOR start IN 0..blocks BY batch LOOP
      EXECUTE format('WITH changed AS (UPDATE %1$s SET %3$s WHERE ctid = ANY (ARRAY('
        'SELECT ctid FROM %1$s WHERE (%2$s) AND ctid >= ''(%4$s,0)'' AND ctid < ''(%5$s,0)'' '
        'FOR NO KEY UPDATE SKIP LOCKED)) RETURNING %2$s AS unfilled) SELECT bool_or(unfilled) '
        'FROM changed', target, condition, assignment, start, start + batch) INTO unfilled;
      IF unfilled THEN
        RAISE 'some rows of % get no value', target USING HINT =
          format('Correct or delete the rows of SELECT * FROM %s WHERE %s', target, condition);
      END IF;
      COMMIT;
    END LOOP;
    EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %s)', target, condition) INTO unfilled;
  END LOOP;
END
$procedure$;
