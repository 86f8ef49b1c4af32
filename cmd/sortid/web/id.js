// IDs and formats with all that sortid knows about them.
import {
  BasicFormat, BasicID, PREFIX, byteLength, failLength, failRange, integerOf, startOf,
} from "./basic.js";
import { attempt, fail, reject, want, wantOptions, wantText } from "./errors.js";
import { more } from "./formats.js";

export const ones = (bits) => (1n << BigInt(bits)) - 1n;

// From the year 10000 on, toISOString writes a sign and six digits, and RFC 3339 has neither.
export const formatTime = (milli) => new Date(milli).toISOString().replace(/^\+0*/, "");
const readTime = (text) => Date.parse(String(text).replace(/^\d{5}-/, "+0$&"));

// The integer in which each field has the bits that content(field) returns.
const join = (fields, content) =>
  fields.reduce((all, field) => all | content(field) << BigInt(field.low), 0n);

export class ID extends BasicID {
  get text() { return this.format.codec ? super.text : undefined; }
  get uuid() {
    if (this.format.width !== 128) return undefined;
    return this.hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  toString() { return this.text ?? startOf(this.prefix) + this[this.format.encodings[0]]; }

  in(encoding) {
    this.format.checkEncoding(encoding);
    return this[encoding];
  }

  ticks(format = this.format) {
    const { timestamp } = format;
    if (timestamp.length === 1) return this.field(timestamp[0]);
    return timestamp.reduce((all, f) => all | this.field(f) << BigInt(f.shift ?? 0), 0n);
  }

  // The format of the ID inside this one, such as the UUID in a TypeID. Its fields stand for the
  // fields of this ID.
  get inner() { return this.format.innerOf(this); }

  get fields() {
    const named = (this.inner ?? this.format).layout.filter(({ name }) => name);
    return Object.fromEntries(named.map((field) => [field.name, this.field(field)]));
  }

  get timed() {
    const format = this.inner ?? this.format;
    return format.time && format;
  }

  get milli() {
    const { timed } = this;
    return timed?.milliOf(this.ticks(timed));
  }

  get time() { return this.milli === undefined ? undefined : new Date(this.milli); }

  get notes() {
    const { format, fields } = this;
    const notes = [];
    if (format.time?.reserved && [0n, format.lastTick].includes(this.ticks())) {
      notes.push("the timestamp is reserved: no generator makes this ID");
    }
    for (const { name, constant, value = "0", part, part_bits: width } of format.layout) {
      if (constant && fields[name] !== BigInt(value)) {
        notes.push(`the ${name} is ${fields[name]}: generators write ${value}`);
      }
      if (part && fields[width] > 0n) {
        notes.push(`${part} ${fields[name] & ones(fields[width])}, in ${fields[width]} bits`);
      }
    }
    return notes;
  }
}

// What follows the underscores of a text.
export const afterLabels = (text) =>
  Array.from(text.matchAll(/_/g), ({ index }) => text.slice(index + 1));

// An ID with a prefix that its format may not have, such as "user" before a ULID; undefined if the
// text cannot be a prefix.
export const labelled = ({ format, value }, label) =>
  (/^[A-Za-z](\w{0,61}[0-9A-Za-z])?$/.test(label) ? new ID(format, value, label) : undefined);

// Finds a wrong character in a text that is as long as a UUID.
export const NOT_UUID =
  /[^0-9a-f-]|(?<=^(.{8}|.{13}|.{18}|.{23}))[^-]|(?<!^(.{8}|.{13}|.{18}|.{23}))-/i;

export const isHex = (text) => /^[0-9a-fA-F]+$/.test(text);

// For each encoding, a function that returns why a text can be in the encoding, or false.
export const shapes = {
  text: (format, text) => format.hasLength(text) && format.text.alphabet,
  uuid: (format, text) => text.length === 36 && "a UUID's 36 characters",
  hex: (format, text) =>
    text.length === format.width / 4 && isHex(text) && `${text.length} hexadecimal digits`,
  int: (format, text) => /^[0-9]+$/.test(text) && "a decimal integer",
};

export function failAt(format, text, offset, what = "not in the alphabet") {
  const c = JSON.stringify(String.fromCodePoint(text.codePointAt(offset)));
  fail(format, text, "symbol", `${c} at offset ${offset} is ${what}`, offset);
}

export class Format extends BasicFormat {
  #isPlain; // whether the codec alone reads all texts

  // The members are a row of formats.js, and for formats that sortid makes also the members of the
  // basic format.
  constructor(members, codec) {
    const { layout, time, max } = members;
    const width = layout.reduce((sum, { bits }) => sum + bits, 0);
    const timestamp = layout.filter(({ kind }) => kind === "time");
    const constant = layout.filter(({ kind }) => kind === "fixed" || kind === "zero");
    const mask = join(constant, ({ bits }) => ones(bits));
    const fixed = join(constant, ({ value = 0 }) => BigInt(value));
    layout.forEach(Object.freeze);
    const { epoch = "1970", first = epoch, plausible_from: from = "2010" } = time ?? {};
    super({
      bits: width, generates: false, ...members, ID, codec: codec ?? null, width, timestamp, mask, fixed,
      max: max ?? ones(width) & ~mask | fixed,
      ...(time && {
        epoch: readTime(epoch), firstMilli: readTime(first), last: readTime(time.last),
        plausibleFrom: readTime(from), tick: time.tick_ns / 1e6,
      }),
    });
    this.#isPlain = this.generates && !this.text.hex;
  }

  // The largest timestamp.
  get lastTick() { return new ID(this, this.max).ticks(); }

  milliOf(ticks) {
    if (this.tick >= 1) return this.epoch + Number(ticks) * this.tick;
    return this.epoch + Number(ticks * BigInt(this.time.tick_ns) / 1_000_000n);
  }

  innerOf() { return undefined; }

  // The prefix of a text of a format whose texts have one.
  prefixOf() { return ""; }

  parse(text) {
    if (this.#isPlain && typeof text === "string") return this.make(this.codec.read(text, this));
    return this.parseAs(this.encodings[0], text);
  }

  checkEncoding(encoding) {
    if (this.encodings.includes(encoding)) return;
    reject(`${this.name} IDs have no encoding ${JSON.stringify(encoding)}; their encodings are ` +
      this.encodings.join(", "));
  }

  parseAs(encoding, text) {
    this.checkEncoding(encoding);
    wantText(this.name, text);
    if (encoding !== "text") return this.#parseDigits(encoding, text);
    if (this.text.hex && byteLength(text) === this.width / 4) return this.#parseDigits("hex", text);
    const value = this.codec.read(text, this);
    return this.generates ? this.make(value) : this.#checked(text, value, this.prefixOf(text));
  }

  #parseDigits(encoding, text) {
    const { length } = text;
    const [want, symbols, what] = {
      hex: [this.width / 4, /[^0-9a-f]/i, "not a hexadecimal digit"],
      int: [length, /[^0-9]/, "not a decimal digit"],
      uuid: [36, NOT_UUID, "not the hexadecimal digit or hyphen of a UUID"],
    }[encoding];
    if (text === "" || length !== want && byteLength(text) !== want) {
      failLength(this, text, encoding === "int" ? "an integer's decimal digits"
        : encoding === "hex" ? `${want} hexadecimal digits` : "a UUID's 36 characters");
    }
    const offset = text.search(symbols);
    if (offset >= 0) failAt(this, text, offset, what);
    if (encoding !== "int") return this.#checked(text, BigInt("0x" + text.replaceAll("-", "")));
    return this.#checked(text, length > 64 ? this.max + 1n : BigInt(text));
  }

  allowsPrefix(prefix) {
    if (!this.generates) reject(`${this.name} IDs are never typed`);
    return super.allowsPrefix(prefix);
  }

  read(text) { return this.#isPlain ? super.read(text) : this.parse(text).value; }

  typedPrefix(text) {
    wantText("typedPrefix", text);
    if (!this.generates || this.text.symbols.includes("_") && this.hasLength(text)) return "";
    const end = this.separator(text);
    const typed = end > 0 && PREFIX.test(text.slice(0, end)) && this.hasLength(text.slice(end + 1));
    return typed ? text.slice(0, end) : "";
  }

  parseAny(text) {
    wantText(`${this.name}.parseAny`, text);
    try {
      return this.#parseAny(text);
    } catch (error) {
      for (const rest of this.search?.word_like ? [] : afterLabels(text)) {
        const found = attempt(() => this.#parseAny(rest));
        const size = found && text.length - rest.length + startOf(found.id.prefix).length - 1;
        const id = found && labelled(found.id, text.slice(0, size));
        if (id) return { ...found, id };
      }
      throw error;
    }
  }

  #parseAny(text) {
    if (this.typedPrefix(text)) return { id: this.parseTyped(text), encoding: "text" };
    const fits = (encoding) => this.encodings.includes(encoding) && shapes[encoding](this, text);
    const encoding = Object.keys(shapes).find(fits) ?? this.encodings[0];
    return { id: this.parseAs(encoding, text), encoding };
  }

  hasLength(text) { return this.text.lengths?.includes(text.length) ?? false; }

  fromInt(value) { return this.#checked(String(value), integerOf(this, value)); }

  fromClone(clone) {
    const { value, prefix = "" } = clone ?? want(`${this.name}.fromClone`, "a clone of an ID", clone);
    const id = this.fromInt(value);
    return prefix ? this.parseAny(startOf(prefix) + id).id : id;
  }

  fromFields(values) { return this.join(this, values); }

  join({ layout, fixed }, values) {
    const where = `${this.name}.fromFields`;
    const names = layout.map(({ name }) => name).filter((name) => name);
    wantOptions(where, values, names);
    const variable = layout.filter(({ name, kind }) => name && kind !== "fixed");
    return this.fromInt(fixed | join(variable, ({ name, bits }) => {
      const content = integerOf(this, values[name], `fromFields, ${name}`);
      if (content >= 0n && content >> BigInt(bits) === 0n) return content;
      return reject(`${this.name}: ${name} has ${bits} bits, and ${content} does not fit`);
    }));
  }

  // Whether a value from 0 to max is an ID of the format.
  admits(value) { return (value & this.mask) === this.fixed && (this.codec?.holds?.(value) ?? true); }

  #checked(text, value, prefix) {
    if (value < 0n || value > this.max) failRange(this, text, value);
    if (this.admits(value)) return new ID(this, value, prefix);
    return fail(this, text, "layout", "the fixed bits of the format have other values");
  }

  first(time) {
    const milli = Number(time);
    const { name, ordered } = this;
    if (!ordered) reject(`${name} IDs are not in order of time, so two IDs cannot bound a time range`);
    const inside = Number.isFinite(milli) && milli >= this.epoch;
    const nanos = inside ? BigInt(Math.floor(milli) - this.epoch) * 1_000_000n : -1n;
    const ticks = nanos / BigInt(this.time.tick_ns);
    if (!inside || ticks > this.lastTick) {
      if (typeof time !== "number" && !time?.getTime) want(name, "a Date or Unix milliseconds", time);
      const shown = Number.isNaN(milli) ? "this time" : formatTime(milli);
      const end = this.milliOf(this.lastTick + 1n) - 1;
      reject(`${name} IDs cannot show ${shown}: their times are from ${formatTime(this.epoch)} ` +
        `to ${formatTime(end)}`);
    }
    const part = ({ shift = 0, bits }) => ticks >> BigInt(shift) & ones(bits);
    return new ID(this, this.fixed | join(this.timestamp, part));
  }

  bounds(from, to) {
    const first = this.first(from);
    const end = this.first(to);
    if (from >= to) reject("the range is empty: its end must be later than its start");
    if (first.value < end.value) return { first, end };
    return reject(`the range lies within one tick, and ${this.name} IDs show times only in ticks ` +
      `of ${this.tick} ms`);
  }

  generator(options) {
    if (!this.generates) reject(`sortid reads ${this.name} IDs, and makes none`);
    return super.generator(options);
  }
}

// Adds what else is known to a format that sortid makes.
export function complete(format) {
  const { text, layout, ...rest } = more[format.name];
  return new Format({
    ...format, ...rest, text: { ...format.text, ...text },
    layout: format.layout.map((field, i) => ({ ...field, ...layout[i] })),
  }, format.codec);
}
