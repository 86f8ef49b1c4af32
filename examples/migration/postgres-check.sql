-- This lists what the steps of docs/migration.md do not handle, and what to do with it. Change the
-- names of the tables and columns.
WITH keys AS (
  SELECT attrelid, attnum, attacl, attname, atttypid
  FROM pg_attribute
  WHERE (attrelid, attname) IN (('events'::regclass, 'id'), ('notes'::regclass, 'event_id'))
)
SELECT pg_describe_object(classid, objid, objsubid) AS object, CASE
    WHEN contype IN ('p', 'u') THEN 'before step 7, make a UNIQUE INDEX with the new column; '
      'in step 7, DROP this constraint, and ADD it USING the new INDEX'
    WHEN contype = 'c' THEN 'before step 7, ADD it with the new column, NOT VALID, and VALIDATE it'
    WHEN contype <> 'f' OR conrelid = confrelid OR cardinality(conkey) > 1 OR condeferrable THEN
      'the steps are not for this'
    WHEN NOT convalidated THEN 'before step 1, VALIDATE it'
    WHEN contype = 'f' THEN 'treat its table as notes, and give its options to all new foreign keys'
    WHEN classid IN ('pg_class'::regclass, 'pg_statistic_ext'::regclass) THEN
      'before step 7, make it with the new column; after step 7, DROP the old one'
    WHEN classid = 'pg_attrdef'::regclass THEN
      'before step 1, ALTER COLUMN DROP EXPRESSION, and set the column with a trigger'
    ELSE 'make it again among the commands of step 7'
  END AS what_to_do
FROM keys
  JOIN pg_depend ON (refclassid, refobjid, refobjsubid) = ('pg_class'::regclass, attrelid, attnum)
  LEFT JOIN pg_constraint AS c ON (classid, objid) = ('pg_constraint'::regclass, c.oid)
  LEFT JOIN pg_attrdef AS a ON (classid, objid) = ('pg_attrdef'::regclass, a.oid)
  LEFT JOIN pg_index ON (classid, objid) = ('pg_class'::regclass, indexrelid)
WHERE NOT coalesce( -- what the steps handle
  adnum = attnum
  OR contype = 'n' -- NOT NULL, which PostgreSQL 18 keeps as a constraint
  OR conrelid = 'events'::regclass AND pg_get_constraintdef(c.oid) = 'PRIMARY KEY (id)'
  OR conrelid = 'notes'::regclass AND pg_get_constraintdef(c.oid)
    = 'FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE'
  OR indrelid = 'notes'::regclass AND indkey::text = attnum::text AND indpred IS NULL
    AND NOT indisunique, false)
UNION SELECT format('rights for column %s of table %s', attname, attrelid::regclass),
  'before step 7, GRANT them for the new column'
FROM keys WHERE attacl IS NOT NULL
UNION SELECT format('replica identity of table %s', attrelid::regclass),
  'before step 7, choose another with ALTER TABLE, such as REPLICA IDENTITY DEFAULT'
FROM keys JOIN pg_index ON indrelid = attrelid AND attnum = ANY (indkey) AND indisreplident
UNION SELECT format('type of column %s of table %s', attname, attrelid::regclass),
  'the steps are only for uuid'
FROM keys WHERE atttypid <> 'uuid'::regtype
UNION SELECT format('column %s of table %s', attname, attrelid::regclass),
  'rename it, because the steps use this name'
FROM pg_attribute
WHERE attrelid IN (SELECT attrelid FROM keys) AND attname ~ '^(old|new)_(event_)?id$'
UNION SELECT format('table %s', attrelid::regclass),
  'the steps are not for partitions and inheritance'
FROM keys JOIN pg_class AS t ON t.oid = attrelid
WHERE relkind <> 'r' OR relispartition OR relhassubclass
  OR EXISTS (SELECT FROM pg_inherits WHERE inhrelid = attrelid)
ORDER BY 1;
