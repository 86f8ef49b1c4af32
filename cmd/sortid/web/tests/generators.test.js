// Tests generators with a clock and an entropy source that the test controls.
import assert from "node:assert/strict";
import test from "node:test";
import {
  GeneratorError, euid, facts, formats as all, scru128, scru160, scru64, uid60,
} from "../sortid.js";

const formats = all.filter((format) => format.generates);
const START = Date.parse("2026-11-17T10:30:00.000Z");
const node = (format) => (format === scru64 ? { node: "42/8" } : {});
const ones = (bytes) => bytes.fill(0xff);
const zeros = (bytes) => bytes.fill(0);

test("IDs strictly increase and show the clock's time, if it goes back by less than 10 s", () => {
  for (const format of formats) {
    let now = START;
    const generator = format.generator({ now: () => now, ...node(format) });
    let last = generator.generate();
    for (let i = 0; i < 5000; i++) {
      now += [0, 0, 1, 7, -3, 0][i % 6];
      if (i === 2500) now -= 9000;
      if (i === 2600) now += 9000;
      // Without this, uid60 would wait until the clock is there again.
      if (last.fields.sequence === 511n) now = Math.max(now, last.milli + 1);
      const id = generator.generate();
      assert.equal(id.compare(last), 1, `${format.name}: ${id} after ${last}`);
      assert.ok(id.milli > now - format.tick && id.milli <= now + 9100,
        `${format.name}: ${id.time} at ${new Date(now)}`);
      last = id;
    }
  }
});

test("random bits are new, and all of them are used", () => {
  for (const format of formats) {
    let or = 0n;
    let and = (1n << 160n) - 1n;
    for (let i = 0; i < 300; i++) {
      const { value } = format.generator({ now: () => START, ...node(format) }).generate();
      or |= value;
      and &= value;
    }
    const low = format === euid ? 64n : 0n;
    const moving = (or & ~and) >> low;
    const want = {
      scru64: (1n << 16n) - 1n, scru128: (1n << 80n) - 1n, scru160: (1n << 111n) - 1n,
      euid: ((1n << 15n) - 1n) << 7n, uid60: (1n << 9n) - 1n,
    }[format.name];
    if (want !== undefined) assert.equal(moving.toString(2), want.toString(2), format.name);
    for (const { kind, low: at, bits } of format.layout) { // of all formats, also new ones
      const all = (1n << BigInt(bits)) - 1n;
      if (kind === "random") assert.equal((or & ~and) >> BigInt(at) & all, all, format.name);
    }
    if (format === euid) assert.equal((or & ~and) & (1n << 64n) - 1n, (1n << 64n) - 1n);
  }
});

test("a clock that goes back by more than ten seconds", () => {
  for (const format of formats) {
    let now = START;
    const generator = format.generator({ now: () => now, ...node(format) });
    generator.generate();
    now -= 20_000;
    if (facts[format.name].needs_node) {
      assert.throws(() => generator.generate(), GeneratorError, format.name);
      now += 20_000;
      generator.generate();
    } else {
      assert.equal(generator.generate().milli, now, format.name);
    }
  }
});

test("a time that no ID can carry", () => {
  for (const format of formats) {
    const reserved = format.time.reserved ? [format.epoch] : [];
    for (const now of [format.epoch - 1, 1e15, NaN, ...reserved]) {
      const generator = format.generator({ now: () => now, ...node(format) });
      assert.throws(() => generator.generate(), GeneratorError, `${format.name} ${now}`);
    }
  }
});

test("scru64: the node ID, the counter, and full counters", () => {
  let now = START;
  const generator = scru64.generator({ now: () => now, node: "0xb00/12" });
  const id = generator.generate();
  assert.equal(id.fields.node_ctr >> 12n, 0xb00n);
  assert.equal(generator.generate().value, id.value + 1n);

  // The counter starts at its top, so each ID takes a tick, up to ten seconds ahead.
  const full = scru64.generator({ now: () => now, node: "42/8", random: ones });
  let last = full.generate();
  for (let i = 0; i < 39; i++) {
    const next = full.generate();
    assert.equal(next.fields.timestamp, last.fields.timestamp + 1n);
    last = next;
  }
  assert.throws(() => full.generate(), /10 seconds/);
  now += 256;
  full.generate();

  // With 20 or more node bits, the counter starts in its lower half.
  const half = scru64.generator({ now: () => now, node: "5/20", random: ones });
  assert.equal(half.generate().fields.node_ctr, 5n << 4n | 7n);

  const after = scru64.generator({ now: () => Number(last.milli), node: `${last.text}/8` });
  assert.ok(after.generate().compare(last) > 0);
  for (const wrong of [
    undefined, "", "42", "256/8", "1/24", "1/0", " 1/8", "1/8 ", "-1/8", "0x/8", "123456789/23",
    "zzzzzzzzzzz!/8",
  ]) {
    assert.throws(() => scru64.generator({ node: wrong }), RangeError, wrong);
  }
});

test("scru128: counter_hi is renewed each second, counter_lo each millisecond", () => {
  let now = START;
  const generator = scru128.generator({ now: () => now });
  const a = generator.generate();
  const b = generator.generate();
  assert.equal(b.fields.counter_lo, a.fields.counter_lo + 1n);
  now += 999;
  const c = generator.generate();
  assert.equal(c.fields.counter_hi, a.fields.counter_hi);
  assert.notEqual(c.fields.counter_lo, b.fields.counter_lo + 1n);
  now += 1;
  assert.notEqual(generator.generate().fields.counter_hi, a.fields.counter_hi);

  const full = scru128.generator({ now: () => now, random: ones });
  assert.equal(full.generate().fields.counter_lo, 0xffffffn);
  const over = full.generate(); // both counters are full
  assert.equal(over.milli, now + 1);
  assert.equal(over.fields.counter_hi, 0n);
  const next = full.generate(); // only counter_lo is full
  assert.deepEqual([next.fields.counter_hi, next.fields.counter_lo], [1n, 0n]);
});

test("scru160: the counter, its end, and the node ID", () => {
  let reads = 0;
  const now = () => START + (reads++ > 40_000 ? 1 : 0);
  const generator = scru160.generator({ now, random: zeros });
  let last = generator.generate();
  assert.equal(last.fields.counter, 0n);
  while (last.fields.counter < 0xffff) {
    if (reads > 39_000) reads = 0;
    last = generator.generate();
    assert.equal(last.milli, START);
  }
  assert.equal(generator.generate().milli, START + 1); // it waited
  const { fields } = scru160.generator({ node: "5/4", now: () => START }).generate();
  assert.equal(fields.random16 >> 12n, 5n);
  assert.throws(() => scru160.generator({ node: "1/17" }), RangeError);
});

test("euid: the extension, and the order within a millisecond", () => {
  for (const [options, extension, length] of [
    [{ ext: 5 }, 5n, 3n], [{ ext: "5/8" }, 5n, 8n], [{ ext: "32767" }, 32767n, 15n],
    [{ ext: 0 }, 0n, 0n], [{ ext: "0/4" }, 0n, 4n], [{}, 0n, 0n],
  ]) {
    const { fields } = euid.generator(options).generate();
    assert.equal(fields.extension_length, length);
    assert.equal(fields.random_and_extension & (1n << length) - 1n, extension);
    assert.equal(fields.version, 0n);
  }
  for (const ext of [32768, -1, 1.5, "4/2", "0/16", "", "x"]) {
    assert.throws(() => euid.generator({ ext }), RangeError, ext);
  }
  const generator = euid.generator({ now: () => START });
  const a = generator.generate();
  const b = generator.generate();
  assert.equal(a.value >> 64n, b.value >> 64n);
  assert.equal(b.fields.random >> 32n, (a.fields.random >> 32n) + 1n);
  const full = euid.generator({ now: () => START, random: ones });
  full.generate();
  assert.throws(() => full.generate(), /no ID is left/);
});

test("uid60: the sequence goes round between milliseconds, and the worker ID", () => {
  let now = START;
  let reads = 0;
  const generator = uid60.generator({ now: () => now + (reads++ > 2000 ? 1 : 0), worker: "5/4" });
  let last = generator.generate();
  assert.equal(last.fields.sequence, 0n);
  assert.equal(last.fields.random >> 5n, 5n);
  for (let i = 1; i < 512; i++) last = generator.generate();
  assert.deepEqual([last.fields.sequence, last.milli], [511n, START]);
  last = generator.generate();
  assert.deepEqual([last.fields.sequence, last.milli], [0n, START + 1]);
  now += 5;
  assert.equal(generator.generate().fields.sequence, 1n); // it continues in later milliseconds
  assert.throws(() => uid60.generator({ worker: "1/10" }), RangeError);
});

test("one generator for all callers", () => {
  const before = Date.now();
  const ids = Array.from({ length: 1000 }, () => scru128.generate());
  for (const [i, id] of ids.entries()) if (i > 0) assert.equal(id.compare(ids[i - 1]), 1);
  assert.ok(ids[0].milli >= before && ids[0].milli <= Date.now());
});
