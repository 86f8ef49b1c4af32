-- This lists what a table loses in the last step of docs/migration.md, and what to do with it.
SELECT DISTINCT pg_describe_object(classid, objid, objsubid) AS object, CASE
    WHEN tgrelid > 0 THEN 'make it for events_by_month, and DROP this one before ATTACH'
    WHEN conrelid <> events.oid THEN 'treat it as the foreign key of notes'
    WHEN conrelid > 0 OR classid IN ('pg_policy'::regclass, 'pg_publication_rel'::regclass)
      THEN 'add it to events_by_month'
    WHEN s.oid > 0 THEN 'the step is not for identity columns'
    ELSE 'make it again after ATTACH, in the same transaction'
  END AS what_to_do
FROM pg_class AS events
  JOIN pg_depend ON (refclassid, refobjid) IN
    (('pg_class'::regclass, events.oid), ('pg_type'::regclass, events.reltype))
  LEFT JOIN pg_constraint AS c ON (classid, objid) = ('pg_constraint'::regclass, c.oid)
  LEFT JOIN pg_trigger AS t ON (classid, objid) = ('pg_trigger'::regclass, t.oid)
  LEFT JOIN pg_class AS s ON (classid, objid, s.relkind) = ('pg_class'::regclass, s.oid, 'S')
WHERE events.oid = 'events'::regclass AND (NOT tgisinternal OR s.oid > 0 AND deptype = 'i'
  OR contype = 'f' AND (conrelid, conname) <> ('notes'::regclass, 'notes_event_id_fkey')
  OR classid IN ('pg_rewrite'::regclass, 'pg_proc'::regclass, 'pg_policy'::regclass,
    'pg_publication_rel'::regclass))
UNION SELECT 'rights', 'GRANT them for events_by_month'
FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE attrelid = 'events'::regclass AND (relacl IS NOT NULL OR attacl IS NOT NULL)
UNION SELECT 'row level security', 'ALTER TABLE events_by_month ENABLE ROW LEVEL SECURITY'
FROM pg_class WHERE oid = 'events'::regclass AND relrowsecurity
ORDER BY 1;
