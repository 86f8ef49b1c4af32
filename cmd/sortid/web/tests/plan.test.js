// Tests the planner with the cases that also test the command.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { count, odds, plan, seconds } from "../sortid.js";

const cases = JSON.parse(readFileSync(new URL("../../../../testdata/plan.json", import.meta.url)));

test("shared cases", () => {
  assert.ok(cases.length > 20, `only ${cases.length} cases`);
  for (const want of cases) {
    const got = JSON.parse(JSON.stringify(plan(want.asked)));
    const named = new Map(got.formats.map((row) => [row.format, row]));
    got.formats = want.formats.map((row) => named.get(row.format));
    for (const [i, row] of want.formats.entries()) {
      const p = got.formats[i].collision_probability;
      assert.ok(Math.abs(p - row.collision_probability) <= 1e-9 * row.collision_probability,
        `${row.format}: ${p}, want ${row.collision_probability} of ${JSON.stringify(want.asked)}`);
      row.collision_probability = p;
    }
    want.ids = Number(want.ids.toPrecision(12));
    got.ids = Number(got.ids.toPrecision(12));
    assert.deepEqual(got, want);
  }
});

test("words", () => {
  assert.deepEqual([0, 1, 0.5, 1e-3, 3.3e-7, 9.996e-7, 1e-30].map(odds),
    ["none", "certain", "50 %", "one in 1000", "one in 3 million", "one in 1 million",
      "one in 10^30"]);
  assert.deepEqual([0, 9999, 12345, 999_600, 3.16e12, 1e18].map(count),
    ["0", "9999", "12 thousand", "1 million", "3.2 trillion", "10^18"]);
  assert.deepEqual([0.002, 1.536, 125, 9000].map(seconds), ["2 ms", "1.5 s", "2 min", "3 h"]);
});

test("errors name the value that is out of range", () => {
  const wrong = { rate: 0, burst: -1, processes: 1.5, years: 1e5, bits: 32, from: "now" };
  for (const [name, value] of Object.entries(wrong)) {
    assert.throws(() => plan({ rate: 1, [name]: value }), new RegExp(`^RangeError: ${name} is`));
  }
});
