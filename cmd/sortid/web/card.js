// Draws an ID for people, as "sortid inspect" does without colours.
import { formatTime } from "./id.js";
import { as, nameOf } from "./read.js";
import { distance, zoneTime } from "./words.js";

function wrap(text, width, margin) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1);
    if (line && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines.join(`\n${" ".repeat(margin)}`);
}

// The fields with a letter for each. Bits without a name have a dot.
function bands({ format, inner }) {
  const used = new Set();
  return (inner ?? format).layout.map((field) => {
    if (!field.name) return { ...field, letter: "." };
    const letter = [...field.name + "abcdefgh"].find((c) => /[a-z]/.test(c) && !used.has(c));
    used.add(letter);
    return { ...field, letter };
  });
}

// A map of the bits. Letters below the bits show the fields.
function bitMap(id, fields, width) {
  const bits = id.value.toString(2).padStart(id.format.width, "0");
  const letters = fields.map(({ letter, bits: n }) => letter.repeat(n)).join("");
  const size = width < 2 + 8 * 9 ? 32 : 64;
  const lines = [];
  for (let start = 0; start < bits.length; start += size) {
    for (const row of [bits, letters]) {
      lines.push(`  ${row.slice(start, start + size).match(/.{8}/g).join(" ")}`);
    }
  }
  return lines;
}

function fieldTable(id, fields, width) {
  const rows = fields.filter(({ name }) => name).map((field) => ({
    ...field, size: String(field.bits), value: String(id.field(field)),
  }));
  const widest = (column) => Math.max(...rows.map(({ [column]: text }) => text.length));
  const [name, size, value] = [widest("name"), Math.max(2, widest("size")), widest("value")];
  const margin = 4 + name + 2 + size + 5 + 2 + value + 2;
  return rows.map((row) => `  ${row.letter} ${row.name.padEnd(name)}  ` +
    `${row.size.padStart(size)} bits  ${row.value.padStart(value)}  ` +
    wrap(row.meaning, Math.max(width - margin, 12), margin));
}

export function card(reading, { width = 80, now = Date.now(), zone = "UTC" } = {}) {
  const { id, reason, stripped, others, input, notes = id.notes } = reading;
  const { milli, format: { encodings, summary } } = id;
  const title = `${nameOf(reading)}  ${id}`;
  const line = (name, text) => `  ${name.padEnd(6)}  ${wrap(text, Math.max(width - 10, 30), 10)}`;
  const fields = bands(id);
  const onlyText = encodings.length === 1 && encodings[0] === "text"; // the bits are not known
  return [
    title.length + 2 + summary.length <= width ? `${title}  ${summary}` : title, "",
    ...(onlyText ? [] : [...bitMap(id, fields, width), ""]),
    ...fieldTable(id, fields, width), "",
    ...(milli === undefined ? [] : [
      line("time", `${formatTime(milli)}, ${distance(milli, now)}`),
      line("local", zoneTime(milli, zone)),
    ]),
    ...encodings.slice(1).map((encoding) => line(encoding, id.in(encoding))),
    ...notes.map((note) => line("note", note)),
    line("read", `${as(reading)}: ${reason}`),
    ...(stripped.length > 0
      ? [line("from", `${JSON.stringify(input)}, without ${stripped.join(", ")}`)] : []),
    ...others.map((other) => line("or", `${as(other)}: ${other.reason}` +
      (other.id.milli === undefined ? "" : `: ${formatTime(other.id.milli)}`))),
    "",
  ].join("\n");
}
