// Reads IDs of every format that sortid knows, and makes its own formats.
//
// A format reads and writes IDs; an ID is a big integer with a format. See README.md for examples,
// and sortid.d.ts for a description. "sortid page" puts this file, without imports and exports,
// into a page.

// "go generate" writes the table of formats from package format.
import { table } from "./formats.js";

export class ParseError extends Error {
  constructor(format, input, reason, offset, detail) {
    const shown = JSON.stringify(input.length > 64 ? input.slice(0, 64) + "…" : input);
    super(`${format}: cannot parse ${shown}: ${detail}`);
    Object.assign(this, { name: "ParseError", reason, offset, detail });
  }
}

// Lengths of texts are in bytes.
const byteLength = (text) => new TextEncoder().encode(text).length;

const ones = (bits) => (1n << BigInt(bits)) - 1n;
const HEX = "0123456789abcdef";

// The digit that each character means.
function digitsOf(symbols, { folds_case: folds, aliases = {} }) {
  const digits = new Map();
  const add = (c, digit) => {
    for (const like of folds ? [c.toLowerCase(), c.toUpperCase()] : [c]) digits.set(like, digit);
  };
  [...symbols].forEach(add);
  for (const [c, symbol] of Object.entries(aliases)) add(c, symbols.indexOf(symbol));
  return digits;
}

// The integer of digits, computed in steps that fit the 53 bits of a double.
function integerOf(digits, base) {
  let value = 0n;
  let part = 0;
  let scale = 1;
  for (const digit of digits) {
    part = part * base + digit;
    scale *= base;
    if (scale > 2 ** 46) {
      value = value * BigInt(scale) + BigInt(part);
      part = 0;
      scale = 1;
    }
  }
  return value * BigInt(scale) + BigInt(part);
}

// A text's prefix, with its underscore, and its ID; undefined if the format has a prefix and the
// text has none.
function cutPrefix({ prefix }, text) {
  if (!prefix) return ["", text];
  const end = text.lastIndexOf("_");
  const name = text.slice(0, Math.max(end, 0));
  const fits = name.length >= prefix.min && name.length <= prefix.max && /^[a-z]/.test(name);
  const known = prefix.known?.includes(name) ??
    (!name.endsWith("_") && [...name].every((c) => prefix.symbols.includes(c)));
  return fits && known ? [text.slice(0, end + 1), text.slice(end + 1)] : undefined;
}

// The prefixes of typed IDs.
const PREFIX = /^([a-z]([a-z_]{0,61}[a-z])?)?$/;

// The symbols of the Bech32 check for the text before it.
function bech32(text, symbols) {
  const [, prefix, word] = /^(.*_)(.*)$/.exec(text.toLowerCase());
  const codes = Array.from(prefix, (c) => c.charCodeAt(0));
  const values = [...codes.map((c) => c >> 5), 0, ...codes.map((c) => c & 31)];
  let sum = 1;
  for (const v of [...values, ...Array.from(word, (c) => Math.max(0, symbols.indexOf(c))), 0, 0, 0, 0]) {
    const top = sum >>> 25;
    sum = (sum & 0x1ffffff) << 5 ^ v;
    [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3].forEach((g, i) => { if (top >> i & 1) sum ^= g; });
  }
  return [15, 10, 5, 0].map((shift) => symbols[(sum ^ 1) >> shift & 31]).join("");
}

// A format's text encoding: parse returns an integer and a prefix, or throws a ParseError. A text
// is a row of groups, each a number. If the first symbol is a blank, blanks fill up a text that is
// shorter than its groups.
function codec({ name, width: bits, text: rules }) {
  const { alphabet, symbols, lengths, check_modulus: modulus, rotated = 0 } = rules;
  const groups = (rules.groups ?? [{ bits }]).map((group) => {
    const own = group.symbols ?? symbols;
    return { before: "", low: 0, ...group, symbols: own, table: digitsOf(own, rules) };
  });
  const whole = groups.reduce((n, { before, digits = 0 }) => n + before.length + digits, 0);
  const blank = symbols[0] === " ";
  const tail = (value) => (modulus ? value % BigInt(modulus) : 0n); // the bits after the ID
  const numberOf = ({ low, bits: width }, value) =>
    (low < 0 ? value << BigInt(-low) | tail(value) : value >> BigInt(low) & ones(width));
  const write = (value) => {
    let text = "";
    for (const group of groups) {
      const { before, digits = lengths[0], symbols: own } = group;
      const base = BigInt(own.length);
      let part = "";
      for (let rest = numberOf(group, value); rest > 0n; rest /= base) part = own[Number(rest % base)] + part;
      text += before + part.padStart(digits, own[0]);
    }
    return (text.slice(text.length - rotated) + text.slice(0, text.length - rotated)).trimEnd();
  };
  return {
    parse(text) {
      const wrong = (reason, offset, detail) => new ParseError(name, text, reason, offset, detail);
      const badSymbol = (c, offset) =>
        wrong("symbol", offset, `${JSON.stringify(c)} at offset ${offset} is no symbol of the format`);
      let [prefix, word] = cutPrefix(rules, text) ?? [];
      if (word === undefined) throw wrong("length", -1, `want ${alphabet}`);
      const length = byteLength(word);
      if (!lengths.includes(length)) {
        throw wrong("length", -1, `${length} characters, where ${lengths.join(" or ")} are wanted`);
      }
      const dash = rules.check_suffix ? word.lastIndexOf("-") : -1;
      if (dash >= 0) {
        const end = prefix.length + dash;
        if (text.slice(end + 1).toLowerCase() !== bech32(text.slice(0, end), symbols)) {
          throw wrong("check", -1, "the check at the end does not fit: the text is mistyped");
        }
        word = word.slice(0, dash);
      }
      if (blank && word.includes(" ")) throw badSymbol(" ", text.indexOf(" "));
      const letters = [...word.padEnd(blank ? whole : 0)];
      let value = 0n;
      let at = 0;
      for (const { before, digits = length, symbols: own, table, bits: width, low } of groups) {
        const literal = before.length;
        const read = letters.slice(at, at + literal + digits).map((c, i) => {
          const digit = i < literal ? (c === before[i] ? 0 : undefined) : table.get(c);
          if (digit === undefined) throw badSymbol(c, prefix.length + at + i);
          return digit;
        });
        at += read.length;
        const part = integerOf([...read.slice(rotated), ...read.slice(0, rotated)], own.length);
        if (part >> BigInt(width)) throw wrong("range", -1, "it has more bits than an ID");
        value |= low < 0 ? part >> BigInt(-low) : part << BigInt(low);
        if (low < 0 && (part & ones(-low)) !== tail(value)) {
          throw wrong("check", -1, modulus ? "the check value does not fit: the text is mistyped"
            : "it has more bits than an ID");
        }
      }
      return { value, prefix };
    },
    write,
    // Whether an integer has a text.
    holds(value) {
      const fits = ({ digits, symbols: { length: base }, ...group }) =>
        !digits || numberOf(group, value) < BigInt(base) ** BigInt(digits);
      if (!groups.every(fits)) return false;
      const text = blank ? write(value) : "";
      return !blank || lengths.includes(text.length) && !text.includes(" ");
    },
  };
}

// A time as RFC 3339 in UTC to the millisecond, as the command prints it.
export const formatTime = (milli) =>
  new Date(milli).toISOString().replace(/^\+0*/, ""); // of years from 10000 on

// An immutable ID; compare with compare, equals or its value.
export class ID {
  constructor(format, value, prefix = "") {
    Object.assign(this, { format, value, prefix });
    Object.freeze(this);
  }

  toString() { return this[this.format.encodings[0]]; }

  get text() { return codecs.has(this.format) ? this.prefix + codecs.get(this.format).write(this.value) : undefined; }
  get hex() { return this.value.toString(16).padStart(this.format.width / 4, "0"); }
  get int() { return this.value.toString(); }
  get uuid() {
    if (this.format.width !== 128) return undefined;
    return this.hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  withPrefix(prefix) {
    return this.format.parseTyped((prefix && `${prefix}_`) + new ID(this.format, this.value), prefix);
  }

  in(encoding) {
    this.format.checkEncoding(encoding);
    return this[encoding];
  }

  field(field) { return this.value >> BigInt(field.low) & ones(field.bits); }

  get fields() {
    const named = this.format.layout.filter(({ name }) => name);
    return Object.fromEntries(named.map((field) => [field.name, this.field(field)]));
  }

  // The timestamp, in ticks.
  ticks(format = this.format) {
    return format.timestamp.reduce((all, f) => all | this.field(f) << BigInt(f.shift ?? 0), 0n);
  }

  // The format that tells the time; undefined without a time.
  get timed() {
    const inner = this.format.within?.map(lookup).find((format) => format.time && format.admits(this.value));
    return inner ?? (this.format.time && this.format);
  }

  // Unix milliseconds; undefined without a time.
  get milli() {
    const format = this.timed;
    return format && format.epoch + Number(this.ticks(format) * BigInt(format.time.tick_ns) / 1_000_000n);
  }

  get time() { return this.milli === undefined ? undefined : new Date(this.milli); }

  get bytes() { return Uint8Array.from(this.hex.match(/../g), (byte) => parseInt(byte, 16)); }

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

  compare(other) { return this.value < other.value ? -1 : this.value > other.value ? 1 : 0; }
  equals(other) { return this.format === other.format && this.value === other.value; }

  toJSON() {
    const all = { format: this.format.name };
    for (const encoding of this.format.encodings) all[encoding] = this[encoding];
    if (this.milli !== undefined) all.time = formatTime(this.milli);
    all.fields = Object.fromEntries(
      Object.entries(this.fields).map(([name, value]) => [name, value.toString()]));
    if (this.notes.length) all.notes = this.notes;
    return all;
  }
}

const codecs = new Map();
const fullHex = new Map(); // of formats whose texts may also be hexadecimal digits

// A format: a row of "sortid formats -o json", with methods.
export class Format {
  constructor(row) {
    Object.assign(this, row);
    let low = this.width = this.layout.reduce((sum, { bits }) => sum + bits, 0);
    this.layout = this.layout.map((field) => Object.freeze({ ...field, low: low -= field.bits }));
    this.timestamp = this.layout.filter((field) => field.kind === "time");
    // The bits that all IDs share, and their values.
    this.mask = this.fixed = 0n;
    for (const { kind, bits, low: place, value = 0 } of this.layout) {
      if (kind !== "fixed" && kind !== "zero") continue;
      this.mask |= ones(bits) << BigInt(place);
      this.fixed |= BigInt(value) << BigInt(place);
    }
    this.max = BigInt(row.max ?? ones(this.width) & ~this.mask | this.fixed);
    if (this.time) {
      const milli = (name) => Number(new Date(String(this.time[name]).length > 24 ? `+0${this.time[name]}` : this.time[name]));
      this.epoch = milli("epoch");
      this.firstMilli = milli("first");
      this.last = milli("last");
      this.plausibleFrom = milli("plausible_from") || Date.UTC(2010);
      this.tick = this.time.tick_ns / 1e6;
      this.lastTick = new ID(this, this.max).ticks();
    }
    if (this.text.symbols) codecs.set(this, codec(this));
    if (this.text.hex) {
      const hex = { symbols: HEX, folds_case: this.text.folds_case, lengths: [this.width / 4] };
      fullHex.set(this, codec({ ...this, text: hex }));
    }
    Object.freeze(this);
  }

  parse(text) { return this.parseAs(this.encodings[0], text); }

  checkEncoding(encoding) {
    if (this.encodings.includes(encoding)) return;
    throw new RangeError(`${this.name} IDs have no encoding ${JSON.stringify(encoding)}; ` +
      `their encodings are ${this.encodings.join(", ")}`);
  }

  parseAs(encoding, text) {
    this.checkEncoding(encoding);
    if (encoding === "text") {
      const hex = fullHex.has(this) && byteLength(text) === this.width / 4;
      const { value, prefix } = (hex ? fullHex : codecs).get(this).parse(text);
      return this.#checked(text, value, prefix);
    }
    const [length, symbols, what] = {
      hex: [this.width / 4, /[^0-9a-f]/i, "not a hexadecimal digit"],
      int: [undefined, /[^0-9]/, "not a decimal digit"],
      uuid: [36, NOT_UUID, "not the hexadecimal digit or hyphen of a UUID"],
    }[encoding];
    const wrong = (reason, offset, detail) => new ParseError(this.name, text, reason, offset, detail);
    if (length ? text.length !== length : text === "") {
      throw wrong("length", -1, `${text.length} characters, where the encoding ${encoding} has ${length ?? "some"}`);
    }
    const offset = text.search(symbols);
    if (offset >= 0) {
      const c = String.fromCodePoint(text.codePointAt(offset));
      throw wrong("symbol", offset, `${JSON.stringify(c)} at offset ${offset} is ${what}`);
    }
    if (encoding !== "int") return this.#checked(text, BigInt("0x" + text.replace(/-/g, "")));
    return this.#checked(text, text.length > 64 ? this.max + 1n : BigInt(text));
  }

  // The position of the last underscore that cannot belong to the ID.
  #separator(text) {
    const { symbols, lengths } = this.text;
    return symbols.includes("_") ? text.indexOf("_", text.length - Math.max(...lengths) - 1) : text.lastIndexOf("_");
  }

  // Reads a typed ID with the wanted prefix. If want is undefined, it may have any prefix or none.
  parseTyped(text, want) {
    if (!this.generates) throw new RangeError(`${this.name} IDs are never typed`);
    const wrong = (detail) => new ParseError(this.name, text, "prefix", -1, detail);
    const end = this.#separator(text);
    const found = text.slice(0, Math.max(end, 0));
    const prefix = want ?? found;
    if (!PREFIX.test(prefix) || end === 0 && want === undefined) {
      throw wrong(`wrong prefix ${JSON.stringify(prefix)}, want at most 63 characters a-z and _`);
    }
    const start = prefix && `${prefix}_`;
    if (text.startsWith(start)) {
      try {
        return new ID(this, this.parse(text.slice(start.length)).value, start);
      } catch (error) { // its prefix may be a longer one
        if (found.length <= prefix.length || !PREFIX.test(found)) throw error;
      }
    }
    throw wrong(`wrong prefix ${JSON.stringify(found)}, want ${JSON.stringify(want)}`);
  }

  // A typed ID's prefix and underscore, or "" if the text is not as long as a typed ID.
  typedPrefix(text) {
    if (!this.generates || this.text.symbols.includes("_") && this.hasLength(text)) return "";
    const start = text.slice(0, this.#separator(text) + 1);
    return start.length > 1 && PREFIX.test(start.slice(0, -1)) && this.hasLength(text.slice(start.length)) ? start : "";
  }

  // Reads any encoding, perhaps with a prefix: {id, encoding}.
  parseAny(text) {
    if (this.typedPrefix(text)) return { id: this.parseTyped(text), encoding: "text" };
    const fits = (encoding) => this.encodings.includes(encoding) && shapes[encoding](this, text);
    const encoding = Object.keys(shapes).find(fits) ?? this.encodings[0];
    return { id: this.parseAs(encoding, text), encoding };
  }

  hasLength(text) {
    const word = cutPrefix(this.text, text)?.[1];
    return word !== undefined && (this.text.lengths?.includes(word.length) ?? false);
  }

  hasSymbols(text) {
    const digits = digitsOf(this.text.symbols ?? "", this.text);
    return [...text].every((c) => digits.has(c));
  }

  fromInt(value) { return this.#checked(String(value), BigInt(value)); }

  fromBytes(bytes) {
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (bytes.length === this.width / 8) return this.#checked(hex, BigInt("0x" + hex));
    throw new RangeError(`${this.name}: ${bytes.length} bytes, want ${this.width / 8}`);
  }

  fromFields(values) {
    let value = this.fixed;
    for (const field of this.layout) {
      const content = field.name && field.kind !== "fixed" ? BigInt(values[field.name]) : 0n;
      if (content < 0n || content >> BigInt(field.bits)) {
        throw new RangeError(`${this.name}: ${field.name} has ${field.bits} bits, and ${content} does not fit`);
      }
      value |= content << BigInt(field.low);
    }
    return this.fromInt(value);
  }

  // Whether an integer has a text, and the bits that all IDs share.
  admits(value) { return (value & this.mask) === this.fixed && (codecs.get(this)?.holds(value) ?? true); }

  #checked(text, value, prefix) {
    const wrong = (reason, detail) => new ParseError(this.name, text, reason, -1, detail);
    if (value < 0n || value > this.max) {
      throw wrong("range", `larger than ${new ID(this, this.max)}, the largest ID`);
    }
    if (!this.admits(value)) throw wrong("layout", "it differs in bits that all IDs of the format share");
    return new ID(this, value, prefix);
  }

  // The smallest ID of a time's tick; a time is a Date or Unix milliseconds.
  first(time) {
    const milli = Number(time);
    if (!this.ordered) throw new RangeError(`${this.name} IDs are not in order of time, so no two of them bound a range`);
    const inside = Number.isFinite(milli) && milli >= this.epoch;
    const ticks = inside ? BigInt(Math.floor(milli) - this.epoch) * 1_000_000n / BigInt(this.time.tick_ns) : -1n;
    if (ticks < 0n || ticks > this.lastTick) {
      const end = this.epoch + Number((this.lastTick + 1n) * BigInt(this.time.tick_ns) / 1_000_000n) - 1;
      throw new RangeError(`${this.name} IDs cannot show ${Number.isNaN(milli) ? "this time" : formatTime(milli)}: ` +
        `their times are from ${formatTime(this.epoch)} to ${formatTime(end)}`);
    }
    const place = (f) => (ticks >> BigInt(f.shift ?? 0) & ones(f.bits)) << BigInt(f.low);
    return new ID(this, this.timestamp.reduce((all, f) => all | place(f), this.fixed));
  }

  // The IDs of the time range are those from first to before end.
  bounds(from, to) {
    const first = this.first(from);
    const end = this.first(to);
    if (!(Number(from) < Number(to))) {
      throw new RangeError("the range is empty: its end must be later than its start");
    }
    if (first.value === end.value) {
      throw new RangeError(`the range lies within one tick, and ${this.name} IDs do not tell ` +
        `times within ${this.tick} ms apart`);
    }
    return { first, end };
  }

  // Options are texts named as in the table; see sortid.d.ts.
  generator(options = {}) {
    const generator = generators[this.name];
    if (!generator) throw new RangeError(`sortid reads ${this.name} IDs, and makes none`);
    return new generator(this, options);
  }

  // The table's options that generator knows.
  get generatorOptions() {
    return (this.options ?? []).filter(({ name }) => name === generators[this.name].option);
  }

  // The next ID of a shared generator without options.
  generate() {
    if (!shared.has(this)) shared.set(this, this.generator());
    return shared.get(this).generate();
  }
}

// For each encoding, a function that says why a text may be in it, if so.
const shapes = {
  text: (format, text) => format.hasLength(text) && format.text.alphabet,
  uuid: (format, text) => text.length === 36 && "a UUID's 36 characters",
  hex: (format, text) => text.length === format.width / 4 && isHex(text) && `${text.length} hexadecimal digits`,
  int: (format, text) => /^[0-9]+$/.test(text) && "a decimal integer",
};

// Matches what is wrong in the 36 characters of a UUID.
const NOT_UUID = /[^0-9a-f-]|(?<=^(.{8}|.{13}|.{18}|.{23}))[^-]|(?<!^(.{8}|.{13}|.{18}|.{23}))-/i;

const shared = new Map();
export class GeneratorError extends Error { name = "GeneratorError"; }

// Returns a function that draws random bits. It fetches many bytes at a time.
function entropy(fill = (bytes) => globalThis.crypto.getRandomValues(bytes)) {
  const pool = new Uint8Array(1024);
  let used = pool.length;
  return (bits) => {
    let value = 0n;
    const bytes = Math.ceil(bits / 8);
    if (used + bytes > pool.length) {
      fill(pool);
      used = 0;
    }
    for (let i = 0; i < bytes; i++) value = value << 8n | BigInt(pool[used + i]);
    pool.fill(0, used, used += bytes);
    return value & (1n << BigInt(bits)) - 1n;
  };
}

// How many milliseconds the clock may go back, or full counters may run ahead of it.
const ALLOWANCE = 10_000;

// A generator keeps its last timestamp. Subclasses start a tick, count in it up to top, and return
// an ID's bits below the timestamp with low.
class Generator {
  constructor(format, { now = Date.now, random } = {}) {
    this.format = format;
    this.random = entropy(random);
    this.now = now;
    this.last = -1; // the timestamp of the last ID
  }

  // The clock in ticks. Browsers round it, some to a tenth of a second.
  clock() {
    const { format } = this;
    const now = this.now();
    if (!(now >= format.firstMilli && now <= format.last)) {
      throw new GeneratorError(`${format.name}: the clock shows a time that no ID can carry`);
    }
    return Math.floor((now - format.epoch) / format.tick);
  }

  generate() {
    const now = this.clock();
    if (now > this.last) return this.begin(now);
    if ((this.last - now) * this.format.tick > ALLOWANCE) return this.behind(now);
    return this.next() ? this.make() : this.full();
  }

  begin(timestamp) {
    this.start(timestamp);
    this.last = timestamp;
    return this.make();
  }

  next() {
    if (this.counter >= this.top) return false;
    this.counter++;
    return true;
  }

  make() {
    return this.format.fromInt(BigInt(this.last) << BigInt(this.format.timestamp[0].low) | this.low());
  }

  // The clock went back too far. Formats with random IDs start afresh.
  behind(now) {
    this.last = -1;
    return this.begin(now);
  }

  // Waits for the next tick, up to half a second.
  full() {
    const deadline = performance.now() + 500;
    while (this.clock() <= this.last) {
      if (performance.now() > deadline) throw new GeneratorError(`${this.format.name}: no ID is left in this tick`);
    }
    return this.begin(this.clock());
  }
}

// Formats with node IDs cannot go on if the clock went back too far.
function refuse(generator) {
  throw new GeneratorError(`${generator.format.name}: the clock is more than ${ALLOWANCE / 1000} seconds behind the last ID`);
}

// A node ID and its size, as in "42/8"; both are as in scru64's document.
function parseNode(text, max, what) {
  const match = /^([0-9]{1,8}|0x[0-9a-fA-F]{1,6})\/([0-9]{1,2})$/.exec(text);
  if (!match) throw new RangeError(`the ${what} must be like 42/8: the ID, a slash, and its size in bits`);
  const id = Number(match[1]);
  const size = Number(match[2]);
  if (size < 1 || size > max) throw new RangeError(`the size of the ${what} is 1 to ${max} bits, not ${size}`);
  if (id >= 2 ** size) throw new RangeError(`${id} is no ${what} of ${size} bits: the largest is ${2 ** size - 1}`);
  return { id: BigInt(id), size };
}

// A generator whose IDs end with a node ID, if one is given, and random bits.
class NodeGenerator extends Generator {
  constructor(format, options, node, width, bits, what) {
    super(format, options);
    const { id, size } = node ? parseNode(node, bits, what) : { id: 0n, size: 0 };
    this.free = width - size; // random bits below the node ID
    this.node = id << BigInt(this.free);
    this.width = BigInt(width);
  }
  low() { return this.counter << this.width | this.node | this.random(this.free); }
}

// The generators of the formats. option is the name of the option that each one knows.
const generators = {
  scru64: class extends Generator {
    static option = "node";
    constructor(format, options) {
      super(format, options);
      if (!options.node) throw new RangeError("scru64 needs a node ID and its size in bits, as in 42/8, that no other generator has");
      const after = /^([0-9a-zA-Z]{12})\/([0-9]{1,2})$/.exec(options.node); // an ID to continue after
      const { id, size } = parseNode(after ? `0/${after[2]}` : options.node, 23, "node ID");
      this.counterSize = 24 - size;
      this.top = ones(this.counterSize);
      this.node = id << BigInt(this.counterSize);
      this.guard = size >= 20 ? 1 : 0; // a bit of the counter that starts at zero
      if (!after) return;
      const { timestamp, node_ctr: low } = format.parse(after[1]).fields;
      this.node = low & ~this.top;
      if (timestamp > 0n) {
        this.last = Number(timestamp);
        this.counter = low & this.top;
      }
    }
    start() { this.counter = this.random(this.counterSize - this.guard); }
    low() { return this.node | this.counter; }
    full() { // takes the next tick ahead of the clock
      if ((this.last + 1 - this.clock()) * this.format.tick > ALLOWANCE) return refuse(this);
      return this.begin(this.last + 1);
    }
    behind() { return refuse(this); }
  },

  scru128: class extends Generator {
    renewed = -Infinity; // when counter_hi was last drawn
    top = ones(24);
    start(timestamp) {
      if (timestamp - this.renewed >= 1000) {
        this.high = this.random(24);
        this.renewed = timestamp;
      }
      this.counter = this.random(24);
    }
    next() {
      if (super.next()) return true;
      this.counter = 0n;
      this.high++;
      return this.high <= this.top;
    }
    low() { return this.high << 56n | this.counter << 32n | this.random(32); }
    full() { // takes the next tick ahead of the clock
      this.high = 0n;
      if (this.last + 1 - this.clock() > ALLOWANCE) return this.behind(this.clock());
      return this.begin(this.last + 1);
    }
    behind(now) {
      this.renewed = -Infinity;
      return super.behind(now);
    }
  },

  scru160: class extends NodeGenerator {
    static option = "node";
    top = ones(16);
    constructor(format, options) { super(format, options, options.node, 96, 16, "node ID"); }
    start() { this.counter = this.random(15); }
  },

  euid: class extends Generator {
    static option = "ext";
    top = ones(32);
    constructor(format, options) {
      super(format, options);
      const match = /^([0-9]{1,5})(?:\/([0-9]{1,2}))?$/.exec(options.ext ?? 0) ?? [];
      const value = Number(match[1]);
      const length = Number(match[2] ?? (value ? Math.floor(Math.log2(value)) + 1 : 0));
      if (!(length <= 15 && (value === 0 || value < 2 ** length))) {
        throw new RangeError("the extension is a number of up to 15 bits, 0 to 32767, as in 5 or 5/8");
      }
      this.length = BigInt(length);
      this.extension = BigInt(value);
    }
    start() {
      const above = this.random(15) >> this.length << this.length;
      this.head = (above | this.extension) << 7n | this.length << 3n;
      this.counter = this.random(32);
    }
    low() { return this.head << 64n | this.counter << 32n | this.random(32); }
  },

  uid60: class extends NodeGenerator {
    static option = "worker";
    top = 511n; // the sequence wraps only between milliseconds, so that IDs increase
    counter = 511n; // so that 0 comes next
    constructor(format, options) { super(format, options, options.worker, 9, 9, "worker ID"); }
    start() { this.counter = this.counter + 1n & this.top; }
    behind() { return refuse(this); }
  },
};

// The formats that sortid makes, then the others.
export const formats = Object.freeze(table.map((row) => new Format(row)));

const byName = Object.fromEntries(formats.map((format) => [format.name, format]));
export const { scru64, scru128, scru160, euid, uid60 } = byName;

export function lookup(name) {
  if (Object.hasOwn(byName, name)) return byName[name];
  throw new RangeError(`unknown format ${JSON.stringify(name)}; the formats are ${Object.keys(byName).join(", ")}`);
}

const DAY = 86_400_000; // milliseconds

// The times that an ID made before now probably has: {from, to}.
export function plausibleRange(format, now = Date.now()) {
  return { from: format.plausibleFrom, to: now + 365 * DAY };
}

// Whether the ID's time is plausible, or it has none.
export function plausible(id, now = Date.now()) {
  if (!id.timed) return true;
  const { from, to } = plausibleRange(id.timed, now);
  return from <= id.milli && id.milli <= to;
}

// Whether a generator of the format may make the ID.
const generated = ({ format, fields }) =>
  format.layout.every(({ name, constant, value = 0 }) => !constant || fields[name] === BigInt(value));

// Whether letters have the usual case: the case that the format writes in its texts, otherwise
// lower case.
function usualCase({ text: { folds_case: folds, symbols } }, encoding, text) {
  if (encoding !== "text") return !/[A-Z]/.test(text);
  return !folds || (symbols.includes("a") ? !/[A-Z]/.test(text) : !/[a-z]/.test(text));
}

// The rank of a reading: the most probable has the lowest. UUIDs come first, because their variant
// and version are seldom chance. Our formats follow, then the others.
function rank(format, encoding, text) {
  const fixed = format.layout.reduce((n, { kind, bits }) => n + (kind === "fixed" ? bits : 0), 0);
  if (fixed > 4) return -1;
  if (!format.generates) return 8;
  return ["text", "uuid", "hex", "int"].indexOf(encoding) + (usualCase(format, encoding, text) ? 0 : 4);
}

// Readings of a text, most probable first: {id, encoding, reason}. Their time is plausible, and a
// generator could make them.
export function detect(text, now = Date.now()) {
  const found = [];
  for (const format of formats) {
    const typed = format.typedPrefix(text);
    for (const encoding of typed ? ["text"] : format.guess ?? format.encodings) {
      const shape = typed ? format.text.alphabet : shapes[encoding](format, text);
      if (!shape || encoding === "int" && text[0] === "0") continue;
      if (encoding === "text" && format.search?.mixed && !alternates(cutPrefix(format.text, text)[1])) continue;
      try {
        const id = typed ? format.parseTyped(text) : format.parseAs(encoding, text);
        if (!plausible(id, now) || !generated(id)) continue;
        found.push({ id, encoding, reason: shape + (format.text.mark ?? "") });
      } catch { /* not in this encoding */ }
    }
  }
  // A text seldom has a prefix and the right length by chance, unless the ID looks like a word.
  const typed = ({ format, prefix }) => (prefix && format.generates ? (format.search?.word_like ? 99 : -99) : 0);
  const place = ({ id, encoding }) => typed(id) + rank(id.format, encoding, text.slice(id.prefix.length));
  return found.sort((a, b) => place(a) - place(b));
}

// Whether digits, small letters and capitals alternate as in random texts. The kind of character
// must change at least three times. If there are only letters, it must change at about every second
// character.
function alternates(text) {
  const kinds = Array.from(text, (c) => [/[0-9]/, /[a-z]/, /[A-Z]/].findIndex((kind) => kind.test(c)));
  const changes = kinds.filter((kind, i) => i > 0 && kind !== kinds[i - 1]).length;
  return changes >= 3 && (!kinds.every((kind) => kind > 0) || changes * 2 >= text.length - 3);
}

const WRAPPERS = [
  ['"', '"', "quotes"], ["'", "'", "quotes"], ["`", "`", "quotes"],
  ["(", ")", "brackets"], ["[", "]", "brackets"], ["<", ">", "brackets"], ["{", "}", "braces"],
];

// Removes what often stands around an ID. Returns {text, stripped}, where stripped names what was
// removed.
export function strip(text) {
  const stripped = new Set();
  const take = (rest, name) => {
    if (rest !== text) stripped.add(name);
    text = rest;
  };
  for (let before; before !== text;) {
    before = text;
    take(text.trim(), "blanks");
    take(text.replace(/(?<=[^])[,;]$/, ""), "comma");
    for (const [open, close, name] of WRAPPERS) {
      if (text.length > 2 && text.startsWith(open) && text.endsWith(close)) take(text.slice(1, -1), name);
    }
    take(text.replace(/^urn:uuid:(?=.)/i, ""), "urn:uuid:");
  }
  const [, prefix, digits] = /^(0x|0X|\\x)([0-9a-fA-F]+)$/.exec(text) ?? [];
  if (prefix && formats.some((f) => f.generates && f.width / 4 === digits.length)) take(digits, prefix);
  if (text.length < 64 && text.includes("-")) { // people group the symbols of a text
    const rest = text.replaceAll("-", "");
    for (const format of formats.filter((f) => f.text.grouped)) {
      try {
        format.parse(rest);
        take(rest, "hyphens");
      } catch { /* the hyphens do not group symbols */ }
    }
  }
  return { text, stripped: [...stripped] };
}

// Tells hashes from IDs in hexadecimal digits: one hash in hundreds has a plausible time. accept
// counts a time, and returns whether it and nine in ten recent ones are plausible.
export class Ratio {
  seen = 0;
  plausible = 0;
  accept(plausible) {
    if (this.seen === 64) {
      this.seen = 32;
      this.plausible = Math.floor(this.plausible / 2);
    }
    this.seen++;
    if (plausible) this.plausible++;
    return plausible && this.likely;
  }
  get likely() { return this.seen > 0 && this.plausible * 10 >= this.seen * 9; }
}

const mixed = (text) => /[0-9]/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
const oneCase = (text) => !/[a-z]/.test(text) || !/[A-Z]/.test(text);

// Finds IDs in text by the rules of "sortid scan": of the given formats, or of those that hardly
// any other text looks like. One Finder should see all parts of an input, in order.
export class Finder {
  #ratios = new Map(); // by what they count
  #texts = []; // formats by the lengths of their texts
  #words = []; // the same, of alphabets with - and _
  #hex = []; // formats by the number of hexadecimal digits
  #uuids = [];
  #ints = [];

  constructor({ formats: only, now = Date.now() } = {}) {
    Object.assign(this, { only, now });
    const add = (lists, n, format) => (lists[n] ??= []).push(format);
    // UUIDs come first, because their bits are seldom chance. A format with a prefix comes before
    // one without.
    const sure = (f) => (f.generates ? 2 : f.text.prefix ? 0 : 1);
    for (const format of [...formats].sort((a, b) => sure(a) - sure(b))) {
      const { search = {}, text: { lengths = [], usual_lengths: usual = lengths } } = format;
      if (only ? !only.includes(format) : search.word_like || search.named) continue;
      const encodings = format.guess ?? format.encodings;
      if (encodings.includes("text")) {
        for (const n of usual) add(/[-_]/.test(symbolsOf(format)) ? this.#words : this.#texts, n, format);
      }
      if (encodings.includes("hex")) add(this.#hex, format.width / 4, format);
      if (encodings.includes("uuid")) this.#uuids.push(format);
      if (only && encodings.includes("int") && !format.generates) this.#ints.push(format);
    }
  }

  // The IDs in a text, in order: {id, encoding, start, end}.
  find(text) {
    const found = [];
    for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z]{10,}/g)) {
      const match = run.length <= 42 && this.#judge(text, run, index);
      if (match) found.push(match);
    }
    if (this.#words.length > 0) {
      for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z_-]+/g)) {
        if (!/[0-9]/.test(run.slice(1)) && oneCase(run.slice(1))) continue; // words
        const among = this.#words[run.length]?.filter((f) => !f.search.mixed || alternates(run));
        const match = this.#first(among, "text", run, index);
        if (match) found.push(match);
      }
      found.sort((a, b) => a.start - b.start);
    }
    return found;
  }

  #judge(text, run, start) {
    const int = /^[1-9][0-9]+$/.test(run) && this.#first(this.#ints, "int", run, start);
    if (int) return int;
    if (isHex(run) && this.#hex[run.length]) return this.#judgeHex(text, run, start);
    for (const format of this.#texts[run.length] ?? []) {
      const match = this.#judgeText(format, text, run, start);
      if (match) return match;
    }
    if (run.length === 12) return this.#judgeUUID(text, start - 24);
    const skip = /^0x/i.test(run) ? 2 : run[0] === "x" && text[start - 1] === "\\" ? 1 : 0;
    const rest = run.slice(skip);
    return skip && isHex(rest) && this.#hex[rest.length] ? this.#judgeHex(text, rest, start + skip) : undefined;
  }

  #accept(what, plausible) {
    if (!this.#ratios.has(what)) this.#ratios.set(what, new Ratio());
    return this.#ratios.get(what).accept(plausible);
  }

  // Reads a word in the first format that accepts it.
  #first(among = [], encoding, word, start) {
    for (const format of among) {
      try {
        const id = format.parseAs(encoding, word);
        if (plausible(id, this.now) && generated(id) && (this.only || id.timed)) {
          return { id, encoding, start, end: start + word.length };
        }
      } catch { /* not in this format */ }
    }
    return undefined;
  }

  // A short text does not count if it is a number such as 0x0123456789, or inside Base64. If its
  // format is not given, it must have a digit, and the case that the format writes.
  #judgeText(format, text, run, start) {
    const { short, prefix = "", mixed } = format.search ?? {};
    const bothCases = !oneCase(symbolsOf(format));
    if (!run.startsWith(prefix) || !bothCases && !oneCase(run)) return undefined;
    if (!this.only && isHex(run) && run.length > 16) return undefined; // a hash, or a number such as 1234e
    if (format.text.prefix) return mixed && !alternates(run) ? undefined : this.#judgePrefixed(format, text, run, start);
    const match = () => this.#first([format], "text", run, start);
    const beside = () => besideBase64(text, start, start + run.length);
    if (mixed || bothCases) {
      if (bothCases && oneCase(run) || !alternates(run) || beside()) return undefined;
      const found = match();
      return this.only || this.#accept(`mixed ${run.length}`, found !== undefined) ? found : undefined;
    }
    if (short && (!this.only && !(usualCase(format, "text", run) && /[0-9]/.test(run)) ||
      /^0[xbo][0-9a-f]+$/i.test(run) || beside())) return undefined;
    return match();
  }

  // The run is the end of an ID with a prefix. A check may follow.
  #judgePrefixed(format, text, run, start) {
    let first = start - 1;
    if (text[first] !== "_") return undefined;
    while (first > 0 && format.text.prefix.symbols.includes(text[first - 1])) first--;
    if (/[0-9A-Za-z]/.test(text[first - 1] ?? "")) return undefined;
    const upTo = (n) => (/[\w-]/.test(text[start + n] ?? "") ? undefined
      : this.#first([format], "text", text.slice(first, start + n), first));
    const match = this.#first([format], "text", text.slice(first, start + run.length), first);
    return match && (format.text.lengths.filter((n) => n > run.length).map(upTo).find((longer) => longer) ?? match);
  }

  // Numbers look like IDs of some formats, so "id" must stand before them.
  #judgeHex(text, run, start) {
    if (!oneCase(run)) return undefined;
    const match = this.#first(this.#hex[run.length], "hex", run, start);
    if (match?.id.format.search?.labelled && !this.only) {
      return /id[^0-9a-z]{0,8}$/i.test(text.slice(Math.max(0, start - 10), start)) ? match : undefined;
    }
    return this.only || this.#accept(run.length, match !== undefined) ? match : undefined;
  }

  #judgeUUID(text, start) {
    const word = text.slice(start, start + 36);
    if (start < 0 || NOT_UUID.test(word) || /[0-9A-Za-z]/.test(text[start - 1] ?? "")) return undefined;
    const match = this.#first(this.#uuids, "uuid", word, start);
    if (this.only || match && !match.id.format.generates) return match;
    const likely = this.#accept("any UUID", match !== undefined);
    // One in eight scru128 IDs looks like a UUID without a time. Such a text counts as ours only
    // after UUIDs that can only be ours.
    const ours = /^.{14}[1-8].{4}[89ab]/i.test(word) ? likely && this.#ratios.get("other UUIDs")?.likely
      : this.#accept("other UUIDs", match !== undefined);
    return ours ? match : undefined;
  }
}

const isHex = (text) => /^[0-9a-fA-F]+$/.test(text);

// All symbols of a format's texts behind a prefix.
const symbolsOf = ({ text: { symbols = "", groups = [] } }) =>
  groups.reduce((all, { before = "", symbols: own = "" }) => all + before + own, symbols);

// Whether + / - or _ joins a run to another one that is mixed in its nearest 24 characters.
function besideBase64(text, start, end) {
  const before = /([0-9A-Za-z]*)[+/_-]$/.exec(text.slice(Math.max(0, start - 25), start));
  const after = /^[+/_-]([0-9A-Za-z]*)/.exec(text.slice(end, end + 25));
  return before !== null && mixed(before[1]) || after !== null && mixed(after[1]);
}

export const find = (text, options) => new Finder(options).find(text);

/* Times */

const UNITS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 };
const RELATIVE = /^([+-])(?=.)(?:([0-9]{1,10})w)?(?:([0-9]{1,10})d)?((?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:h|ms|m|s|us|µs|μs|ns))*|0)$/;
const ABSOLUTE = new RegExp("^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})" +
  "(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?: ?(Z|([+-])([0-9]{2}):([0-9]{2})))?)?$");

// A time in Unix milliseconds, read as "sortid bounds" does. A RangeError says what is wrong. A
// time without an offset is in the zone.
export function parseTime(text, now = Date.now(), zone = "UTC") {
  const wrong = (reason) => new RangeError(`cannot read the time ${JSON.stringify(text.slice(0, 64))}: ${reason}`);
  const far = "it is too far away";
  const word = text.trim();
  if (word === "") throw wrong("it is empty");
  if (/^now$/i.test(word)) return now;
  const unix = /^@(-?[0-9]+)(?:\.([0-9]*))?$/.exec(word);
  if (unix) {
    const [, whole, fraction] = unix;
    const size = Math.abs(Number(whole));
    if (!fraction && size >= 1e12 && size < 1e15) return Number(whole); // milliseconds
    if (size >= 1e12) throw wrong(far);
    const rest = Number(`0.${fraction || 0}`) * 1000;
    return Number(whole) * 1000 + Math.floor(whole.startsWith("-") ? -rest : rest);
  }
  const relative = RELATIVE.exec(word);
  if (relative) {
    const [, sign, weeks = 0, days = 0, rest] = relative;
    if (Math.max(weeks, days) >= 2 ** 31) throw wrong("it is of no known form");
    let milli = (Number(weeks) * 7 + Number(days)) * DAY;
    for (const [, n, unit] of rest.matchAll(/([0-9.]+)([a-zµμ]+)/g)) milli += Number(n) * UNITS[unit];
    if (milli > 2 ** 63 / 1e6) throw wrong(far);
    return Math.floor(now + (sign === "-" ? -milli : milli));
  }
  const [, day, hour = "00", minute = "00", second = "00", fraction = "0", offset, sign, hours, minutes] =
    ABSOLUTE.exec(word) ?? [];
  if (!day) throw wrong("it is of no known form");
  const start = `${day}T${hour}:${minute}:${second}`;
  const local = Date.parse(`${start}Z`);
  if (Number.isNaN(local) || !new Date(local).toISOString().startsWith(start) || hours > 24 || minutes > 60) {
    throw wrong("there is no such day or time of day");
  }
  const ahead = sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000
    : offset || zone === "UTC" ? 0 : zoneOffset(local - zoneOffset(local, zone), zone);
  return local - ahead + Math.floor(Number(`0.${fraction}`) * 1000);
}

// How far a zone is ahead of UTC at a time, in milliseconds.
export function zoneOffset(milli, timeZone) {
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const { value } = clock.formatToParts(milli).find(({ type }) => type === "timeZoneName"); // GMT-03:30
  const [, sign, hours, minutes, rest = 0] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(value) ?? [, "+", 0, 0];
  return Number(`${sign}1`) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(rest)) * 1000;
}

/* Which formats fit a load, and for how long; docs/command.md derives the formulas. */

const SECONDS_PER_YEAR = 365.2425 * 24 * 60 * 60;
const MOST_RISK = 1e-6; // the highest probability of a collision that fits
const MOST_AHEAD = ALLOWANCE / 1000; // seconds that a timestamp may be ahead of the clock

// A probability in words, such as "one in 3 million".
export function odds(p) {
  if (p === 0) return "none";
  if (p > 0.99) return "certain";
  return p > 0.01 ? `${Math.round(p * 100)} %` : `one in ${count(1 / p)}`;
}

// A number with two digits and a word, such as "3.2 billion".
export function count(n) {
  const words = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
  if (n < 1e4) return n.toFixed(0);
  let i = Math.floor(Math.floor(Math.log10(n)) / 3);
  if (n / 1000 ** i >= 999.5) i++; // printed as 1000
  if (i >= words.length) return `10^${Math.log10(n).toFixed(0)}`;
  const scaled = n / 1000 ** i;
  return (scaled < 9.95 ? String(Number(scaled.toPrecision(2))) : scaled.toFixed(0)) + words[i];
}

export function seconds(s) {
  if (s < 1) return `${(s * 1000).toFixed(0)} ms`;
  if (s < 120) return `${s.toFixed(1)} s`;
  return s < 7200 ? `${(s / 60).toFixed(0)} min` : `${(s / 3600).toFixed(0)} h`;
}

function checkRequest(r) {
  const from = Date.parse(`${r.from}T00:00:00Z`);
  for (const [name, ok, want] of [
    ["from", /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(r.from) && !Number.isNaN(from), "a day such as 2026-11-21"],
    ["rate", r.rate > 0 && r.rate <= 1e15, "IDs a second: more than 0, at most 1e15"],
    ["burst", r.burst >= 0 && r.burst <= 1e12, "IDs at once: 0 to 1e12"],
    ["processes", Number.isInteger(r.processes) && r.processes >= 1 && r.processes <= 1e9, "1 to 1000000000"],
    ["years", r.years > 0 && r.years <= 10000, "more than 0, at most 10000"],
    ["bits", [0, 64, 128].includes(r.bits), "64, 128, or 0 for any"],
  ]) if (!ok) throw new RangeError(`${name} is ${r[name]}, want ${want}`);
  return from;
}

// The expected number of pairs of IDs of two processes in one millisecond.
function pairs({ rate, processes, years }) {
  const perMilli = rate / processes / 1000;
  return years * SECONDS_PER_YEAR * 1000 * processes * (processes - 1) / 2 * perMilli * perMilli;
}

// The probability that two IDs of a format are equal, for a request of plan. In one millisecond, at
// most one pair of 2^bits is equal.
export function collisionProbability({ plan, node_counter: shared }, request) {
  const { processes, can_assign_nodes: nodes } = request;
  if (shared || nodes && processes > 1 && nodeSizes(processes, plan.node_bits).length > 0) return 0;
  return -Math.expm1(-pairs(request) * 2 ** -plan.random_bits) || 0;
}

// Sizes of node IDs, best first: room for twice the processes, as in a rolling deployment, down to
// just enough.
function nodeSizes(processes, most = 0) {
  const sizes = [];
  const least = Math.max(1, Math.ceil(Math.log2(processes)));
  const roomy = Math.max(1, Math.ceil(Math.log2(2 * processes)));
  for (let size = Math.min(roomy, most); size >= least; size--) sizes.push(size);
  return sizes;
}

// The guard bits with which at most one tick of a thousand overflows, the mean number of IDs, and
// whether there are such bits.
function guardBits(bits, perTick) {
  const size = 2 ** bits;
  for (let guard = bits <= 4 ? 1 : 0; ; guard++) {
    const starts = 2 ** (bits - guard); // values at which a tick's counter starts
    const mean = size - (starts - 1) / 2;
    const ok = (perTick - 1 - (size - starts)) / starts <= 1e-3;
    if (ok || guard === bits) return { guard, mean, ok };
  }
}

// Fills in the result of a format without node IDs, and returns what makes it unique.
function byChance({ node, plan: { per_tick: mean, least, unique, node_bits: most } }, load, result, refuse) {
  const tick = result.tick_seconds;
  if (least) { // it waits for the next millisecond
    if (load.burst > 0) result.burst_waits_seconds = Math.floor((load.burst - 1) / mean) * tick;
    if (load.perSecond * tick > least) refuse(`a process makes at most ${(least / tick).toFixed(0)} IDs a second`);
  }
  if (!most || !load.can_assign_nodes) return unique;
  const [size] = nodeSizes(load.processes, most);
  if (!size || load.processes === 1) return `there are ${node} IDs for at most ${2 ** most} processes`;
  result.options.node_bits = size;
  return `a ${node} ID of ${size} bits for each process`;
}

// Fills in the result of a format with node IDs. Its full counter borrows the next tick.
function byNode({ node_counter: width, plan: { node_bits: most } }, load, result, refuse) {
  if (load.processes > 1 && !load.can_assign_nodes) {
    refuse("each process needs a node ID of its own, assigned or leased");
  }
  const sizes = nodeSizes(load.processes, most);
  if (sizes.length === 0) return refuse(`there are at most 2^${most} node IDs`);
  const tick = result.tick_seconds;
  const perTick = load.perSecond * tick;
  let size;
  let rate;
  let burst;
  for (size of sizes) { // the first that suffices is best; if none does, the plan shows the last
    const { guard, mean, ok } = guardBits(width - size, perTick + 6 * Math.sqrt(perTick));
    rate = ok;
    result.options = { node_bits: size, overflow_guard: guard };
    result.ids_per_tick = Math.floor(mean);
    if (load.burst > 0) result.burst_ahead_seconds = Math.floor((load.burst - 1) / mean) * tick;
    burst = result.burst_ahead_seconds <= MOST_AHEAD;
    if (rate && burst) break;
  }
  if (!rate) {
    refuse(`a process would make more IDs than its counter of ${width - size} bits holds in ${seconds(tick)}`);
  }
  if (!burst) {
    refuse(`a burst would run ${seconds(result.burst_ahead_seconds)} ahead of the clock, ` +
      `more than the allowance of ${MOST_AHEAD} s`);
  }
  return `a node ID of ${size} bits for each process`;
}

// Which formats fit a load, in the JSON of "sortid plan".
export function plan(request) {
  const from = new Date().toISOString().slice(0, 10);
  const asked = { burst: 0, processes: 1, years: 20, bits: 0, can_assign_nodes: false, from, ...request };
  const end = checkRequest(asked) + Math.ceil(asked.years * 365.2425) * DAY;
  const load = { ...asked, perSecond: asked.rate / asked.processes };
  const results = formats.filter((format) => format.generates).map((format) => {
    const reasons = [];
    const refuse = (reason) => { reasons.push(reason); };
    const result = {
      format: format.name, collision_probability: collisionProbability(format, asked),
      ids_per_tick: Math.floor(format.plan.per_tick ?? 0), tick_seconds: format.tick / 1000,
      burst_waits_seconds: 0, burst_ahead_seconds: 0, ends: formatTime(format.last).split("T")[0],
      bytes: format.sql.bytes, column: format.sql.postgres, options: {},
    };
    const unique = (format.node_counter ? byNode : byChance)(format, load, result, refuse);
    if (result.collision_probability > MOST_RISK) {
      refuse(`two IDs would be the same: ${odds(result.collision_probability)}, more than one in a million`);
    }
    if (end > format.last) refuse(`its timestamps end in ${new Date(format.last).getUTCFullYear()}`);
    if (asked.bits !== 0 && format.bits > asked.bits) refuse(`an ID has ${format.bits} bits`);
    const fits = reasons.length === 0;
    if (fits) reasons.push(asked.processes === 1 ? "one generator never makes an ID twice" : unique);
    return { ...result, fits, reasons };
  });
  const preference = ({ format }) => lookup(format).plan.preference;
  const [best] = results.filter(({ fits }) => fits).sort((a, b) => preference(a) - preference(b));
  return {
    asked, ids: asked.rate * asked.years * SECONDS_PER_YEAR, recommended: best?.format ?? "",
    ...(best && { command: planCommand(asked, best) }), formats: results,
  };
}

function planCommand({ processes }, { format, options: { node_bits: size, overflow_guard: guard } }) {
  const node = !size ? "" : processes === 1 ? ` --${lookup(format).node} 0/${size}` : ` --lease STORE --node-bits ${size}`;
  return `sortid new ${format}${node}${guard ? ` --guard ${guard}` : ""}`;
}
