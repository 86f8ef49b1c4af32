// What every program needs of a format and its IDs. A bundle for one format has only this.
import { digitsOf } from "./integer.js";
import { fail, reject } from "./errors.js";

// Lengths of texts count bytes, as in Go.
export const byteLength = (text) => new TextEncoder().encode(text).length;

// The error for the first character of a text that is no digit.
export function failAtSymbol(format, text, digits) {
  let at = 0;
  while (digits.read(text[at]) !== undefined) at++;
  const [c] = text.slice(at);
  fail(format, text, "symbol",
    `not a symbol of the alphabet: '${c}' at offset ${at}, want ${format.wants.symbol}`, at);
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
      const size = byteLength(text);
      if (lengths.includes(size)) failAtSymbol(format, text, digits);
      return fail(format, text, "length",
        `wrong length: ${size} bytes, want ${format.wants.length}`);
    },
    write: (integer) => digits.write(integer, characters),
  };
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
  get text() { return this.format.codec.write(this.value); }
  get int() { return String(this.value); }
  get hex() { return this.value.toString(16).padStart(this.format.width / 4, "0"); }
  get bytes() { return Uint8Array.from(this.hex.match(/../g), (byte) => parseInt(byte, 16)); }

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

  compare({ value }) { return this.value < value ? -1 : this.value > value ? 1 : 0; }

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

  // The members are a row of formats.js, the class of generators, and a class of IDs and a codec.
  constructor(members) {
    const { width, text, max, codec = plainText(text) } = members;
    Object.assign(this, { ID: BasicID, ...members, codec });
    this.max = BigInt(max ?? 2n ** BigInt(width) - 1n);
    Object.freeze(this);
  }

  make(value, prefix) { return new this.ID(this, value, prefix); }

  parse(text) { return this.make(this.codec.read(text, this)); }

  fromInt(value) {
    const integer = BigInt(value);
    if (integer >= 0n && integer <= this.max) return this.make(integer);
    return fail(this, String(value), "range", `larger than ${this.max}, the largest ID`);
  }

  fromBytes(bytes) {
    const size = this.width / 8;
    if (bytes.length !== size) reject(`${this.name}: ${bytes.length} bytes, want ${size}`);
    return this.fromInt(bytes.reduce((all, byte) => all << 8n | BigInt(byte), 0n));
  }

  generator(options = {}) { return new this.Generator(this, options); }

  generate() { return (this.#shared ??= this.generator()).generate(); }
}
