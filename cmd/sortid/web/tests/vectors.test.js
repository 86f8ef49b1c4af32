import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { checkVectors } from "./vectors.js";
import { ParseError, detect, formatTime, formats, lookup, plausible, scru128 } from "../sortid.js";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../../../${name}.json`, import.meta.url)));
const vectors = formats.filter(({ generates }) => generates)
  .map((format) => [format, read(`${format.name}/testdata/vectors`)]);

for (const [format, cases] of vectors) {
  test(`vectors of ${format.name}`, () => {
    const { checked, faults } = checkVectors(format, cases);
    assert.deepEqual(faults, []);
    assert.ok(checked > 70, `only ${checked} vectors`);
  });
}

for (const { format: name, valid, invalid } of read("testdata/formats").formats) {
  test(`cases of ${name}`, () => {
    assert.ok(valid.length + invalid.length >= 20 || valid.every(({ time }) => !time));
    const format = lookup(name);
    for (const { text, canon = text, time, fields, ...encodings } of valid) {
      const id = format.parse(text);
      const shown = id.milli === undefined ? undefined : formatTime(id.milli);
      const size = id.prefix && id.prefix.length + 1;
      assert.deepEqual([String(id).slice(size), shown], [canon.slice(canon === text ? size : 0), time],
        text);
      const contents = Object.entries(id.fields).map(([field, value]) => [field, String(value)]);
      assert.deepEqual(Object.fromEntries(contents), fields, text);
      for (const encoding of format.encodings.slice(1)) {
        if (!encodings[encoding]) continue;
        assert.equal(id.in(encoding), encodings[encoding], text);
        assert.ok(format.parseAs(encoding, encodings[encoding]).equals(id), text);
      }
    }
    for (const { note, text } of invalid) {
      assert.throws(() => format.parse(text), ParseError, `${note}: ${text}`);
    }
  });
}

test("typed IDs", () => {
  const all = (kind) => vectors.flatMap(([format, { typed }]) =>
    typed[kind].map((row) => ({ format, ...row })));
  const invalid = all("invalid");
  const now = Date.parse("2026-11-22T00:00:00Z");
  let detected = 0;
  for (const { note, format, prefix, inner, text } of all("valid")) {
    const id = format.parse(inner).withPrefix(prefix);
    assert.deepEqual([String(id), id.text, id.prefix, id.value],
      [text, text, prefix, format.parse(inner).value], note);
    for (const parsed of [
      format.parseTyped(text), format.parseTyped(text, prefix), format.parseAny(text).id,
    ]) {
      assert.ok(parsed.equals(id) && parsed.text === text, `${note}: ${text} is read as ${parsed}`);
    }
    assert.equal(id.withPrefix("").text, inner);
    assert.equal(id.withPrefix(id.prefix).text, text);
    assert.equal(format.typedPrefix(text), prefix, text);
    if (!plausible(id, now) || id.notes.length > 0) continue;
    detected++;
    const [first] = detect(text, now);
    assert.ok(first.id.equals(id) && first.id.text === text, `${text} is detected as ${first?.id}`);
  }
  assert.ok(detected > 50, `only ${detected} were plausible`);
  assert.ok(invalid.length > 80);
  for (const { note, format, want, found, text, reason } of invalid) {
    const wrong = (error) => error instanceof ParseError && error.reason === reason &&
      (reason !== "prefix" || !want ||
        [found, want].every((prefix) => error.detail.includes(JSON.stringify(prefix))));
    assert.throws(() => format.parseTyped(text, want), wrong, `${format.name}, ${note}: ${text}`);
  }
  assert.throws(() => scru128.generate().withPrefix("User"), { reason: "prefix" });
  assert.throws(() => lookup("uuidv7").parseTyped("user_"), RangeError);
});

test("every format has vectors or cases", () => {
  const has = new Set(read("testdata/formats").formats.map(({ format }) => format));
  for (const { name, generates } of formats) assert.ok(generates || has.has(name), name);
});
