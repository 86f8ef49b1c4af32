// Checks a format against its vectors, in Node and in a browser alike.
import { formatTime } from "../sortid.js";

/** Returns how many vectors were checked, and what is wrong. */
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
    const forms = { text, int: v.int, hex: v.hex, ...v.forms };
    for (const [form, want] of Object.entries(forms)) {
      same(v.note, form, id.in(form), want);
      same(v.note, `${form}, parsed`, format.parseAs(form, want).int, v.int);
      // A decimal integer as long as a text is read as that.
      if (form === "text" || !format.textLengths.includes(want.length)) {
        same(v.note, `${form}, parsed in any form`, format.parseAny(want).id.int, v.int);
      }
    }
    same(v.note, "time", formatTime(id.milli), v.time);
    for (const [name, want] of Object.entries(v.fields)) same(v.note, name, id.fields[name].toString(), want);
    same(v.note, "number of fields", Object.keys(id.fields).length, Object.keys(v.fields).length);
    same(v.note, "the ID of the fields", format.fromFields(v.fields).text, text);
    same(v.note, "the ID of the bytes", format.fromBytes(id.bytes).text, text);
    same(v.note, "JSON", JSON.parse(JSON.stringify(id)).int, v.int);
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
