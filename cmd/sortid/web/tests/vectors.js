// Checks a format against its vectors, in Node and in browsers.
import { formatTime } from "../sortid.js";

export function checkVectors(format, vectors) {
  const faults = [];
  const same = (note, what, got, want) => {
    if (got !== want) faults.push(`${format.name}, ${note}: ${what} is ${got}, want ${want}`);
  };
  for (const v of vectors.valid) {
    let id;
    try {
      id = format.parse(v.text);
    } catch (error) {
      faults.push(`${format.name}, ${v.note}: ${error}`);
      continue;
    }
    const text = v.canonical ?? v.text;
    const encodings = { text, int: v.int, hex: v.hex, ...v.encodings };
    for (const [encoding, want] of Object.entries(encodings)) {
      same(v.note, encoding, id.in(encoding), want);
      same(v.note, `${encoding}, parsed`, format.parseAs(encoding, want).int, v.int);
      // If a decimal integer is as long as a text, parseAny reads it as a text.
      if (encoding === "text" || !format.text.lengths.includes(want.length)) {
        same(v.note, `${encoding}, parsed in any encoding`, format.parseAny(want).id.int, v.int);
      }
    }
    same(v.note, "time", formatTime(id.milli), v.time);
    for (const [name, want] of Object.entries(v.fields)) {
      same(v.note, name, id.fields[name].toString(), want);
    }
    same(v.note, "number of fields", Object.keys(id.fields).length, Object.keys(v.fields).length);
    same(v.note, "the ID of the fields", format.fromFields(v.fields).text, text);
    same(v.note, "the ID of the bytes", format.fromBytes(id.bytes).text, text);
    same(v.note, "JSON", JSON.stringify(id), JSON.stringify(text));
    same(v.note, "the clone", format.fromClone(structuredClone(id)).text, text);
  }
  for (const v of vectors.invalid) {
    try {
      faults.push(`${format.name}, ${v.note}: parsed as ${format.parse(v.text).text}`);
    } catch (error) {
      same(v.note, "reason", error.reason, v.reason);
      same(v.note, "offset", error.offset, v.offset);
    }
  }
  return { checked: vectors.valid.length + vectors.invalid.length, faults };
}
