// Codecs on random values, other inputs than texts, and detection.
import assert from "node:assert/strict";
import test from "node:test";
import { ParseError, detect, formatTime, formats, lookup, parseTime, scru128, scru160, scru64, uid60 } from "../sortid.js";

// The next random integer below a limit.
function random(limit) {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return BigInt("0x" + Buffer.from(bytes).toString("hex")) % limit;
}

test("every encoding reads back, and texts sort like integers", () => {
  for (const format of formats) {
    let last = format.fromInt(0n);
    for (let i = 0; i < 2000; i++) {
      const id = format.fromInt(random(format.max + 1n) >> BigInt(i % format.bits)); // small ones, too
      for (const encoding of format.encodings) assert.ok(format.parseAs(encoding, id.in(encoding)).equals(id), `${format.name} ${encoding} ${id.int}`);
      assert.ok(format.fromBytes(id.bytes).equals(id));
      assert.ok(format.fromFields(id.fields).equals(id));
      if (format.textSorts) assert.equal(Math.sign(id.text < last.text ? -1 : id.text > last.text), id.compare(last), `${last} ${id}`);
      last = id;
    }
  }
});

test("the smallest ID of a time, and the bounds of a range", () => {
  for (const format of formats) {
    const time = new Date("2026-11-17T10:30:00.123Z");
    const first = format.first(time);
    assert.ok(first.milli <= Number(time) && Number(time) < first.milli + format.tick);
    assert.equal(format.fromInt(first.value - 1n).milli, first.milli - format.tick);
    const { first: a, end: b } = format.bounds(time, Number(time) + 1000);
    assert.ok(a.equals(first) && b.milli > a.milli);
    assert.throws(() => format.bounds(time, time), /empty/);
    assert.throws(() => format.first(format.epoch - 1), /cannot show/);
    assert.throws(() => format.first(NaN), /cannot show/);
    const last = new ID(format).milli;
    assert.ok(format.first(last).milli === last && format.first(last + format.tick - 1).milli === last);
    assert.throws(() => format.first(last + format.tick), /cannot show/);
  }
  assert.throws(() => scru64.bounds(1700000000000, 1700000000001), /within one tick/);

  function ID(format) { return format.fromInt(format.max); }
});

test("wrong input is named", () => {
  for (const [text, reason] of [["017fef39c2641ba56a9483188841e05g", '"g" at offset 31'], ["12", "32"]]) {
    assert.throws(() => scru128.parseAs("hex", text), (error) => error instanceof ParseError && error.message.includes(reason));
  }
  assert.throws(() => scru128.parseAs("uuid", "017fef39-c264-1ba5-6a94-83188841e0_a"), /"_" at offset 34/);
  assert.throws(() => scru64.parseAs("uuid", "017fef39-c264-1ba5-6a94-83188841e05a"), /have no encoding "uuid"/);
  assert.throws(() => scru64.fromInt(36n ** 12n), /larger than zzzzzzzzzzzz/);
  assert.throws(() => uid60.parseAs("int", (1n << 60n).toString()), /larger/);
  assert.throws(() => scru160.parseAs("int", "9".repeat(100_000)), /larger/);
  assert.throws(() => scru128.parseAs("int", "-1"), /decimal digit/);
  assert.throws(() => scru128.fromFields({ timestamp: 1n << 48n, counter_hi: 0, counter_lo: 0, entropy: 0 }), /timestamp has 48 bits/);
  assert.throws(() => lookup("ulid"), /unknown format "ulid"/);
  assert.throws(() => scru128.parse("x".repeat(1_000_000)), (error) => error.message.length < 200);
});

test("an unknown text is taken for what it is", () => {
  const day = 86_400_000;
  for (const format of formats) {
    for (let years = 0; years < 8; years++) {
      const time = Date.now() - years * 365 * day - day;
      for (let i = 0; i < 50; i++) {
        const generator = format.generator({ now: () => time, ...(format === scru64 && { node: "42/8" }) });
        const id = generator.generate();
        for (const encoding of format.encodings) {
          const found = detect(id.in(encoding)).find((candidate) => candidate.id); // by chance it has a UUID's bits
          assert.ok(found?.id.equals(id) && found.encoding === encoding, `${format.name} ${encoding} ${id.in(encoding)}: ${found?.id.format.name} ${found?.encoding}`);
        }
      }
    }
  }
});

test("times are read as the command reads them", () => {
  const now = Date.parse("2026-11-17T10:30:00.500Z");
  for (const [text, want] of Object.entries({
    "2026-11-17": "2026-11-17T00:00:00.000Z", "2026-11-17 09:05": "2026-11-17T09:05:00.000Z",
    "2026-11-17T09:05:06Z": "2026-11-17T09:05:06.000Z", "2026-11-17T09:05:06.789+01:00": "2026-11-17T08:05:06.789Z",
    "2026-11-17 09:05 -02:30": "2026-11-17T11:35:00.000Z", "@1700000000": "2023-11-14T22:13:20.000Z", "@1700000000.25": "2023-11-14T22:13:20.250Z",
    "now": "2026-11-17T10:30:00.500Z", "-2h": "2026-11-17T08:30:00.500Z", "+30m": "2026-11-17T11:00:00.500Z",
    "-7d": "2026-11-10T10:30:00.500Z", "-1w1d1h30m": "2026-11-09T09:00:00.500Z", " 2024-02-29 ": "2024-02-29T00:00:00.000Z",
    "0001-01-01": "0001-01-01T00:00:00.000Z",
  })) assert.equal(formatTime(parseTime(text, now)), want, text);
  for (const text of ["", "yesterday", "2026-02-29", "2026-13-01", "2026-11-17T24:00:00Z", "-", "+", "-7x", "@", "@x", "17.11.2026", "-h"]) {
    assert.throws(() => parseTime(text, now), /^RangeError: cannot read the time/, text);
  }
});
