// What every program needs of a format and its IDs. A bundle for one format has only this.
import { digitsOf } from "./integer.js";
import { attempt, fail, reject, want } from "./errors.js";

// Lengths of texts count bytes, as in Go.
export const byteLength = (text) => new TextEncoder().encode(text).length;

// The error for a text of the wrong length.
export function failLength(format, text, want) {
  fail(format, text, "length", `wrong length: ${byteLength(text)} bytes, want ${want}`);
}

// The error for the first character of a text that is no digit.
export function failAtSymbol(format, text, digits) {
  let at = 0;
  while (digits.read(text[at]) !== undefined) at++;
  const [c] = text.slice(at);
  fail(format, text, "symbol",
    `not a symbol of the alphabet: '${c}' at offset ${at}, want ${format.wants.symbol}`, at);
}

// The integer that a program passes. A Number that is not a safe integer may be rounded.
export function integerOf(format, value, where = "fromInt") {
  const { name } = format;
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    reject(`${name}: the Number ${value} is not a safe integer; pass a BigInt or the text`);
  }
  if (!/^(number|bigint|string)$/.test(typeof value)) {
    want(`${name}.${where}`, "a BigInt, a Number or digits", value);
  }
  return /^-?[0-9]+$/.test(value) ? BigInt(value)
    : fail(format, value, "symbol", "want decimal digits");
}

// The error for an integer from which a format makes no ID.
export function failRange(format, text, value) {
  fail(format, text, "range", value < 0n ? `negative, want 0 to ${format.max}`
    : `larger than ${format.max}, the largest ID`);
}

// A text encoding in which the digits of an integer are the text.
export function plainText({ symbols, folds_case: folds, lengths }) {
  const digits = digitsOf(symbols, folds);
  const characters = new Array(lengths.at(-1)).fill(0);
  return {
    read(text, format, word = text) {
      const { length } = word;
      const integer = lengths.includes(length) ? digits.read(word) : undefined;
      if (integer !== undefined) return integer;
      if (lengths.includes(byteLength(text))) failAtSymbol(format, text, digits);
      return failLength(format, text, format.wants.length);
    },
    write: (integer) => digits.write(integer, characters),
  };
}

// The text before an ID with a prefix, such as user_.
export const startOf = (prefix) => prefix && `${prefix}_`;

// The prefixes of typed IDs.
export const PREFIX = /^([a-z]([a-z_]{0,61}[a-z])?)?$/;

function failPrefix(format, text, prefix, want = "at most 63 characters a-z and _") {
  return fail(format, text, "prefix", `wrong prefix ${JSON.stringify(prefix)}, want ${want}`);
}

// An ID's own properties are its value and prefix, which structuredClone and postMessage keep.
export class BasicID {
  #format;

  constructor(format, value, prefix = "") {
    this.#format = format;
    this.value = value;
    this.prefix = prefix;
    Object.freeze(this);
  }

  get format() { return this.#format; }
  get text() { return startOf(this.prefix) + this.format.codec.write(this.value); }
  get int() { return String(this.value); }
  get hex() { return this.value.toString(16).padStart(this.format.width / 4, "0"); }
  get bytes() { return Uint8Array.from(this.hex.match(/../g), (byte) => parseInt(byte, 16)); }

  withPrefix(prefix) {
    const { format, value } = this;
    if (typeof prefix !== "string") want("withPrefix", "a string", prefix);
    if (!format.allowsPrefix(prefix)) failPrefix(format, startOf(prefix) + format.make(value), prefix);
    return format.make(value, prefix);
  }

  field({ low, bits }) { return BigInt.asUintN(bits, this.value >> BigInt(low)); }

  get fields() {
    const named = this.format.layout.filter(({ name }) => name);
    return Object.fromEntries(named.map((field) => [field.name, this.field(field)]));
  }

  get milli() {
    const { epoch, tick, layout } = this.format;
    return epoch + Number(this.field(layout.find(({ name }) => name === "timestamp"))) * tick;
  }

  get time() { return new Date(this.milli); }

  compare(other) {
    const value = other?.value;
    if (typeof value !== "bigint") want("compare", "an ID", other);
    return this.value < value ? -1 : this.value > value ? 1 : 0;
  }

  equals(other) {
    return this.value === other?.value && this.format.name === other.format?.name;
  }

  toString() { return this.text; }
  toJSON() { return this.toString(); }
  [Symbol.toPrimitive](hint) { return hint === "number" ? this.value : this.toString(); }

  // As in Scru128ID(0372ijojuxuhjsfkeryi2mrtm).
  [Symbol.for("nodejs.util.inspect.custom")]() {
    return this.format.name.replace(/./, (c) => c.toUpperCase()) + `ID(${this})`;
  }
}

export class BasicFormat {
  #shared; // a generator without options
  #prefix = ""; // of the last typed ID
  #isPlain; // whether IDs have no underscore

  // The members are a row of formats.js, the class of generators, and a class of IDs and a codec.
  constructor(members) {
    const { width, text, max, codec = plainText(text) } = members;
    Object.assign(this, { ID: BasicID, ...members, codec });
    this.max = BigInt(max ?? 2n ** BigInt(width) - 1n);
    this.#isPlain = !text.symbols?.includes("_");
    Object.freeze(this);
  }

  make(value, prefix) { return new this.ID(this, value, prefix); }

  parse(text) {
    if (typeof text !== "string") want(`${this.name}.parse`, "a string", text);
    return this.make(this.codec.read(text, this));
  }

  allowsPrefix(prefix) {
    if (prefix !== this.#prefix && !PREFIX.test(prefix)) return false;
    this.#prefix = prefix;
    return true;
  }

  // The position of the last underscore that cannot belong to the ID.
  separator(text) {
    return this.#isPlain ? text.lastIndexOf("_")
      : text.indexOf("_", text.length - this.text.lengths.at(-1) - 1);
  }

  // The integer of a text without a prefix.
  read(text) { return this.codec.read(text, this); }

  parseTyped(text, wanted) {
    if (typeof text !== "string") want(`${this.name}.parseTyped`, "a string", text);
    // Most texts have the prefix of the text before.
    const known = this.#prefix;
    const { length } = known;
    if (length && text[length] === "_" && (wanted ?? known) === known && text.startsWith(known) &&
      this.#isPlain && text.indexOf("_", length + 1) < 0) {
      return this.make(this.read(text.slice(length + 1)), known);
    }
    const end = this.separator(text);
    const found = end > 0 ? text.slice(0, end) : "";
    const prefix = wanted ?? found;
    if (typeof prefix !== "string") want(`${this.name}.parseTyped, prefix`, "a string", prefix);
    if (!this.allowsPrefix(prefix) || end === 0 && wanted === undefined) failPrefix(this, text, prefix);
    if (found === prefix && end !== 0) return this.make(this.read(text.slice(end + 1)), prefix);
    const start = startOf(prefix); // the last underscore may be in the ID
    const rest = () => this.make(this.read(text.slice(start.length)), prefix);
    const longer = found === start || found.length > prefix.length && PREFIX.test(found);
    const id = text.startsWith(start) && (longer ? attempt(rest) : rest());
    if (id) return id;
    return failPrefix(this, text, found, JSON.stringify(prefix));
  }

  isValid(text) { return attempt(() => this.parse(text)) !== undefined; }

  fromInt(value) {
    const integer = integerOf(this, value);
    return integer >= 0n && integer <= this.max ? this.make(integer) : failRange(this, value, integer);
  }

  fromBytes(bytes) {
    const size = this.width / 8;
    const where = `${this.name}.fromBytes`;
    if (typeof bytes !== "object" || !bytes) want(where, `${size} bytes`, bytes);
    if (bytes.length !== size) reject(`${where}: ${bytes.length} bytes, want ${size}`);
    let value = 0n;
    for (let i = 0; i < size; i++) {
      const byte = bytes[i];
      if ((byte & 255) !== byte) reject(`${where}: byte ${i} is ${byte}, want 0 to 255`);
      value = value << 8n | BigInt(byte);
    }
    return this.fromInt(value);
  }

  generator(options = {}) { return new this.Generator(this, options); }

  generate() { return (this.#shared ??= this.generator()).generate(); }
}
