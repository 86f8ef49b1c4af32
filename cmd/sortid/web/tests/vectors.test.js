// The codecs against the vectors of the formats.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { checkVectors } from "./vectors.js";
import { formats } from "../sortid.js";

const vectors = (name) => JSON.parse(readFileSync(new URL(`../../../../testdata/vectors/${name}.json`, import.meta.url)));

for (const format of formats) {
  test(`vectors of ${format.name}`, () => {
    const { checked, faults } = checkVectors(format, vectors(format.name));
    assert.deepEqual(faults, []);
    assert.ok(checked > 70, `only ${checked} vectors`);
  });
}
