// The text encodings of formats that sortid only reads.
import { byteLength, failLength } from "./basic.js";
import { fail } from "./errors.js";
import { failAt, ones } from "./id.js";
import { digitsOf } from "./integer.js";

// Cuts a text into its prefix, with the underscore, and its ID. Returns undefined if the format has
// a prefix and the text has none.
export function cutPrefix({ prefix }, text) {
  if (!prefix) return ["", text];
  const end = text.lastIndexOf("_");
  if (end < 0 && prefix.min === 0) return ["", text];
  const name = text.slice(0, Math.max(end, 0));
  const fits = name.length >= prefix.min && name.length <= prefix.max && /^[a-z]/.test(name);
  const known = prefix.known?.includes(name) ??
    (!name.endsWith("_") && [...name].every((c) => prefix.symbols.includes(c)));
  return fits && known ? [text.slice(0, end + 1), text.slice(end + 1)] : undefined;
}

// The symbols of the Bech32 check, computed from the text before it.
function bech32(text, symbols) {
  const [, prefix, word] = /^(.*_)(.*)$/.exec(text.toLowerCase());
  const codes = Array.from(prefix, (c) => c.charCodeAt(0));
  const digits = Array.from(word, (c) => Math.max(0, symbols.indexOf(c)));
  const parts = [codes.map((c) => c >> 5), 0, codes.map((c) => c & 31), digits, 0, 0, 0, 0];
  let sum = 1;
  for (const value of parts.flat()) {
    const top = sum >>> 25;
    sum = (sum & 0x1ffffff) << 5 ^ value;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((generator, i) => {
      if (top >> i & 1) sum ^= generator;
    });
  }
  return [15, 10, 5, 0].map((shift) => symbols[(sum ^ 1) >> shift & 31]).join("");
}

// A text consists of a prefix in some formats, and of groups of digits. Each group is a number. If
// the first symbol is a blank, blanks fill up a short text.
export class Codec {
  #rules;
  #groups;
  #limited; // groups in which not every number of the right width has digits
  #size; // the characters of a whole text after its prefix

  constructor({ layout, text: rules }) {
    const bits = layout.reduce((sum, field) => sum + field.bits, 0);
    const most = rules.check_suffix ? rules.lengths[0] : Math.max(...rules.lengths);
    this.#rules = rules;
    this.#groups = (rules.groups ?? [{ bits }]).map((group) => {
      const { before = "", low = 0, digits: size = most, symbols = rules.symbols } = group;
      return {
        before, size, low: BigInt(low), most: ones(group.bits), characters: new Array(size).fill(0),
        digits: digitsOf(symbols, rules.folds_case), limit: BigInt(symbols.length) ** BigInt(size),
      };
    });
    this.#size = this.#groups.reduce((n, { before, size }) => n + before.length + size, 0);
    this.#limited = this.#groups.filter(({ limit, most }) => rules.groups && limit <= most);
  }

  get #blank() { return this.#rules.symbols[0] === " "; }

  read(text, format) {
    const { lengths, alphabet, check_suffix: suffix, symbols, aliases } = this.#rules;
    const [prefix, whole] = cutPrefix(this.#rules, text) ?? [];
    if (whole === undefined || !lengths.includes(byteLength(whole))) {
      failLength(format, text, alphabet);
    }
    const end = suffix ? text.indexOf("-", prefix.length) : -1;
    if (end >= 0) {
      const check = text.slice(end + 1);
      if (check.toLowerCase() !== bech32(text.slice(0, end), symbols)) {
        fail(format, text, "check", `the check ${JSON.stringify(check)} at the end is wrong for ` +
          "the rest: was a character changed?");
      }
    }
    let word = end < 0 ? whole : text.slice(prefix.length, end);
    if (suffix && word.length !== this.#size) failLength(format, text, alphabet);
    if (this.#blank) {
      if (word.includes(" ")) failAt(format, text, text.indexOf(" "));
      word = word.padEnd(this.#size);
    }
    if (aliases) word = Array.from(word, (c) => aliases[c] ?? c).join("");
    let value = 0n;
    let at = 0;
    for (const { before, size, digits, low, most } of this.#groups) {
      if (!word.startsWith(before, at)) failAt(format, text, prefix.length + at);
      at += before.length;
      const part = word.slice(at, at + size);
      const number = digits.read(part);
      if (number === undefined) {
        const wrong = [...part].findIndex((c) => digits.read(c) === undefined);
        failAt(format, text, prefix.length + at + wrong);
      }
      // If low is negative, the lowest bits must be zero.
      if (number > most || low < 0n && number & ones(-low)) {
        fail(format, text, "range", "it has more bits than an ID");
      }
      value |= number << low;
      at += size;
    }
    return value;
  }

  write(value) {
    const text = this.#groups.map(({ before, digits, low, most, characters }) =>
      before + digits.write(value >> low & most, characters)).join("");
    if (this.#blank) return text.trimEnd();
    const { symbols: [zero], lengths: [usual] } = this.#rules;
    let start = 0;
    while (text.length - start > usual && text[start] === zero) start++;
    return text.slice(start);
  }

  // Whether a value of the right width has a text.
  holds(value) {
    if (this.#limited.some(({ low, most, limit }) => (value >> low & most) >= limit)) return false;
    const text = this.#blank ? this.write(value) : "";
    return !this.#blank || this.#rules.lengths.includes(text.length) && !text.includes(" ");
  }
}
