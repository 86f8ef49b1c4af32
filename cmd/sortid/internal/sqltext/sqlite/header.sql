-- Time-sortable IDs for SQLite 3.42 and later. SQLite has no user-defined functions in SQL, so
-- these are example tables and views. Copy the CHECK, the DEFAULT, the generated column and the
-- view to your own table. The file runs as it is.
--
-- Not possible:
--   - To parse a text. Your program must do that, and store the integer or the bytes.
--   - A generator of scru64 or uid60, which needs state.
--   - Order within a statement: 'now' does not change in a statement. So all IDs of one INSERT
--     have the same millisecond, and are in random order.
--   - Times after the year 9999: the column "at" is NULL.
--
-- To get the integer of some bytes, the SQL reads them as a hexadecimal number in JSON.
--
-- An older SQLite fails below. Load this file with sqlite3 -bail, so that SQLite stops there.
-- Without -bail, an older SQLite would make the views, but not all tables.
CREATE TEMP TABLE sortid_version (
  ok CONSTRAINT "this SQL needs SQLite 3.42 or later" CHECK (ok)
);
INSERT INTO sortid_version VALUES (CAST(substr(sqlite_version(), 3) AS INTEGER) >= 42);
DROP TABLE sortid_version;
