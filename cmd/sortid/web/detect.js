// Guesses the format of a text.
import { formats } from "./all.js";
import { attempt } from "./errors.js";
import { explain } from "./explain.js";
import { NOT_UUID, formatTime, isHex, shapes } from "./id.js";
import { ours } from "./ours.js";

export const DAY = 86_400_000; // milliseconds

export function plausibleRange(format, now = Date.now()) {
  return { from: format.plausibleFrom, to: now + 365 * DAY };
}

export function plausible(id, now = Date.now()) {
  const { timed, milli } = id;
  if (!timed) return true;
  const { from, to } = plausibleRange(timed, now);
  return from <= milli && milli <= to;
}

// Whether the time is plausible, and a generator of the format can have made the ID.
export const probable = (id, now) => plausible(id, now) && id.format.layout.every(
  ({ name, constant, value = 0 }) => !constant || id.fields[name] === BigInt(value));

// Whether the letters have the case that the format writes. In hex and uuid, that is lower case.
export function usualCase({ text: { folds_case: folds, symbols } }, encoding, text) {
  if (encoding !== "text") return !/[A-Z]/.test(text);
  return !folds || (symbols.includes("a") ? !/[A-Z]/.test(text) : !/[a-z]/.test(text));
}

export const fixedBits = ({ layout }) =>
  layout.reduce((n, { kind, bits }) => n + (kind === "fixed" ? bits : 0), 0);

// The lower the rank, the more probable the reading. UUIDs come first, because a text seldom has a
// UUID's variant and version by chance. Decimal integers follow, then our formats, then other
// formats, and at last texts that look like words.
function rank({ id: { format, prefix }, encoding, wordLike }, text) {
  const { generates } = format;
  if (encoding === "int") return -1;
  if (fixedBits(format) > 4) return -2;
  if (wordLike && !generates) return 16;
  return (generates ? Object.keys(shapes).indexOf(encoding) : prefix ? 7 : 8) +
    (usualCase(format, encoding, text) ? 0 : 4);
}

// Any number can be an ID of several formats. The time nearest to now is the most probable, with
// handicaps for an unusual field, a rare format and a time after tomorrow. As in package format.
function unlikeliness({ id }, now) {
  const { search = {}, layout } = id.format;
  const unusual = layout.filter((f) => f.usual && id.field(f) > BigInt(f.usual)).length;
  const past = now - id.milli;
  const years = (search.rarity ?? 0) * 8 + unusual * 8 + (past < -DAY ? 30 : 0);
  return Math.floor((years * 365 * DAY + Math.abs(past)) / 3_600_000);
}

// The pattern of a format's texts. Most texts that fit it are IDs, and an error takes much longer.
function patternOf({ text }) {
  const { symbols, groups = [], lengths, folds_case: folds, prefix, aliases } = text;
  const set = (own) => {
    const all = [...own, ...Object.keys(aliases ?? {})].join("");
    return `[${all.replace(/[\\\]^-]/g, "\\$&")}]`;
  };
  const sizes = `{${Math.min(...lengths)},${Math.max(...lengths)}}`;
  const parts = groups.length > 1 && symbols[0] !== " "
    ? groups.map(({ before = "", digits, symbols: own = symbols }) =>
      `${before}${set(own)}{${digits}}`)
    : [set(symbols) + sizes];
  return new RegExp(`^${prefix ? (prefix.min > 0 ? "[^]*_" : "([^]*_)?") : ""}${parts.join("")}(-|$)`, folds ? "i" : "");
}

const patterns = new Map(formats.filter(({ codec }) => codec).map((f) => [f, patternOf(f)]));
const number = /^[0-9]+$/;

// For each length, the formats and encodings that a text may have.
const ways = new Map();

function waysOf(length) {
  if (!ways.has(length)) {
    ways.set(length, formats.flatMap((format) => {
      const { text: { lengths = [], prefix }, width, max, guess, encodings } = format;
      const fits = {
        text: prefix ? length >= Math.min(...lengths) : lengths.includes(length),
        uuid: length === 36, hex: length === width / 4, int: length <= String(max).length,
      };
      return (guess ?? encodings).filter((encoding) => fits[encoding])
        .map((encoding) => ({ format, encoding }));
    }));
  }
  return ways.get(length);
}

// An ID in an encoding, if the text is one.
function readAs(format, encoding, text) {
  if (encoding === "text") {
    const fits = !patterns.has(format) || patterns.get(format).test(text);
    return fits && shapes.text(format, text)
      ? attempt(() => format.parseAs(encoding, text)) : undefined;
  }
  const fits = encoding === "int" ? number.test(text) && text[0] !== "0"
    : encoding === "hex" ? isHex(text) : !NOT_UUID.test(text);
  if (!fits) return undefined;
  const value = BigInt(encoding === "int" ? text : `0x${text.replaceAll("-", "")}`);
  return value <= format.max && format.admits(value) ? format.make(value) : undefined;
}

// detect without a reason.
export function detectAll(text, now) {
  const found = [];
  const add = (format, encoding, id) => {
    if (!id || !probable(id, now)) return;
    const usual = text.length >= format.text.lengths?.[0];
    const likely = usual ? id.inner : id.inner?.name === format.within?.[0];
    if (format.within && !id.prefix && !likely) return;
    const { word_like: words, mixed } = format.search ?? {};
    const wordLike = encoding === "text" &&
      Boolean(words || mixed && !alternates(text.slice(id.prefix.length)));
    const reason = (id.prefix ? format.text.alphabet : shapes[encoding](format, text)) +
      (format.text.mark ?? "");
    found.push({ id, encoding, reason, wordLike });
  };
  if (text.length > 256) return found; // longer than any ID
  const typed = text.includes("_") ? ours.filter((format) => format.typedPrefix(text)) : [];
  for (const format of typed) add(format, "text", attempt(() => format.parseTyped(text)));
  for (const { format, encoding } of waysOf(text.length)) {
    if (!typed.includes(format)) add(format, encoding, readAs(format, encoding, text));
  }
  // A text seldom has a prefix and the right length by chance, so typed IDs come first. They come
  // last if the format's IDs look like words.
  const place = (candidate) => {
    const { id: { format, prefix }, wordLike } = candidate;
    const typed = prefix && format.generates ? (wordLike ? 99 : -99) : 0;
    return typed + rank(candidate, text.slice(prefix.length));
  };
  if (found.length < 2) return found;
  return found.sort((a, b) => (a.encoding === "int" && b.encoding === "int"
    ? unlikeliness(a, now) - unlikeliness(b, now) : place(a) - place(b)));
}

// An empty list of candidates, which says why it is empty. The reason takes longer than the search.
class Nothing extends Array {
  #reason;
  #explain;

  constructor(explain) {
    super();
    this.#explain = explain;
  }

  get reason() { return this.#reason ??= this.#explain(); }
}

export function detect(text, now = Date.now()) {
  const found = detectAll(text, now);
  return found.length > 0 ? found : new Nothing(() => explain(text, now));
}

// Whether digits, small letters and capitals alternate as in random texts: at least three times. If
// there are only letters, they must alternate at about every second character.
export function alternates(text) {
  const changes = (text.match(/[0-9]+|[a-z]+|[A-Z]+|[^0-9a-zA-Z]+/g) ?? []).length - 1;
  return changes >= 3 && (/[^a-zA-Z]/.test(text) || changes * 2 >= text.length - 3);
}

const WRAPPERS = Object.entries({
  '""': "quotes", "''": "quotes", "``": "quotes", "()": "brackets", "[]": "brackets",
  "<>": "brackets", "{}": "braces",
});

export function strip(text) {
  if (/^[0-9A-Za-z_][0-9A-WYZa-wyz_][0-9A-Za-z_]*$/.test(text)) return { text, stripped: [] };
  const stripped = new Set();
  const take = (rest, name) => {
    if (rest !== text) stripped.add(name);
    text = rest;
  };
  for (let before; before !== text;) {
    before = text;
    take(text.trim(), "blanks");
    take(text.replace(/(?<=[^])[,;]$/, ""), "comma");
    for (const [[open, close], name] of WRAPPERS) {
      const inside = text.length > 2 && text.startsWith(open) && text.endsWith(close);
      if (inside) take(text.slice(1, -1), name);
    }
    take(text.replace(/^urn:uuid:(?=.)/i, ""), "urn:uuid:");
    take(text.replace(/^(.{22})==$/, "$1"), "padding");
  }
  const [, prefix, digits] = /^(0x|0X|\\x)([0-9a-fA-F]+)$/.exec(text) ?? [];
  const isLong = ({ generates, width }) => generates && width / 4 === digits.length;
  if (prefix && formats.some(isLong)) take(digits, prefix);
  const rest = text.replaceAll("-", ""); // people write hyphens between groups of symbols
  const isGrouped = (format) => format.text.grouped && attempt(() => format.parse(rest));
  if (text.length < 64 && text.includes("-") && formats.some(isGrouped)) take(rest, "hyphens");
  return { text, stripped: [...stripped] };
}


// What is known about an ID, with the names of the JSON of "sortid inspect -o json".
export function describe(id) {
  const { format, milli, fields, notes } = id;
  return {
    format: format.name,
    ...Object.fromEntries(format.encodings.map((encoding) => [encoding, id[encoding]])),
    ...(milli !== undefined && { time: formatTime(milli) }),
    fields: Object.fromEntries(Object.entries(fields).map(([name, n]) => [name, String(n)])),
    ...(notes.length > 0 && { notes }),
  };
}
