-- Typed IDs: a prefix, _ and the text of an ID, as in user_0372ijojuxuhjsfkeryi2mrtm. A column
-- stores the ID without the prefix.

CREATE OR REPLACE FUNCTION sortid.reject_prefix(prefix text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  RAISE EXCEPTION
    'typed: wrong prefix "%": want at most 63 of a-z and _, without _ at either end',
    left(prefix, 64) USING ERRCODE = 'invalid_parameter_value';
END
$$;
COMMENT ON FUNCTION sortid.reject_prefix(text) IS
'Raises 22023 for a prefix that breaks the rules.';

CREATE OR REPLACE FUNCTION sortid.is_prefix(prefix text) RETURNS boolean
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sortid.matches(prefix, '^([a-z]([a-z_]{0,61}[a-z])?)?$');
COMMENT ON FUNCTION sortid.is_prefix(text) IS
'Whether a text is the prefix of typed IDs.';

CREATE OR REPLACE FUNCTION sortid.typed_join(prefix text, id text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ltrim(prefix || '_', '_') || id;
COMMENT ON FUNCTION sortid.typed_join(text, text) IS
'A prefix, _ and the text of an ID. If the prefix is empty, only the text.';

CREATE OR REPLACE FUNCTION sortid.typed_text(prefix text, id text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
AS $$
BEGIN
  IF NOT sortid.is_prefix(prefix) THEN
    PERFORM sortid.reject_prefix(prefix);
  END IF;
  RETURN sortid.typed_join(prefix, id);
END
$$;
COMMENT ON FUNCTION sortid.typed_text(text, text) IS
'The text of an ID with its prefix, as in typed_text(''user'', euid_text(id)). '
'Raises 22023 for a wrong prefix: want at most 63 of a-z and _, without _ at either end.';

CREATE OR REPLACE FUNCTION sortid.typed_parse(prefix text, text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  -- Only the text of a uid60, of at most ten characters, can contain a _.
  own integer := position('_' in right(text, 11));
  found text := CASE WHEN own > 0 THEN left(text, greatest(length(text) - 11, 0) + own - 1)
    ELSE substring(text from '^(.*)_') END;
  rest text := substr(text, length(prefix) + 2);
BEGIN
  IF NOT sortid.is_prefix(prefix) THEN
    PERFORM sortid.reject_prefix(prefix);
  ELSIF prefix = '' THEN
    RETURN text;
  ELSIF NOT starts_with(text, prefix || '_')
    OR length(found) > length(prefix) AND length(rest) > 10 THEN
    PERFORM sortid.reject('typed', text,
      'wrong prefix' || coalesce(' "' || left(found, 64) || '"', ': there is none')
      || ', want "' || prefix || '"');
  END IF;
  RETURN rest;
END
$$;
COMMENT ON FUNCTION sortid.typed_parse(text, text) IS
'The text of the ID behind a prefix, '
'as in scru128_parse(typed_parse(''user'', ''user_0372ijojuxuhjsfkeryi2mrtm'')). '
'Raises 22P02 for a text with another prefix, and names both.';
