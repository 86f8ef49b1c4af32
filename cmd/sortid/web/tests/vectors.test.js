// The codecs against the vectors of the formats.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { checkVectors } from "./vectors.js";
import { ParseError, formatTime, formats, lookup } from "../sortid.js";

const read = (name) => JSON.parse(readFileSync(new URL(`../../../../testdata/${name}.json`, import.meta.url)));

for (const format of formats.filter(({ generates }) => generates)) {
  test(`vectors of ${format.name}`, () => {
    const { checked, faults } = checkVectors(format, read(`vectors/${format.name}`));
    assert.deepEqual(faults, []);
    assert.ok(checked > 70, `only ${checked} vectors`);
  });
}

for (const { format: name, valid, invalid } of read("formats").formats) {
  test(`cases of ${name}`, () => {
    assert.ok(valid.length + invalid.length >= 20 || valid.every(({ time }) => !time));
    const format = lookup(name);
    for (const { text, canon = text, time, fields, ...encodings } of valid) {
      const id = format.parse(text);
      assert.deepEqual([String(id).slice(id.prefix.length), id.milli === undefined ? undefined : formatTime(id.milli)],
        [canon.slice(canon === text ? id.prefix.length : 0), time], text);
      assert.deepEqual(Object.fromEntries(Object.entries(id.fields).map(([field, value]) => [field, String(value)])), fields, text);
      for (const encoding of format.encodings.slice(1)) {
        if (!encodings[encoding]) continue;
        assert.equal(id.in(encoding), encodings[encoding], text);
        assert.ok(format.parseAs(encoding, encodings[encoding]).equals(id), text);
      }
    }
    for (const { note, text } of invalid) assert.throws(() => format.parse(text), ParseError, `${note}: ${text}`);
  });
}

test("every format has vectors or cases", () => {
  const has = new Set(read("formats").formats.map(({ format }) => format));
  for (const { name, generates } of formats) assert.ok(generates || has.has(name), name);
});
