-- IDs in DuckDB: macros that read and write texts, return the time of an ID, and bound time ranges.
-- Run the file in each session, or once in a database file. It needs DuckDB 1.3 or later.
--
-- In this list, F is a format, such as scru128, uuidv7 or snowflake_twitter:
--
--   F_time(id)         the time of an ID in any column type; NULL if the value is not such an ID
--   F_first(time)      the smallest ID of a time's tick, of a TIMESTAMPTZ
--   F_parse(text)      for our formats: the ID to store, or NULL if the text is not an ID
--   F_text(id)         for our formats: the text of a stored ID
--
-- scru128 and euid are stored as UUID, scru64 and uid60 as BIGINT, scru160 as BLOB of 20 bytes.
-- DuckDB has no generators: macros have no state.

CREATE OR REPLACE MACRO sortid_digits_value(digits, symbols) AS
  list_reduce(list_transform(string_split(digits, ''), lambda c: strpos(symbols, c) - 1),
    lambda a, b: a * length(symbols) + b);

-- The outer lambda evaluates n only once.
CREATE OR REPLACE MACRO sortid_digits_text(n, count, symbols) AS
  list_transform([n], lambda m: array_to_string(list_transform(range(count - 1, -1, -1),
    lambda i: substr(symbols,
      1 + m // CAST(pow(length(symbols), i) AS BIGINT) % length(symbols), 1)), ''))[1];
