-- The procedure of docs/migration.md. It goes through the primary key id, and commits after every 500
-- rows. With wrong statistics, the optimizer would lock the whole table for each batch: STRAIGHT_JOIN
-- and FORCE INDEX prevent this.
DELIMITER //
CREATE OR REPLACE PROCEDURE fill(name VARCHAR(64), unfilled TEXT, assignment TEXT)
BEGIN
  DECLARE rows_by_key TEXT DEFAULT CONCAT(name, ' FORCE INDEX (PRIMARY)');
  SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; -- locks no gaps between rows
  EXECUTE IMMEDIATE CONCAT(
    'CREATE OR REPLACE TEMPORARY TABLE batch (PRIMARY KEY (id)) SELECT id FROM ', name, ' LIMIT 0');
  EXECUTE IMMEDIATE CONCAT(
    'SET @unfilled = EXISTS (SELECT 1 FROM ', name, ' WHERE ', unfilled, ')');
  WHILE @unfilled DO
    EXECUTE IMMEDIATE CONCAT('SET @first = (SELECT MIN(id) FROM ', name, ')');
    WHILE @first IS NOT NULL DO
      EXECUTE IMMEDIATE CONCAT('SET @last = (SELECT MAX(id) FROM (SELECT id FROM ', rows_by_key,
        ' WHERE id >= @first ORDER BY id LIMIT 500) AS ids)');
      START TRANSACTION;
      EXECUTE IMMEDIATE CONCAT('INSERT INTO batch SELECT id FROM ', rows_by_key,
        ' WHERE id BETWEEN @first AND @last AND ', unfilled, ' FOR UPDATE SKIP LOCKED');
      EXECUTE IMMEDIATE CONCAT(
        'UPDATE batch STRAIGHT_JOIN ', rows_by_key, ' USING (id) SET ', assignment);
      EXECUTE IMMEDIATE CONCAT('SET @unfilled = EXISTS (SELECT 1 FROM batch STRAIGHT_JOIN ',
        rows_by_key, ' USING (id) WHERE ', unfilled, ')');
      COMMIT;
      IF @unfilled THEN
        SET @message = LEFT(CONCAT('some rows get no value; correct or delete the rows of ',
          'SELECT * FROM ', name, ' WHERE ', unfilled), 128);
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = @message;
      END IF;
      DELETE FROM batch;
      EXECUTE IMMEDIATE CONCAT(
        'SET @first = (SELECT id FROM ', rows_by_key, ' WHERE id > @last ORDER BY id LIMIT 1)');
    END WHILE;
    EXECUTE IMMEDIATE CONCAT(
      'SET @unfilled = EXISTS (SELECT 1 FROM ', name, ' WHERE ', unfilled, ')');
  END WHILE;
END //
DELIMITER ;
