// The IDs that a text may be, and how probable each is.
import { formats } from "./all.js";
import { attempt } from "./errors.js";
import { rules } from "./formats.js";
import { startOf } from "./basic.js";
import { NOT_UUID, afterLabels, isHex, labelled, shapes } from "./id.js";
import { ours } from "./ours.js";

const DAY = 86_400_000; // milliseconds

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

export const oneCase = (text) => !/[a-z]/.test(text) || !/[A-Z]/.test(text);

// Whether texts have small and capital letters with different values.
const hasCases = ({ text: { folds_case: folds, symbols = "" } }) => !folds && !oneCase(symbols);

export const fixedBits = ({ layout }) =>
  layout.reduce((n, { kind, bits }) => n + (kind === "fixed" ? bits : 0), 0);

// Whether the ID inside is of the format that generators use.
const holdsUsual = ({ format: { within }, inner }) => Boolean(within) && inner?.name === within[0];

// The lower the rank, the more probable the reading. UUIDs come first, because a text seldom has a
// UUID's variant and version by chance. Decimal integers follow, then our formats, then other
// formats, and at last texts that look like words.
function rank({ id, encoding, wordLike }, text) {
  const { format, prefix } = id;
  const { generates } = format;
  if (encoding === "int") return -1;
  if (fixedBits(format) > 4) return -2;
  if (wordLike && !generates) return 16;
  // One ULID in eight has a UUID's version and variant.
  if (format.within && format.text.prefix && !holdsUsual(id)) return 13;
  const usual = usualCase(format, encoding, text) &&
    !(encoding === "text" && hasCases(format) && oneCase(text));
  return (generates ? Object.keys(shapes).indexOf(encoding) : prefix && format.text.prefix ? 7 : 8) +
    (usual ? 0 : 4);
}

// Any number can be an ID of several formats. The time nearest to now is the most probable, with
// handicaps for an unusual field, a rare format and a time after tomorrow. As in package format.
function unlikeliness({ id }, now) {
  const { search = {}, layout } = id.format;
  const unusual = layout.filter((f) => f.usual && id.field(f) > BigInt(f.usual)).length;
  const past = now - id.milli;
  const years = (search.rarity ?? 0) * rules.rare + unusual * rules.unusual +
    (past < -DAY ? rules.ahead : 0);
  return Math.floor((years * 365 * DAY + Math.abs(past)) / 3_600_000);
}

// How many symbols random texts have that look like a text.
function alphabetSize(text) {
  const letters = /[a-z]/.test(text) + /[A-Z]/.test(text);
  const others = text.includes("-") + text.includes("_");
  if (letters === 0) return 10 + others;
  if (!/[g-z]/i.test(text)) return 16 + others;
  return 26 * letters + 10 * /[0-9]/.test(text) + others;
}

// The share of random texts like this one that can be read as an ID of the format, too.
function chance(id, encoding) {
  const { format: { readable, within, width, generates, text: { prefix: rule } } } = id;
  const start = startOf(id.prefix);
  const own = encoding === "text" ? id.text.slice(start.length) : id[encoding];
  // A prefix that is not of the format says nothing.
  const prefix = encoding === "text" && (generates || rule) ? start : "";
  const symbols = alphabetSize(prefix + own);
  const known = rule?.known ? symbols ** (prefix.length - 1) / rule.known.length : 1;
  const texts = symbols ** own.length * (prefix ? symbols : 1) * known;
  // With a prefix, the ID inside may have no time.
  const n = within && prefix ? 2 ** width : readable[encoding]?.[own.length] ?? 0;
  return Math.min(n / texts, 1);
}

class Candidate {
  constructor(members) { Object.assign(this, members); }

  get chance() { return chance(this.id, this.encoding); }

  // Whether texts that are no IDs of the format often have this reading.
  get doubtful() { return this.wordLike || this.chance >= rules.doubt; }
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

// The most probable first. A text without IDs gives an empty list.
export function detectAll(text, now) {
  const found = [];
  // The ID is of a part of the text, after a prefix that is not of the format.
  const add = (format, encoding, id, part = text) => {
    if (!id || !probable(id, now)) return;
    const likely = part.length >= format.text.lengths?.[0] ? id.inner : holdsUsual(id);
    if (format.within && !id.prefix && !likely) return;
    const { word_like: words, mixed } = format.search ?? {};
    const own = part.slice(startOf(id.prefix).length);
    const wordLike = encoding === "text" && Boolean(words || mixed && !alternates(own));
    const reason = (encoding === "text" ? format.text.alphabet : shapes[encoding](format, part)) +
      (format.text.mark ?? "");
    if (part !== text) {
      id = labelled(id, text.slice(0, -own.length - 1));
      const isKnown = ({ id: other }) => other.prefix === id.prefix && other.value === id.value &&
        (other.format === format || holdsUsual(other));
      if (!id || encoding === "text" && format.text.prefix && part === own ||
        found.some(isKnown)) return;
    }
    found.push(new Candidate({ id, encoding, reason, wordLike }));
  };
  if (text.length > 256) return found; // longer than any ID
  const typed = text.includes("_") ? ours.filter((format) => format.typedPrefix(text)) : [];
  for (const format of typed) add(format, "text", attempt(() => format.parseTyped(text)));
  for (const { format, encoding } of waysOf(text.length)) {
    if (!typed.includes(format)) add(format, encoding, readAs(format, encoding, text));
  }
  // After such a prefix, there must not be a word.
  for (const rest of afterLabels(text)) {
    for (const { format, encoding } of waysOf(rest.length)) {
      const { word_like: words, mixed } = format.search ?? {};
      const random = encoding !== "text" || !words && !mixed && /[0-9]/.test(rest) &&
        !(hasCases(format) && oneCase(rest));
      if (random) add(format, encoding, readAs(format, encoding, rest), rest);
    }
  }
  // A text seldom has a prefix and the right length by chance, so typed IDs come first. They come
  // last if the format's IDs look like words.
  const place = (candidate) => {
    const { id: { format, prefix }, encoding, wordLike } = candidate;
    const typed = prefix && encoding === "text" && format.generates ? (wordLike ? 99 : -99) : 0;
    return typed + rank(candidate, text.slice(startOf(prefix).length));
  };
  if (found.length < 2) return found;
  return found.sort((a, b) => (a.encoding === "int" && b.encoding === "int"
    ? unlikeliness(a, now) - unlikeliness(b, now) : place(a) - place(b)));
}

// Whether digits, small letters and capitals alternate as in random texts: at least three times. If
// there are only letters, they must alternate at about every second character.
export function alternates(text) {
  const changes = (text.match(/[0-9]+|[a-z]+|[A-Z]+|[^0-9a-zA-Z]+/g) ?? []).length - 1;
  return changes >= 3 && (/[^a-zA-Z]/.test(text) || changes * 2 >= text.length - 3);
}
