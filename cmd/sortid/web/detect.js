// Guesses the format of a text.
import { formats } from "./all.js";
import { attempt, want, wantText } from "./errors.js";
import { explain } from "./explain.js";
import { rules } from "./formats.js";
import { formatTime } from "./id.js";
import { detectAll } from "./likely.js";

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
  wantText("detect", text);
  if (typeof now !== "number") want("detect, now", "Unix milliseconds", now);
  const found = detectAll(text, now);
  return found.length > 0 ? found : new Nothing(() => explain(text, now));
}

// A sign, digits, also in groups of three, and the suffix of a literal, or a fraction and an exponent.
// Without a point or a plus sign, an exponent could be a part of a hexadecimal number.
const NUMERAL = new RegExp("^(-?)([0-9]{1,50}|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+)" +
  "(?:(n|u?l{1,2}|u)|\\.(0+)|(?:[.,]([0-9]{0,50}))?e(\\+?[0-9]{1,2}))?$", "i");

// What spreadsheets and programs make of an integer: 1.5E+18, 15.0, 15n or -15. If the number is not
// exactly the ID, the function "note" says so.
function readNumber(text) {
  const [, sign, written, suffix, zeros, fraction = "", exponent] = NUMERAL.exec(text) ?? [];
  const digits = written?.replace(/[,_]/g, "");
  if (sign) {
    const value = BigInt.asUintN(64, -BigInt(digits));
    const isSigned = !zeros && !exponent && BigInt(digits) <= 2n ** 63n;
    const note = () => `a signed 64-bit integer; the unsigned value is ${value}`;
    return isSigned ? { digits: String(value), form: "sign", note } : undefined;
  }
  if (!exponent) {
    return zeros ? { digits, form: "fraction", note: rounded(digits, 0) }
      : suffix ? { digits, form: "suffix" }
        : digits !== written && { digits, form: "separators" };
  }
  const power = Number(exponent);
  const whole = (digits + fraction.slice(0, power).padEnd(power, "0")).replace(/^0+/, "");
  const isWhole = whole && !/[1-9]/.test(fraction.slice(power)) && (fraction || exponent[0] === "+");
  const cut = power > fraction.length ? 10 ** (power - fraction.length) : 0;
  return isWhole ? { digits: whole, form: "exponent", note: rounded(whole, cut) } : undefined;
}

// The note about a floating-point number. If a digit is not written, cut is the last digit's value.
function rounded(digits, cut) {
  const bits = BigInt(Number(digits)).toString(2).length - 53;
  const step = bits > 0 ? 2 ** bits : 0;
  if (step + cut === 0) return undefined;
  const what = cut ? "rounded: the ID is lost" : "a floating-point number, which may be rounded to a " +
    `multiple of ${step}: then the ID is lost`;
  return ({ format: { layout, tick } }) => {
    const time = layout.find(({ kind }) => kind === "time");
    const off = () => Math.ceil(Math.ceil((step + cut) / 2 / 2 ** time.low) * tick);
    return time ? `${what}; its time is known to ±${off()} ms` : what;
  };
}

export function strip(text) {
  wantText("strip", text);
  const isPlain = /^[0-9A-Za-z_][0-9A-WYZa-wyz_][0-9A-Za-z_]*$/.test(text);
  if (isPlain && (/^[0-9]+$/.test(text) || !NUMERAL.test(text))) {
    return { text, stripped: [] };
  }
  const stripped = new Set();
  const take = (rest, name) => {
    if (rest !== text) stripped.add(name);
    text = rest;
  };
  for (let before; before !== text;) {
    before = text;
    take(text.replace(/^[\s\u200b]+|[\s\u200b]+$/g, ""), "blanks");
    take(text.replace(/(?<=[^])[,;]$/, ""), "comma");
    for (const [open, close, name] of rules.wrappers) {
      const inside = text.length > 2 && text.startsWith(open) && text.endsWith(close);
      if (inside) take(text.slice(1, -1), name);
    }
    take(text.replace(/^(?:new )?[A-Za-z][\w.]*\(([^]+)\)$/, "$1"), "call"); // new ObjectId('...')
    take(text.replace(/^'(?=[^']+$)/, ""), "apostrophe"); // as spreadsheets write texts of digits
    take(text.replace(/^=(?=")/, ""), "=");
    take(text.replace(/^urn:uuid:(?=.)/i, ""), "urn:uuid:");
    take(text.replace(/^(.{22})==$/, "$1"), "padding");
  }
  const [, prefix, digits] = /^(0x|0X|\\x)([0-9a-fA-F]+)$/.exec(text) ?? [];
  const isLong = ({ generates, width }) => generates && width / 4 === digits.length;
  if (prefix && formats.some(isLong)) take(digits, prefix);
  const rest = text.replaceAll("-", ""); // people write hyphens between groups of symbols
  const isGrouped = (format) => format.text.grouped && attempt(() => format.parse(rest));
  if (text.length < 64 && text.includes("-") && formats.some(isGrouped)) take(rest, "hyphens");
  const number = readNumber(text);
  if (number) take(number.digits, number.form);
  return { text, stripped: [...stripped], ...(number?.note && { note: number.note }) };
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
