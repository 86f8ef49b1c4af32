// Tests finding IDs in text, with the cases that also test the command.
import assert from "node:assert/strict";
import { createCipheriv } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";
import {
  Finder, detect, find, formatTime, lookup, plausible, scru128, scru160, strip,
} from "../sortid.js";
import { scru128 as basic } from "../ours/scru128.js";
import { read as readID } from "../read.js";

const read = (name) =>
  JSON.parse(readFileSync(new URL(`../../../../testdata/${name}.json`, import.meta.url)));
const { cases, now } = read("scan");
const options = (formats) =>
  ({ now: Date.parse(now), ...(formats.length && { formats: formats.map(lookup) }) });

test("shared cases", () => {
  assert.ok(cases.length > 50, `only ${cases.length} cases`);
  for (const { note, text, formats, ids } of cases) {
    const bytes = (offset) => Buffer.byteLength(text.slice(0, offset));
    const got = find(text, options(formats)).map(({ id, encoding, start, end }) => ({
      start: bytes(start), end: bytes(end), format: id.format.name, encoding,
      time: id.timed ? formatTime(id.milli) : "", text: text.slice(start, end),
    }));
    assert.deepEqual(got, ids, note);
  }
});

test("shared contexts", () => {
  const { ids, before, after, nothing, now: at } = read("contexts");
  const found = (text, named) =>
    find(text, { now: Date.parse(at), ...(named && { formats: [lookup(named)] }) })
      .map(({ id, start, end }) => `${id.format.name} ${text.slice(start, end)}`).join();
  for (const { text: whole, format, id = whole, named } of ids) {
    for (const text of before.flatMap((b) => after.map((a) => b + whole + a))) {
      assert.equal(found(text, named && format), `${format} ${id}`, JSON.stringify(text));
    }
  }
  for (const { text, named } of nothing) assert.equal(found(text, named), "", text);
});

// The texts that the command reads, in TestContexts and TestNumbers of package inspect.
test("shared contexts of an ID alone", () => {
  const { ids, labels, around, now: at } = read("contexts");
  const now = Date.parse(at);
  for (const { text: whole, format: name, id = whole } of ids) {
    const format = lookup(name);
    const { value } = format.parseAny(id).id;
    const own = whole.startsWith("user_") ? "user_" : "";
    for (const [label, [open, close]] of ["", ...labels].flatMap((l) => around.map((a) => [l, a]))) {
      const text = open + label + whole + close;
      const all = [
        readID(text, { now }).id, readID(text, { format }).id, detect(strip(text).text, now)[0].id,
      ];
      for (const { format: { name: got }, value: v, prefix } of all) {
        assert.deepEqual([got, v, prefix], [name, value, (label + own).slice(0, -1)], text);
      }
    }
  }
});

test("shared numbers", () => {
  const { numbers, no_numbers: none, now: at } = read("contexts");
  const now = Date.parse(at);
  const format = lookup("snowflake-twitter");
  for (const { text, int, time, note } of numbers) {
    const { id, notes = [] } = readID(text, { format });
    assert.deepEqual([id.int, formatTime(id.milli), notes.join()], [int, time, note ?? ""], text);
    assert.equal(readID(text, { now }).id.int, int, text);
    assert.ok(detect(strip(text).text, now).length > 0, text);
  }
  for (const { text, says } of none) {
    const wanted = ({ message }) => (says ? message.includes(says) : !message.includes("unsigned"));
    assert.throws(() => readID(text, { now }), wanted, text);
  }
});

test("shared orders of bytes", () => {
  const { orders, now: at } = read("contexts");
  const now = Date.parse(at);
  for (const { text, from, uuid, format } of orders) {
    let said;
    try {
      said = (readID(text, { now }).notes ?? []).join();
    } catch ({ message }) {
      said = message;
    }
    assert.equal(said.includes(`the ${format} ${uuid} of`) && said.includes(`--from ${from} `),
      format !== undefined, `${text}: ${said}`);
  }
});

// If no format is given, the command finds the same IDs.
test("IDs of others in text", () => {
  const sure = "uuidv1 uuidv6 uuidv7 ulid ksuid xid objectid typeid datadog-trace".split(" ");
  const { formats } = read("formats");
  const places = (line, options) => find(line, { ...options, now: Date.parse(now) })
    .map(({ id, start, end }) => `${id.format.name} ${line.slice(start, end)}`).join();
  let tested = 0;
  for (const { format: name, valid } of formats) {
    const format = lookup(name);
    for (const { text } of valid) {
      const id = format.parse(text);
      if (!plausible(id, Date.parse(now)) || name === "typeid" && !id.timed) continue;
      if (name === "typeid" && !id.prefix) continue; // without --format it is a ULID
      const line = `a line with id=${text}, and more`;
      if (sure.includes(name)) assert.equal(places(line), `${name} ${text}`);
      else if (name !== "julid") assert.equal(places(line), "", line);
      if (format.search?.mixed) continue; // not all look random enough
      if (/[+/]/.test(text)) continue; // find looks only at words
      assert.equal(places(line, { formats: [format] }), `${name} ${text}`);
      tested++;
    }
  }
  assert.ok(tested > 500, `${tested} IDs`);
});

test("the formats are a list", () => {
  const text = "id=01M8C0Z182G7KYHRJXJG7DJ13N";
  for (const formats of ["", "ulid", ["ulid"], lookup("ulid"), null, false, [undefined], [basic]]) {
    const want = /^RangeError: formats: want a list of formats of "sortid", such as \[scru128\]$/;
    assert.throws(() => new Finder({ formats }), want, String(formats));
    assert.throws(() => find(text, { formats }), want, String(formats));
  }
  assert.equal(find(text, { formats: undefined }).length, 1);
  assert.equal(find(text, { formats: [lookup("ulid")] }).length, 1);
  assert.equal(find(text, { formats: [] }).length, 0);
});

test("a Finder remembers hashes", () => {
  const finder = new Finder();
  const id = scru160.generate().hex;
  assert.equal(finder.find(id).length, 1);
  for (let i = 0; i < 20; i++) finder.find("da39a3ee5e6b4b0d3255bfef95601890afd8070" + i % 10);
  assert.equal(finder.find(id).length, 0);
  for (let i = 0; i < 200; i++) finder.find(id);
  assert.equal(finder.find(id).length, 1);
});

// The bytes are fixed. Three in a hundred random UUIDs have a plausible time, and count as IDs if
// they come first in a text.
test("random text holds no IDs", () => {
  const stream = createCipheriv("aes-128-ctr", Buffer.alloc(16, "key"), Buffer.alloc(16));
  const random = (size) => stream.update(Buffer.alloc(size));
  let text = "";
  for (let i = 0; i < 32; i++) text += random(1 << 16).toString(["base64", "hex"][i % 2]) + "\n";
  for (let i = 0; i < 5000; i++) {
    const bytes = random(16);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    const uuid = bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    text += uuid + "\n" + random(20).toString("hex") + "\n";
  }
  assert.deepEqual(find(text, options([])).map(({ start, end }) => text.slice(start, end)), []);
});

test("strip removes what is around an ID", () => {
  for (const [text, want, ...names] of [
    ["x", "x"], [" x\n", "x", "blanks"], ['"x",', "x", "comma", "quotes"],
    ["{'x'};", "x", "comma", "braces", "quotes"], ["<x>", "x", "brackets"],
    ["urn:uuid:017fef39-c264-1ba5-6a94-83188841e05a", "017fef39-c264-1ba5-6a94-83188841e05a",
      "urn:uuid:"],
    ["0x0027692f10061c62", "0027692f10061c62", "0x"],
    ["\\x017fef39c2641ba56a9483188841e05a", "017fef39c2641ba56a9483188841e05a", "\\x"],
    ["0x12", "0x12"], ['"', '"'], [",", ","], ["", ""],
    ["C8EE9-34SR0-07G5Q-94QKK-XFRFV-8B", "C8EE934SR007G5Q94QKKXFRFV8B", "hyphens"],
  ]) assert.deepEqual(strip(text), { text: want, stripped: names }, text);
});

test("IDs of other formats are detected", () => {
  for (const [text, names, time] of [
    ["018bcfe5-68b1-7a5c-92d1-0123456789ab", "uuidv7 scru128", "2023-11-14T22:13:20.177Z"],
    ["018bcfe568b17a5c92d10123456789ab", "uuidv7 scru128", "2023-11-14T22:13:20.177Z"],
    ["919108f7-52d1-4320-9bac-f847db4148a8", "uuidv4"], ["919108f752d143209bacf847db4148a8", ""],
    ["c232ab00-9414-11ec-b3c8-9f6bdeced846", "uuidv1", "2022-02-22T19:22:22.000Z"],
    ["1ec9414c-232a-6b00-b3c8-9f6bdeced846", "uuidv6", "2022-02-22T19:22:22.000Z"],
    ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "uuidv1", "1997-02-03T17:43:12.216Z"],
    ["f81d4fae-7dec-1100-a765-00a0c91e6bf6", ""], // its time, in 1811, is not plausible
    ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "ulid", "2016-07-30T23:54:10.259Z"],
    ["01c0qnnazzbe7bzwmh07sg077e", "ulid typeid", "2017-12-07T05:02:39.615Z"], // and a UUIDv5
    ["01h455vb4pex5vsknk084sn02q", "typeid ulid", "2023-06-30T03:34:18.518Z"], // and a UUIDv7
    ["user_01h455vb4pex5vsknk084sn02q", "typeid", "2023-06-30T03:34:18.518Z"],
    [scru128.parse("0372ijojuxuhjsfkeryi2mrtm").uuid, "scru128", "2022-04-03T11:40:14.308Z"],
  ]) {
    const found = detect(text);
    assert.equal(found.map(({ id }) => id.format.name).join(" "), names, text);
    assert.equal(found[0]?.id.milli && formatTime(found[0].id.milli), time, text);
  }
});
