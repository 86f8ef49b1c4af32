// Tests codecs with random values, bytes, fields and integers, and tests detection.
import assert from "node:assert/strict";
import test from "node:test";
import { readFileSync } from "node:fs";
import {
  ParseError, detect, find, formatTime, formats, lookup, parseTime, plan, scru128, scru160, scru64,
  strip, uid60,
} from "../sortid.js";
import { scru64 as basicScru64 } from "../ours/scru64.js";
import { scru128 as basicScru128 } from "../ours/scru128.js";

const ours = formats.filter((format) => format.generates);

function random(limit) {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return BigInt("0x" + Buffer.from(bytes).toString("hex")) % limit;
}

test("every encoding reads back, and texts sort like integers", () => {
  for (const format of formats) {
    let last = format.parse(format.example);
    for (let i = 0; i < 500; i++) {
      const value = random(format.max + 1n) >> BigInt(i % format.bits); // also small integers
      if (!format.admits(value & ~format.mask | format.fixed)) continue; // it has no text
      const id = format.fromInt(value & ~format.mask | format.fixed);
      for (const encoding of format.encodings) {
        const prefixed = format.text.prefix && encoding === "text";
        const prefix = prefixed ? (format.text.prefix.known?.[0] ?? "user") + "_" : "";
        const parsed = format.parseAs(encoding, prefix + id.in(encoding));
        assert.ok(parsed.equals(id), `${format.name} ${encoding} ${id.int}`);
      }
      assert.ok(format.fromBytes(id.bytes).equals(id));
      assert.ok(format.fromFields(id.fields).equals(id));
      if (format.generates && format.text.sorts) {
        const order = String(id) < String(last) ? -1 : Number(String(id) > String(last));
        assert.equal(order, id.compare(last), `${last} ${id}`);
      }
      last = id;
    }
  }
});

test("the smallest ID of a time, and the bounds of a range", () => {
  for (const format of formats) {
    if (!format.ordered) {
      assert.throws(() => format.first(0), /not in order of time/);
      continue;
    }
    const time = new Date("2026-11-17T10:30:00.123Z");
    const first = format.first(time);
    assert.ok(first.milli <= Number(time) && Number(time) < first.milli + Math.max(1, format.tick));
    if (format.mask === 0n) {
      assert.equal(format.fromInt(first.value - 1n).milli, first.milli - format.tick);
    }
    const { first: a, end: b } = format.bounds(time, Number(time) + 1000 + format.tick);
    assert.ok(a.equals(first) && b.milli > a.milli);
    assert.throws(() => format.bounds(time, time), /empty/);
    assert.throws(() => format.first(format.epoch - 1), /cannot show/);
    assert.throws(() => format.first(NaN), /cannot show/);
    const last = new ID(format).milli;
    assert.equal(format.first(last).milli, last);
    assert.throws(() => format.first(last + Math.max(1, format.tick)), /cannot show/);
  }
  assert.throws(() => scru64.bounds(1700000000000, 1700000000001), /within one tick/);

  function ID(format) { return format.fromInt(format.max); }
});

test("errors name the wrong input", () => {
  for (const [text, reason] of [
    ["017fef39c2641ba56a9483188841e05g", '"g" at offset 31'], ["12", "32"],
  ]) {
    assert.throws(() => scru128.parseAs("hex", text),
      (error) => error instanceof ParseError && error.message.includes(reason));
  }
  assert.throws(() => scru128.parseAs("uuid", "017fef39-c264-1ba5-6a94-83188841e0_a"),
    /"_" at offset 34/);
  assert.throws(() => scru64.parseAs("uuid", "017fef39-c264-1ba5-6a94-83188841e05a"),
    /have no encoding "uuid"/);
  assert.throws(() => scru64.fromInt(36n ** 12n), /larger than 4738381338321616895, the largest ID/);
  assert.throws(() => uid60.parseAs("int", (1n << 60n).toString()), /larger/);
  assert.throws(() => scru160.parseAs("int", "9".repeat(100_000)), /larger/);
  assert.throws(() => scru128.parseAs("int", "-1"), /decimal digit/);
  const fields = { timestamp: 1n << 48n, counter_hi: 0, counter_lo: 0, entropy: 0 };
  assert.throws(() => scru128.fromFields(fields), /timestamp has 48 bits/);
  assert.throws(() => lookup("toString"), /unknown format "toString"/);
  assert.throws(() => lookup("ulid").generate(), /reads ulid IDs, and makes none/);
  assert.throws(() => scru128.parse("x".repeat(1_000_000)), (error) => error.message.length < 200);
});

test("errors say where an argument is wrong, and what is wanted", () => {
  const id = scru128.parse(scru128.example);
  const type = (call, message) => assert.throws(call, { name: "TypeError", message });
  const range = (call, message) => assert.throws(call, { name: "RangeError", message });
  for (const format of [scru128, basicScru128]) {
    type(() => format.parse(), /^scru128(.parse)?: want a string, not undefined$/);
    type(() => format.fromInt(), "scru128.fromInt: want a BigInt, a Number or digits, not undefined");
    type(() => format.fromInt(true), /digits, not true$/);
    type(() => format.fromInt({}), /digits, not an object$/);
    assert.throws(() => format.fromInt(-1n), /"-1": negative, want 0 to 340282366920938463463374607/);
    assert.throws(() => format.fromInt("x"), { name: "ParseError", reason: "symbol" });
    type(() => format.fromBytes(), "scru128.fromBytes: want 16 bytes, not undefined");
    type(() => format.fromBytes("0123456789abcdef"), /want 16 bytes, not "0123456789abcdef"$/);
    range(() => format.fromBytes([1]), "scru128.fromBytes: 1 bytes, want 16");
    const bytes = new Array(16).fill(0);
    for (const wrong of [300, -1, 1.5, "1", undefined]) {
      range(() => format.fromBytes(bytes.with(15, wrong)),
        `scru128.fromBytes: byte 15 is ${wrong}, want 0 to 255`);
    }
    type(() => format.parse(format.parse(scru128.example).text).compare("text"),
      'compare: want an ID, not "text"');
    range(() => format.generator({ node: "42/8" }),
      'scru128.generator: there is no option "node"; want now, random');
    type(() => format.generator(null), /want an object with options, not null$/);
  }
  for (const call of [() => scru128.parseTyped(), () => detect(), () => find(), () => strip(),
    () => parseTime(), () => scru128.parseAny(), () => scru128.typedPrefix(), () => id.withPrefix()]) {
    type(call, /^[a-zA-Z0-9.]+: want a string, not undefined$/);
  }
  type(() => scru128.parseTyped(scru128.example, 5), /prefix: want a string, not 5$/);
  type(() => detect("x", new Date()), "detect, now: want Unix milliseconds, not an object");
  range(() => scru128.fromFields({ time: 1 }), 'scru128.fromFields: there is no option "time"; ' +
    "want timestamp, counter_hi, counter_lo, entropy");
  type(() => scru128.fromFields({ timestamp: 1 }),
    "scru128.fromFields, counter_hi: want a BigInt, a Number or digits, not undefined");
  for (const format of formats) {
    type(() => format.fromFields(), /want an object with options, not undefined$/);
    type(() => format.fromClone(), /want a clone of an ID, not undefined$/);
    if (format.ordered) type(() => format.first("soon"), /want a Date or Unix milliseconds, not "soon"$/);
  }
  range(() => find("x", { format: scru128 }), 'find: there is no option "format"; want formats, now');
  range(() => plan({ rate: 1, process: 2 }), /^plan: there is no option "process"; want rate, burst/);
});

test("isValid says whether parse accepts a text", () => {
  for (const format of [...formats, basicScru64, basicScru128]) {
    const example = format.example ?? String(format.fromInt(1));
    assert.equal(format.isValid(example), true, format.name);
    for (const wrong of [example + "!", "", undefined, null, 5, {}]) {
      assert.equal(format.isValid(wrong), false, `${format.name} ${wrong}`);
    }
  }
});

test("a Number that may have lost digits is refused", () => {
  const basics = [basicScru64, basicScru128];
  for (const value of [109959589539758421, 2 ** 53, -(2 ** 53), 1e30, 1.5, NaN, Infinity]) {
    const reads = [...basics, ...formats].map((format) => [format, () => format.fromInt(value)]);
    for (const format of formats) {
      reads.push([format, () => format.fromClone({ value })]);
      const { fields } = format.parse(format.example);
      for (const { name, kind } of format.layout) {
        if (!name || kind === "fixed" || !(name in fields)) continue;
        reads.push([format, () => format.fromFields({ ...fields, [name]: value })]);
      }
    }
    for (const [{ name }, read] of reads) {
      assert.throws(read, { name: "RangeError", message: `${name}: the Number ${value} is not a ` +
        "safe integer; pass a BigInt or the text" });
    }
  }
  for (const format of [...basics, scru64, lookup("snowflake-twitter")]) {
    for (const value of [109959589539758421n, "109959589539758421"]) {
      assert.equal(format.fromInt(value).int, "109959589539758421");
    }
    assert.equal(format.fromInt(2 ** 53 - 1).int, "9007199254740991");
  }
});

test("the format of an unknown text is found", () => {
  const day = 86_400_000;
  for (const format of ours) {
    for (let years = 0; years < 8; years++) {
      const time = Date.now() - years * 365 * day - day;
      if (time < format.plausibleFrom) break;
      for (let i = 0; i < 50; i++) {
        const node = format === scru64 && { node: "42/8" };
        const id = format.generator({ now: () => time, ...node }).generate();
        for (const encoding of format.encodings) {
          const text = id.in(encoding);
          // By chance an ID can also be a UUID.
          const found = detect(text).filter((candidate) => ours.includes(candidate.id.format));
          const at = found.findIndex((candidate) =>
            candidate.id.equals(id) && candidate.encoding === encoding);
          // A number may be an ID of several 64-bit formats.
          const [first] = found;
          assert.ok(at === 0 || at > 0 && format.bits <= 64 && encoding !== "text",
            `${format.name} ${encoding} ${text}: ${first?.id.format.name} ${first?.encoding}`);
        }
      }
    }
  }
});

test("times are read as the command reads them", () => {
  const url = new URL("../../../../testdata/times.json", import.meta.url);
  const { now, cases } = JSON.parse(readFileSync(url));
  assert.ok(cases.length > 80);
  for (const { text, zone, time, error } of cases) {
    const read = () => formatTime(parseTime(text, Date.parse(now), zone));
    if (error === undefined) assert.equal(read(), time, `${text} in ${zone}`);
    else assert.throws(read, (e) => e instanceof RangeError && e.message.includes(error), text);
  }
});
