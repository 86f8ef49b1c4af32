// Tests what JavaScript does with IDs: printing, comparing and cloning.
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { detect, find, formats, lookup, scru128, scru64, uid60 } from "../sortid.js";
import { scru128 as basic } from "../ours/scru128.js";

const text = "0372ijojuxuhjsfkeryi2mrtm";
const id = scru128.parse(text);

test("an ID is written as its text", () => {
  for (const format of formats) {
    const example = format.parse(format.example);
    assert.equal(JSON.stringify([example]), JSON.stringify([String(example)]), format.name);
    assert.equal(`${example}`, String(example));
    assert.equal("" + example, String(example));
  }
  assert.equal(inspect({ id }), `{ id: Scru128ID(${text}) }`);
  assert.equal(inspect(basic.parse(text)), `Scru128ID(${text})`);
  assert.equal(inspect(id.withPrefix("user")), `Scru128ID(user_${text})`);
});

test("IDs compare as integers, also if their texts do not sort", () => {
  for (const format of [scru64, scru128, uid60]) {
    const ids = [1, 3, 2, 0].map((n) => format.fromInt(format.max - BigInt(n)));
    const sorted = [...ids].sort((a, b) => a.compare(b)).map(({ value }) => value);
    assert.deepEqual(sorted, [3n, 2n, 1n, 0n].map((n) => format.max - n));
    assert.ok(ids[1] < ids[0] && ids[0] > ids[2] && ids[0] <= ids[0]);
  }
  assert.ok(id.equals(scru128.parse(text.toUpperCase())));
  for (const other of [undefined, null, text, {}, scru128.generate(), lookup("ulid").fromInt(id.value)]) {
    assert.equal(id.equals(other), false, String(other));
  }
});

test("an ID does not change", () => {
  for (const name of ["value", "prefix", "text", "format"]) {
    for (const each of [id, basic.parse(text)]) {
      assert.throws(() => { each[name] = 1n; }, TypeError, name);
    }
  }
});

test("clones become IDs again", () => {
  for (const format of formats) {
    const example = format.parse(format.example);
    const clone = structuredClone(example);
    assert.deepEqual(Object.keys(clone), ["value", "prefix"]);
    const again = format.fromClone(clone);
    assert.ok(again.equals(example) && String(again) === String(example), format.name);
  }
  const typed = id.withPrefix("my_user");
  assert.equal(String(scru128.fromClone(structuredClone(typed))), `my_user_${text}`);
  assert.throws(() => scru64.fromClone(structuredClone(id)), /larger than/);
});

test("detect says why it finds nothing", () => {
  for (const [wrong, reason] of [
    [`my-user-${text}`, `other text is around ${text}, which can be read as scru128`],
    ["", "it is empty"],
    [text.slice(0, -1), "as scru128 it has 24 of 25 characters: was one lost?"],
    [text + "0", "as scru128 it has 26 characters, one more than 25: was one added?"],
    ["0372ijojuxuhjsfkeryi2mrt!", 'as scru128 it has "!" at offset 24'],
    ["C8EE934SR007G5Q94QKKXFRFV8C", "as euid its check is wrong: was a character changed?"],
    ["d41d8cd98f00b204e9800998ecf8427e", "it looks like a hash: it has 32 hexadecimal digits, as MD5"],
    ["zzzzzzzzzzzz", "as scru64 text its time would be 4261-02-27T06:08:58.880Z"],
    ["621ce48c-99c0-0079-16e9-25e73ebf0fda", "it would be euid uuid, but of a version that no"],
    ["order=01ARZ3NDEKTSV4RRFFQ69G5FAV;", "other text is around 01ARZ3NDEKTSV4RRFFQ69G5FAV, which"],
    ["order_0003q6pa000bmaageby9bea4zzf7keaj-7ze4", "as orderlyid its check is wrong"],
    ["hello world", "no format known to sortid has such IDs"],
    ["42", "no format known to sortid has a plausible time in this integer"],
    ["9".repeat(50), "it is larger than the largest ID of any format"],
    ["x".repeat(1_000_000), "no format known to sortid has such IDs"],
  ]) {
    const found = detect(wrong);
    assert.ok(found.length === 0 && found.reason.startsWith(reason), `${wrong}: ${found.reason}`);
  }
  assert.equal(detect(text).reason, undefined);
  assert.deepEqual(find("nothing here"), []);
});
