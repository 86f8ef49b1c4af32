-- Time-sortable IDs for SQLite 3.42 and later. SQLite has no functions of its users, so
-- what follows are tables and views to learn from: take the CHECK, the DEFAULT, the
-- generated column and the view for a table of your own. It runs as it stands.
--
-- What cannot be had:
--   - Reading a text. The program does that, and stores the integer or the bytes.
--   - A generator of scru64 or uid60, which would have to keep its state.
--   - Order within a statement: 'now' stands still there, so the IDs of one INSERT are of
--     one millisecond, in random order.
--   - Times after the year 9999: the column "at" is NULL.
--
-- A hexadecimal number in JSON is how SQLite reads the integer of some bytes.

-- An older SQLite fails here. Load this with sqlite3 -bail, so that it also stops here. Without
-- that, it makes none of the tables that it cannot fill, but their views.
CREATE TEMP TABLE sortid_version (
  ok CONSTRAINT "this SQL needs SQLite 3.42 or later" CHECK (ok)
);
INSERT INTO sortid_version VALUES (CAST(substr(sqlite_version(), 3) AS INTEGER) >= 42);
DROP TABLE sortid_version;
