-- This lists what the steps of docs/migration.md do not handle, and what to do with it. Change the
-- names of the tables and columns.
SELECT CONCAT('index ', INDEX_NAME, ' of ', TABLE_NAME) AS object,
  IF(INDEX_NAME = 'PRIMARY', 'the steps are only for a primary key (id)',
    'before step 6, ADD it with the new column; before step 7, DROP the old one') AS what_to_do
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()
GROUP BY TABLE_NAME, INDEX_NAME
HAVING IF(INDEX_NAME = 'PRIMARY',
  TABLE_NAME IN ('events', 'notes') AND GROUP_CONCAT(COLUMN_NAME) <> 'id',
  MAX((TABLE_NAME, COLUMN_NAME) IN (('events', 'id'), ('notes', 'event_id')))
    AND NOT (COUNT(*) = 1 AND TABLE_NAME = 'notes' AND MAX(NON_UNIQUE)))
UNION SELECT CONCAT('constraint ', CONSTRAINT_NAME, ' of ', TABLE_NAME),
  'before step 7, DROP it: to ADD it again copies the table, while writers wait'
FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()
  AND (TABLE_NAME = 'events' AND CHECK_CLAUSE LIKE '%`id`%'
    OR TABLE_NAME = 'notes' AND CHECK_CLAUSE LIKE '%`event_id`%')
UNION SELECT CONCAT('foreign key ', CONSTRAINT_NAME, ' of ', TABLE_NAME),
  IF(TABLE_NAME = 'events' OR COUNT(*) > 1, 'the steps are not for this',
    'treat its table as notes, and give its options to all new foreign keys')
FROM information_schema.KEY_COLUMN_USAGE
  JOIN information_schema.REFERENTIAL_CONSTRAINTS
    USING (CONSTRAINT_SCHEMA, CONSTRAINT_NAME, TABLE_NAME, REFERENCED_TABLE_NAME)
WHERE REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME = 'events'
GROUP BY CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME
HAVING MAX(REFERENCED_COLUMN_NAME = 'id')
  AND NOT (COUNT(*) = 1 AND TABLE_NAME = 'notes' AND MAX(COLUMN_NAME = 'event_id'
    AND DELETE_RULE = 'CASCADE' AND UPDATE_RULE IN ('RESTRICT', 'NO ACTION')))
UNION SELECT CONCAT('column ', COLUMN_NAME, ' of ', TABLE_NAME),
  IF(IS_GENERATED = 'ALWAYS', 'the steps are not for this',
    IF(COLUMN_NAME IN ('id', 'event_id'), 'the steps are only for BINARY(16)',
      'rename it, because the steps use this name'))
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('events', 'notes')
  AND (IS_GENERATED = 'ALWAYS' OR COLUMN_NAME REGEXP '^(old|new)_(event_)?id$'
    OR (TABLE_NAME, COLUMN_NAME) IN (('events', 'id'), ('notes', 'event_id'))
      AND COLUMN_TYPE <> 'binary(16)')
UNION SELECT CONCAT('index ', INDEX_NAME, ' of ', TABLE_NAME), 'the steps are not for this'
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('events', 'notes') AND INDEX_TYPE <> 'BTREE'
UNION SELECT CONCAT('table ', TABLE_NAME), 'the steps are not for this'
FROM information_schema.TABLES
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('events', 'notes')
  AND (TABLE_TYPE <> 'BASE TABLE' OR ROW_FORMAT = 'Compressed' OR ENGINE <> 'InnoDB'
    OR CREATE_OPTIONS LIKE '%partitioned%')
ORDER BY 1;
