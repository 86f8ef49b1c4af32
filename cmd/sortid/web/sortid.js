// Reads IDs of every format that sortid knows, and makes IDs of its own formats.
//
// README.md has examples, and sortid.d.ts describes the exports. This file is also in the page of
// "sortid page".

// "go generate" writes formats.js from the Go package format.
import { table } from "./formats.js";

export class ParseError extends Error {
  constructor(format, input, reason, offset, detail) {
    const shown = JSON.stringify(input.length > 64 ? input.slice(0, 64) + "…" : input);
    super(`${format}: cannot parse ${shown}: ${detail}`);
    Object.assign(this, { name: "ParseError", reason, offset, detail });
  }
}

function reject(words) { throw new RangeError(words); }

// Returns a function that makes errors about a text.
const errorsOf = ({ name }, text) => (reason, detail, offset = -1) =>
  new ParseError(name, text, reason, offset, detail);

function attempt(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

// Lengths of texts count bytes, as in Go.
const byteLength = (text) => new TextEncoder().encode(text).length;

const ones = (bits) => (1n << BigInt(bits)) - 1n;

// The integer in which each field has the bits that content(field) returns.
const join = (fields, content) =>
  fields.reduce((all, field) => all | content(field) << BigInt(field.low), 0n);

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

// The integer of digits, computed in parts that fit the 53 bits of a double.
function integerOf(digits, base) {
  let value = 0n;
  for (let i = 0; i < digits.length; i += 8) {
    const part = digits.slice(i, i + 8);
    const number = part.reduce((all, digit) => all * base + digit, 0);
    value = value * BigInt(base ** part.length) + BigInt(number);
  }
  return value;
}

// Cuts a text into its prefix, with the underscore, and its ID. Returns undefined if the format has
// a prefix and the text has none.
function cutPrefix({ prefix }, text) {
  if (!prefix) return ["", text];
  const end = text.lastIndexOf("_");
  if (end < 0 && prefix.min === 0) return ["", text];
  const name = text.slice(0, Math.max(end, 0));
  const fits = name.length >= prefix.min && name.length <= prefix.max && /^[a-z]/.test(name);
  const known = prefix.known?.includes(name) ??
    (!name.endsWith("_") && [...name].every((c) => prefix.symbols.includes(c)));
  return fits && known ? [text.slice(0, end + 1), text.slice(end + 1)] : undefined;
}

// The prefixes of typed IDs.
const PREFIX = /^([a-z]([a-z_]{0,61}[a-z])?)?$/;

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

// A format's text encoding. A text consists of groups of digits, and each group is a number. If the
// first symbol is a blank, blanks fill up a short text.
function codec(format) {
  const { width: bits, text: rules } = format;
  const { alphabet, symbols, lengths, check_modulus: modulus = 1, rotated = 0 } = rules;
  const groups = (rules.groups ?? [{ bits }]).map((group) => {
    const own = group.symbols ?? symbols;
    const limit = group.digits && BigInt(own.length) ** BigInt(group.digits);
    return { before: "", low: 0, ...group, symbols: own, table: digitsOf(own, rules), limit };
  });
  const whole = groups.reduce((n, { before, digits = 0 }) => n + before.length + digits, 0);
  const limited = groups.filter(({ limit }) => limit);
  const blank = symbols[0] === " ";
  // A group whose `low` is negative also contains a check value, in its lowest bits.
  const numberOf = ({ low, bits: width }, value) =>
    value >> BigInt(low) & ones(width) | (low < 0 ? value % BigInt(modulus) : 0n);
  const write = (value) => {
    let text = "";
    for (const group of groups) {
      const { before, digits = lengths[0], symbols: own } = group;
      const base = BigInt(own.length);
      let part = "";
      for (let rest = numberOf(group, value); rest > 0n; rest /= base) {
        part = own[Number(rest % base)] + part;
      }
      text += before + part.padStart(digits, own[0]);
    }
    const end = text.length - rotated;
    return (text.slice(end) + text.slice(0, end)).trimEnd();
  };
  return {
    parse(text) {
      const wrong = errorsOf(format, text);
      const wrongSymbol = (c, offset) => wrong("symbol",
        `${JSON.stringify(c)} at offset ${offset} is no symbol of the format`, offset);
      let [prefix, word] = cutPrefix(rules, text) ?? [];
      if (word === undefined) throw wrong("length", `want ${alphabet}`);
      const length = byteLength(word);
      if (!lengths.includes(length)) {
        throw wrong("length", `${length} characters, where ${lengths.join(" or ")} are wanted`);
      }
      const dash = rules.check_suffix ? word.lastIndexOf("-") : -1;
      if (dash >= 0) {
        const end = prefix.length + dash;
        if (text.slice(end + 1).toLowerCase() !== bech32(text.slice(0, end), symbols)) {
          throw wrong("check", "the check at the end does not fit: the text is mistyped");
        }
        word = word.slice(0, dash);
      }
      if (blank && word.includes(" ")) throw wrongSymbol(" ", text.indexOf(" "));
      const letters = [...word.padEnd(blank ? whole : 0)];
      let value = 0n;
      let at = 0;
      for (const group of groups) {
        const { before, digits = length, symbols: own, table, bits: width, low } = group;
        const read = letters.slice(at, at + before.length + digits).map((c, i) => {
          const digit = before[i] ? (c === before[i] ? 0 : undefined) : table.get(c);
          if (digit === undefined) throw wrongSymbol(c, prefix.length + at + i);
          return digit;
        });
        at += read.length;
        const number = integerOf([...read.slice(rotated), ...read.slice(0, rotated)], own.length);
        if (number >> BigInt(width)) throw wrong("range", "it has more bits than an ID");
        value |= number << BigInt(low);
        if (low < 0 && numberOf(group, value) !== number) {
          throw wrong("check", modulus > 1 ? "the check value does not fit: the text is mistyped"
            : "it has more bits than an ID");
        }
      }
      return { value, prefix };
    },
    write,
    holds(value) {
      if (limited.some((group) => numberOf(group, value) >= group.limit)) return false;
      if (!blank) return true;
      const text = write(value);
      return lengths.includes(text.length) && !text.includes(" ");
    },
  };
}

// From the year 10000 on, toISOString writes a sign and six digits, and RFC 3339 has neither.
export const formatTime = (milli) => new Date(milli).toISOString().replace(/^\+0*/, "");
const readTime = (text) => Date.parse(String(text).replace(/^\d{5}-/, "+0$&"));

export class ID {
  constructor(format, value, prefix = "") {
    Object.freeze(Object.assign(this, { format, value, prefix }));
  }

  toString() { return this[this.format.encodings[0]]; }

  get text() { return this.format.codec && this.prefix + this.format.codec.write(this.value); }
  get hex() { return this.value.toString(16).padStart(this.format.width / 4, "0"); }
  get int() { return this.value.toString(); }
  get uuid() {
    if (this.format.width !== 128) return undefined;
    return this.hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  }

  withPrefix(prefix) {
    const start = prefix && `${prefix}_`;
    return this.format.parseTyped(start + new ID(this.format, this.value), prefix);
  }

  in(encoding) {
    this.format.checkEncoding(encoding);
    return this[encoding];
  }

  field(field) { return this.value >> BigInt(field.low) & ones(field.bits); }

  // The fields of the ID inside, such as the UUID in a TypeID, stand for the fields of the ID.
  get fields() {
    const named = (this.inner ?? this.format).layout.filter(({ name }) => name);
    return Object.fromEntries(named.map((field) => [field.name, this.field(field)]));
  }

  ticks(format = this.format) {
    return format.timestamp.reduce((all, f) => all | this.field(f) << BigInt(f.shift ?? 0), 0n);
  }

  get inner() { return this.format.within?.map(lookup).find((f) => f.admits(this.value)); }

  get timed() {
    const format = this.inner ?? this.format;
    return format.time && format;
  }

  get milli() { return this.timed?.milliOf(this.ticks(this.timed)); }
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
    const { format, milli, fields, notes } = this;
    return {
      format: format.name,
      ...Object.fromEntries(format.encodings.map((encoding) => [encoding, this[encoding]])),
      ...(milli !== undefined && { time: formatTime(milli) }),
      fields: Object.fromEntries(Object.entries(fields).map(([name, n]) => [name, String(n)])),
      ...(notes.length > 0 && { notes }),
    };
  }
}

export class Format {
  #shared; // a generator without options

  constructor(row) {
    Object.assign(this, row);
    let low = this.width = this.layout.reduce((sum, { bits }) => sum + bits, 0);
    this.layout = this.layout.map((field) => Object.freeze({ ...field, low: low -= field.bits }));
    this.timestamp = this.layout.filter(({ kind }) => kind === "time");
    const constant = this.layout.filter(({ kind }) => kind === "fixed" || kind === "zero");
    this.mask = join(constant, ({ bits }) => ones(bits));
    this.fixed = join(constant, ({ value = 0 }) => BigInt(value));
    this.max = BigInt(row.max ?? ones(this.width) & ~this.mask | this.fixed);
    this.codec = this.text.symbols && codec(this);
    if (this.time) {
      this.epoch = readTime(this.time.epoch);
      this.firstMilli = readTime(this.time.first);
      this.last = readTime(this.time.last);
      this.plausibleFrom = readTime(this.time.plausible_from ?? "2010");
      this.tick = this.time.tick_ns / 1e6;
      this.lastTick = new ID(this, this.max).ticks();
    }
    Object.freeze(this);
  }

  milliOf(ticks) { return this.epoch + Number(ticks * BigInt(this.time.tick_ns) / 1_000_000n); }

  parse(text) { return this.parseAs(this.encodings[0], text); }

  checkEncoding(encoding) {
    if (this.encodings.includes(encoding)) return;
    reject(`${this.name} IDs have no encoding ${JSON.stringify(encoding)}; their encodings are ` +
      this.encodings.join(", "));
  }

  parseAs(encoding, text) {
    this.checkEncoding(encoding);
    const isText = encoding === "text";
    const isHexText = isText && this.text.hex && byteLength(text) === this.width / 4;
    if (isText && !isHexText) {
      const { value, prefix } = this.codec.parse(text);
      return this.#checked(text, value, prefix);
    }
    const [want, symbols, what] = {
      hex: [this.width / 4, /[^0-9a-f]/i, "not a hexadecimal digit"],
      int: ["some", /[^0-9]/, "not a decimal digit"],
      uuid: [36, NOT_UUID, "not the hexadecimal digit or hyphen of a UUID"],
    }[isText ? "hex" : encoding];
    const wrong = errorsOf(this, text);
    const { length } = text;
    if (!isHexText && (want === "some" ? length === 0 : length !== want)) {
      throw wrong("length", `${length} characters, where the encoding ${encoding} has ${want}`);
    }
    const offset = text.search(symbols);
    if (offset >= 0) {
      const c = JSON.stringify(String.fromCodePoint(text.codePointAt(offset)));
      throw wrong("symbol", `${c} at offset ${offset} is ${what}`, offset);
    }
    if (encoding !== "int") return this.#checked(text, BigInt("0x" + text.replaceAll("-", "")));
    return this.#checked(text, length > 64 ? this.max + 1n : BigInt(text));
  }

  // The position of the last underscore that cannot belong to the ID.
  #separator(text) {
    const { symbols, lengths } = this.text;
    if (!symbols.includes("_")) return text.lastIndexOf("_");
    return text.indexOf("_", text.length - Math.max(...lengths) - 1);
  }

  parseTyped(text, want) {
    if (!this.generates) reject(`${this.name} IDs are never typed`);
    const wrong = errorsOf(this, text);
    const end = this.#separator(text);
    const found = text.slice(0, Math.max(end, 0));
    const prefix = want ?? found;
    const shown = JSON.stringify(prefix);
    if (!PREFIX.test(prefix) || end === 0 && want === undefined) {
      throw wrong("prefix", `wrong prefix ${shown}, want at most 63 characters a-z and _`);
    }
    const start = prefix && `${prefix}_`;
    if (text.startsWith(start)) {
      try {
        return new ID(this, this.parse(text.slice(start.length)).value, start);
      } catch (error) { // the text may have a longer prefix
        if (found.length <= prefix.length || !PREFIX.test(found)) throw error;
      }
    }
    throw wrong("prefix", `wrong prefix ${JSON.stringify(found)}, want ${shown}`);
  }

  typedPrefix(text) {
    if (!this.generates || this.text.symbols.includes("_") && this.hasLength(text)) return "";
    const end = this.#separator(text);
    const typed = end > 0 && PREFIX.test(text.slice(0, end)) && this.hasLength(text.slice(end + 1));
    return typed ? text.slice(0, end + 1) : "";
  }

  parseAny(text) {
    if (this.typedPrefix(text)) return { id: this.parseTyped(text), encoding: "text" };
    const fits = (encoding) => this.encodings.includes(encoding) && shapes[encoding](this, text);
    const encoding = Object.keys(shapes).find(fits) ?? this.encodings[0];
    return { id: this.parseAs(encoding, text), encoding };
  }

  hasLength(text) {
    const [, word] = cutPrefix(this.text, text) ?? [];
    return this.text.lengths?.includes(word?.length) ?? false;
  }

  hasSymbols(text) {
    const digits = digitsOf(this.text.symbols ?? "", this.text);
    return [...text].every((c) => digits.has(c));
  }

  fromInt(value) { return this.#checked(String(value), BigInt(value)); }

  fromBytes(bytes) {
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    if (bytes.length === this.width / 8) return this.#checked(hex, BigInt("0x" + hex));
    return reject(`${this.name}: ${bytes.length} bytes, want ${this.width / 8}`);
  }

  // The values may be of the fields of an ID inside.
  fromFields(values) {
    const fits = ({ name, kind, value = 0 }) => !name ||
      (kind === "fixed" ? BigInt(values[name] ?? value) === BigInt(value) : name in values);
    const { layout, fixed } = [this, ...(this.within ?? []).map(lookup)]
      .find((format) => format.layout.every(fits)) ?? this;
    const variable = layout.filter(({ name, kind }) => name && kind !== "fixed");
    return this.fromInt(fixed | join(variable, ({ name, bits }) => {
      const content = BigInt(values[name]);
      if (content >= 0n && content >> BigInt(bits) === 0n) return content;
      return reject(`${this.name}: ${name} has ${bits} bits, and ${content} does not fit`);
    }));
  }

  admits(value) { return (value & this.mask) === this.fixed && (this.codec?.holds(value) ?? true); }

  #checked(text, value, prefix) {
    const wrong = errorsOf(this, text);
    if (value < 0n || value > this.max) {
      throw wrong("range", `larger than ${new ID(this, this.max)}, the largest ID`);
    }
    if (this.admits(value)) return new ID(this, value, prefix);
    throw wrong("layout", "it differs in bits that all IDs of the format share");
  }

  first(time) {
    const milli = Number(time);
    const { name, ordered } = this;
    if (!ordered) reject(`${name} IDs are not in order of time, so two IDs cannot bound a time range`);
    const inside = Number.isFinite(milli) && milli >= this.epoch;
    const nanos = inside ? BigInt(Math.floor(milli) - this.epoch) * 1_000_000n : -1n;
    const ticks = nanos / BigInt(this.time.tick_ns);
    if (!inside || ticks > this.lastTick) {
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

  generator(options = {}) {
    if (!this.generates) reject(`sortid reads ${this.name} IDs, and makes none`);
    return new generators[this.name](this, options);
  }

  get generatorOptions() {
    return (this.options ?? []).filter(({ name }) => ["node", "worker", "ext"].includes(name));
  }

  generate() { return (this.#shared ??= this.generator()).generate(); }
}

// For each encoding, a function that returns why a text can be in the encoding, or false.
const shapes = {
  text: (format, text) => format.hasLength(text) && format.text.alphabet,
  uuid: (format, text) => text.length === 36 && "a UUID's 36 characters",
  hex: (format, text) =>
    text.length === format.width / 4 && isHex(text) && `${text.length} hexadecimal digits`,
  int: (format, text) => /^[0-9]+$/.test(text) && "a decimal integer",
};

// Finds a wrong character in a text that is as long as a UUID.
const NOT_UUID = /[^0-9a-f-]|(?<=^(.{8}|.{13}|.{18}|.{23}))[^-]|(?<!^(.{8}|.{13}|.{18}|.{23}))-/i;

export class GeneratorError extends Error { name = "GeneratorError"; }

// Returns a function that draws random bits. It fetches many bytes at a time.
function entropy(fill = (bytes) => globalThis.crypto.getRandomValues(bytes)) {
  const pool = new Uint8Array(1024);
  let used = pool.length;
  return (bits) => {
    const size = Math.ceil(bits / 8);
    if (used + size > pool.length) {
      fill(pool);
      used = 0;
    }
    const bytes = pool.subarray(used, used += size);
    const value = bytes.reduce((all, byte) => all << 8n | BigInt(byte), 0n);
    bytes.fill(0);
    return value & ones(bits);
  };
}

// How many milliseconds the last timestamp may be ahead of the clock.
const ALLOWANCE = 10_000;

// Subclasses define start() to begin a tick, low() for an ID's bits below the timestamp, and top as
// the largest counter.
class Generator {
  last = -1; // the timestamp of the last ID

  constructor(format, { now = Date.now, random } = {}) {
    Object.assign(this, { format, now, random: entropy(random) });
  }

  fail(words) { throw new GeneratorError(`${this.format.name}: ${words}`); }

  // The clock in ticks. Browsers round it, some to a tenth of a second.
  clock() {
    const { firstMilli, last, epoch, tick } = this.format;
    const now = this.now();
    if (now >= firstMilli && now <= last) return Math.floor((now - epoch) / tick);
    return this.fail("the clock shows a time that no ID can carry");
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
    const { format } = this;
    return format.fromInt(BigInt(this.last) << BigInt(format.timestamp[0].low) | this.low());
  }

  // The clock is too far behind the last ID. Formats that need no node ID continue at the clock's
  // time.
  behind(now) {
    if (this.format.needs_node) {
      this.fail(`the clock is more than ${ALLOWANCE / 1000} seconds behind the last ID`);
    }
    this.last = -1;
    return this.begin(now);
  }

  // Waits for the next tick, up to half a second.
  full() {
    const deadline = performance.now() + 500;
    while (this.clock() <= this.last) {
      if (performance.now() > deadline) this.fail("no ID is left in this tick");
    }
    return this.begin(this.clock());
  }

  // Uses the next tick, ahead of the clock.
  borrow() {
    const next = this.last + 1;
    const now = this.clock();
    return (next - now) * this.format.tick > ALLOWANCE ? this.behind(now) : this.begin(next);
  }
}

// Reads a node ID and its size, as in "42/8" or "0x2a/8".
function parseNode(text, max, what) {
  const match = /^([0-9]{1,8}|0x[0-9a-fA-F]{1,6})\/([0-9]{1,2})$/.exec(text);
  if (!match) reject(`the ${what} must be like 42/8: the ID, a slash, and its size in bits`);
  const [id, size] = match.slice(1).map(Number);
  if (size < 1 || size > max) reject(`the size of the ${what} is 1 to ${max} bits, not ${size}`);
  const largest = 2 ** size - 1;
  if (id > largest) reject(`${id} is no ${what} of ${size} bits: the largest is ${largest}`);
  return { id: BigInt(id), size };
}

// A generator whose IDs end with an optional node ID of at most `most` bits, and random bits. Both
// together have `width` bits.
class NodeGenerator extends Generator {
  constructor(format, options, width, most) {
    super(format, options);
    const node = options[format.node];
    const { id, size } = node ? parseNode(node, most, `${format.node} ID`) : { id: 0n, size: 0 };
    this.free = width - size; // random bits below the node ID
    this.node = id << BigInt(this.free);
    this.width = BigInt(width);
  }

  low() { return this.counter << this.width | this.node | this.random(this.free); }
}

const generators = {
  scru64: class extends Generator {
    constructor(format, options) {
      super(format, options);
      const { node } = options;
      if (!node) reject("scru64 needs a node ID of its own, and its size in bits, as in 42/8");
      const [, text, bits] = /^([0-9a-zA-Z]{12})\/([0-9]{1,2})$/.exec(node) ?? [];
      const { id, size } = parseNode(text ? `0/${bits}` : node, 23, "node ID");
      this.counterSize = 24 - size;
      this.top = ones(this.counterSize);
      this.node = id << BigInt(this.counterSize);
      this.guard = size >= 20 ? 1 : 0; // how many high bits of the counter start at zero
      if (!text) return;
      const { timestamp, node_ctr: low } = format.parse(text).fields; // of the ID to continue after
      this.node = low & ~this.top;
      if (timestamp > 0n) {
        this.last = Number(timestamp);
        this.counter = low & this.top;
      }
    }
    start() { this.counter = this.random(this.counterSize - this.guard); }
    low() { return this.node | this.counter; }
    full() { return this.borrow(); }
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
    full() {
      this.high = 0n;
      return this.borrow();
    }
    behind(now) {
      this.renewed = -Infinity;
      return super.behind(now);
    }
  },

  scru160: class extends NodeGenerator {
    top = ones(16);
    constructor(format, options) { super(format, options, 96, 16); }
    start() { this.counter = this.random(15); }
  },

  euid: class extends Generator {
    top = ones(32);
    constructor(format, options) {
      super(format, options);
      const match = /^([0-9]{1,5})(?:\/([0-9]{1,2}))?$/.exec(options.ext ?? 0) ?? [];
      const value = Number(match[1]);
      const length = Number(match[2] ?? (value ? Math.floor(Math.log2(value)) + 1 : 0));
      if (!(length <= 15 && (value === 0 || value < 2 ** length))) {
        reject("the extension is a number of up to 15 bits, 0 to 32767, as in 5 or 5/8");
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
    top = 511n; // the sequence wraps only between milliseconds, so that IDs increase
    counter = 511n; // so that 0 comes next
    constructor(format, options) { super(format, options, 9, 9); }
    start() { this.counter = this.counter + 1n & this.top; }
  },
};

export const formats = Object.freeze(table.map((row) => new Format(row)));

const byName = new Map(formats.map((format) => [format.name, format]));
export const { scru64, scru128, scru160, euid, uid60 } = Object.fromEntries(byName);

export const lookup = (name) => byName.get(name) ?? reject(
  `unknown format ${JSON.stringify(name)}; the formats are ${[...byName.keys()].join(", ")}`);

const DAY = 86_400_000; // milliseconds

export function plausibleRange(format, now = Date.now()) {
  return { from: format.plausibleFrom, to: now + 365 * DAY };
}

export function plausible(id, now = Date.now()) {
  if (!id.timed) return true;
  const { from, to } = plausibleRange(id.timed, now);
  return from <= id.milli && id.milli <= to;
}

// Whether the time is plausible, and a generator of the format can have made the ID.
const probable = (id, now) => plausible(id, now) && id.format.layout.every(
  ({ name, constant, value = 0 }) => !constant || id.fields[name] === BigInt(value));

// Whether the letters have the case that the format writes. In hex and uuid, that is lower case.
function usualCase({ text: { folds_case: folds, symbols } }, encoding, text) {
  if (encoding !== "text") return !/[A-Z]/.test(text);
  return !folds || (symbols.includes("a") ? !/[A-Z]/.test(text) : !/[a-z]/.test(text));
}

// The lower the rank, the more probable the reading. UUIDs come first, because a text seldom has a
// UUID's variant and version by chance. Decimal integers follow, then our formats, then other
// formats, and at last texts that look like words.
function rank({ id: { format }, encoding, wordLike }, text) {
  const { generates } = format;
  const fixed = format.layout.reduce((n, { kind, bits }) => n + (kind === "fixed" ? bits : 0), 0);
  if (encoding === "int") return -1;
  if (fixed > 4) return -2;
  if (wordLike && !generates) return 16;
  return (generates ? Object.keys(shapes).indexOf(encoding) : 8) +
    (usualCase(format, encoding, text) ? 0 : 4);
}

// Any number can be an ID of several formats. The time nearest to now is the most probable, with
// handicaps for an unusual field, a rare format and a time after tomorrow. As in package format.
function unlikeliness({ id }, now) {
  const { search = {}, layout } = id.format;
  const unusual = layout.filter((f) => f.usual && id.field(f) > BigInt(f.usual)).length;
  const past = now - id.milli;
  const years = (search.rarity ?? 0) * 8 + unusual * 6 + (past < -DAY ? 30 : 0);
  return Math.floor((years * 365 * DAY + Math.abs(past)) / 3_600_000);
}

export function detect(text, now = Date.now()) {
  const found = [];
  for (const format of formats) {
    const typed = format.typedPrefix(text);
    for (const encoding of typed ? ["text"] : format.guess ?? format.encodings) {
      const shape = typed ? format.text.alphabet : shapes[encoding](format, text);
      if (!shape || encoding === "int" && text[0] === "0") continue;
      const id = attempt(() => (typed ? format.parseTyped(text) : format.parseAs(encoding, text)));
      const reason = shape + (format.text.mark ?? "");
      if (!id || !probable(id, now)) continue;
      const usual = text.length >= format.text.lengths?.[0];
      const likely = usual ? id.inner : id.inner?.name === format.within?.[0];
      if (format.within && !id.prefix && !likely) continue;
      const { word_like: words, mixed } = format.search ?? {};
      const wordLike = encoding === "text" &&
        Boolean(words || mixed && !alternates(text.slice(id.prefix.length)));
      found.push({ id, encoding, reason, wordLike });
    }
  }
  // A text seldom has a prefix and the right length by chance, so typed IDs come first. They come
  // last if the format's IDs look like words.
  const place = (found) => {
    const { id: { format, prefix }, wordLike } = found;
    const typed = prefix && format.generates ? (wordLike ? 99 : -99) : 0;
    return typed + rank(found, text.slice(prefix.length));
  };
  return found.sort((a, b) => (a.encoding === "int" && b.encoding === "int"
    ? unlikeliness(a, now) - unlikeliness(b, now) : place(a) - place(b)));
}

// Whether digits, small letters and capitals alternate as in random texts: at least three times. If
// there are only letters, they must alternate at about every second character.
function alternates(text) {
  const changes = (text.match(/[0-9]+|[a-z]+|[A-Z]+|[^0-9a-zA-Z]+/g) ?? []).length - 1;
  return changes >= 3 && (/[^a-zA-Z]/.test(text) || changes * 2 >= text.length - 3);
}

const WRAPPERS = Object.entries({
  '""': "quotes", "''": "quotes", "``": "quotes", "()": "brackets", "[]": "brackets",
  "<>": "brackets", "{}": "braces",
});

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

// Distinguishes IDs from hashes by their times. Only one hash in hundreds has a plausible time. The
// method accept counts a time. It returns true if this time and nine in ten recent times are
// plausible.
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

const oneCase = (text) => !/[a-z]/.test(text) || !/[A-Z]/.test(text);
const mixed = (text) => !oneCase(text) && /[0-9]/.test(text);
const isHex = (text) => /^[0-9a-fA-F]+$/.test(text);
const startsWord = (text = "") => /^[0-9A-Za-z]/.test(text);

// Finds IDs by the rules of "sortid scan".
export class Finder {
  #ratios = {}; // a Ratio for each kind of text
  // Formats by length. The list `word` has the formats whose texts can contain - or _.
  #formats = { text: [], word: [], hex: [], uuid: [], int: [] };

  constructor({ formats: only, now = Date.now() } = {}) {
    Object.assign(this, { only, now });
    // Formats that a text seldom fits by chance come first: formats with a prefix, then formats
    // such as UUIDs. Our formats come last.
    const place = ({ generates, text }) => (generates ? 2 : text.prefix ? 0 : 1);
    for (const format of [...formats].sort((a, b) => place(a) - place(b))) {
      const { generates, width, search = {}, text } = format;
      if (only ? !only.includes(format) : search.word_like || search.named) continue;
      const lengths = {
        text: text.usual_lengths ?? text.lengths, hex: [width / 4], uuid: [36],
        int: only && !generates ? [0] : [], // 0 means any length
      };
      const word = /[-_]/.test(symbolsOf(format));
      for (const encoding of format.guess ?? format.encodings) {
        const lists = this.#formats[encoding === "text" && word ? "word" : encoding];
        for (const n of lengths[encoding]) (lists[n] ??= []).push(format);
      }
    }
  }

  find(text) {
    const found = [];
    for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z]{10,}/g)) {
      if (run.length <= 42) found.push(this.#judge(text, run, index));
    }
    if (this.#formats.word.length > 0) {
      for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z_-]+/g)) {
        found.push(this.#judgeWord(run, index));
      }
    }
    return found.filter((match) => match).sort((a, b) => a.start - b.start);
  }

  #judgeWord(run, start) {
    if (!/[0-9]/.test(run.slice(1)) && oneCase(run.slice(1))) return undefined; // an ordinary word
    const among = this.#formats.word[run.length]?.filter((f) => !f.search.mixed || alternates(run));
    return this.#first(among, "text", run, start);
  }

  #judge(text, run, start) {
    const { text: texts, hex, int } = this.#formats;
    const number = /^[1-9][0-9]+$/.test(run) && this.#first(int[0], "int", run, start);
    if (number) return number;
    if (isHex(run) && hex[run.length]) return this.#judgeHex(text, run, start);
    for (const format of texts[run.length] ?? []) {
      const match = this.#judgeText(format, text, run, start);
      if (match) return match;
    }
    if (run.length === 12) return this.#judgeUUID(text, start - 24);
    const skip = /^0x/i.test(run) ? 2 : run[0] === "x" && text[start - 1] === "\\" ? 1 : 0;
    const rest = run.slice(skip);
    if (!skip || !isHex(rest) || !hex[rest.length]) return undefined;
    return this.#judgeHex(text, rest, start + skip);
  }

  #accept(what, plausible) { return (this.#ratios[what] ??= new Ratio()).accept(plausible); }

  #first(among = [], encoding, word, start) {
    for (const format of among) {
      const id = attempt(() => format.parseAs(encoding, word));
      if (id && probable(id, this.now) && (this.only || id.timed)) {
        return { id, encoding, start, end: start + word.length };
      }
    }
    return undefined;
  }

  // A short text is no ID if it is a number such as 0x0123456789, or a part of Base64. If the
  // caller gives no formats, the text must also have a digit and the usual case.
  #judgeText(format, text, run, start) {
    const { short, prefix = "", mixed } = format.search ?? {};
    const bothCases = !oneCase(symbolsOf(format));
    const random = mixed || bothCases;
    if (!run.startsWith(prefix) || !bothCases && !oneCase(run)) return undefined;
    if (!this.only && isHex(run) && run.length > 16) return undefined; // probably a hash
    if (random && !alternates(run)) return undefined;
    if (format.text.prefix) return this.#judgePrefixed(format, text, run, start);
    if (bothCases && oneCase(run)) return undefined;
    if ((random || short) && besideBase64(text, start, start + run.length)) return undefined;
    const usual = this.only || usualCase(format, "text", run) && /[0-9]/.test(run);
    if (short && (!usual || /^0[xbo][0-9a-f]+$/i.test(run))) return undefined;
    const match = this.#first([format], "text", run, start);
    const likely = !random || this.only || this.#accept(`mixed ${run.length}`, match !== undefined);
    return likely ? match : undefined;
  }

  // The run is what follows the prefix of an ID. A hyphen and a check can follow the run.
  #judgePrefixed(format, text, run, start) {
    const { prefix, lengths } = format.text;
    let first = start - 1;
    if (text[first] !== "_") { // only the caller's formats may lack the prefix
      const bare = this.only && this.#first([format], "text", run, start);
      return bare?.id.timed && bare;
    }
    while (first > 0 && prefix.symbols.includes(text[first - 1])) first--;
    if (startsWord(text[first - 1])) return undefined;
    const read = (n) => this.#first([format], "text", text.slice(first, start + n), first);
    const match = read(run.length);
    const longer = lengths.filter((n) => n > run.length && !/^[\w-]/.test(text.slice(start + n)));
    return match && (longer.map(read).find((found) => found) ?? match);
  }

  // Very many numbers fit a format with search.labelled. Such a number must follow the word "id".
  #judgeHex(text, run, start) {
    if (!oneCase(run)) return undefined;
    const match = this.#first(this.#formats.hex[run.length], "hex", run, start);
    if (this.only) return match;
    const likely = match?.id.format.search?.labelled
      ? /id[^0-9a-z]{0,8}$/i.test(text.slice(Math.max(0, start - 10), start))
      : this.#accept(run.length, match !== undefined);
    return likely ? match : undefined;
  }

  #judgeUUID(text, start) {
    const word = text.slice(start, start + 36);
    if (start < 0 || NOT_UUID.test(word) || startsWord(text[start - 1])) return undefined;
    const match = this.#first(this.#formats.uuid[36], "uuid", word, start);
    if (this.only || match && !match.id.format.generates) return match;
    const likely = this.#accept("any UUID", match !== undefined);
    // One in eight scru128 IDs looks like a UUID without a time. Such a text counts as scru128 only
    // if earlier texts of this form were IDs of our formats and could not be UUIDs.
    const ours = /^.{14}[1-8].{4}[89ab]/i.test(word)
      ? likely && this.#ratios["other UUIDs"]?.likely
      : this.#accept("other UUIDs", match !== undefined);
    return ours ? match : undefined;
  }
}

// All symbols of a format's texts after the prefix.
const symbolsOf = ({ text: { symbols = "", groups = [] } }) =>
  groups.reduce((all, { before = "", symbols: own = "" }) => all + before + own, symbols);

// Whether + / - or _ joins a run to another run with digits, small letters and capitals.
function besideBase64(text, start, end) {
  const before = /([0-9A-Za-z]*)[+/_-]$/.exec(text.slice(Math.max(0, start - 25), start));
  const after = /^[+/_-]([0-9A-Za-z]*)/.exec(text.slice(end, end + 25));
  return before !== null && mixed(before[1]) || after !== null && mixed(after[1]);
}

export const find = (text, options) => new Finder(options).find(text);

/* Times */

const UNITS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 1e-3, µs: 1e-3, μs: 1e-3, ns: 1e-6 };
const RELATIVE = new RegExp("^(?:([+-])(?=.)|(?!0$))(?:([0-9]{1,10})w)?(?:([0-9]{1,10})d)?" +
  "((?:(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:h|ms|m|s|us|µs|μs|ns))*|0)$");
const ABSOLUTE = new RegExp("^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})" +
  "(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?: ?(Z|([+-])([0-9]{2}):([0-9]{2})))?)?$");

// An offset in milliseconds, from its sign and numbers.
const offsetOf = (sign, hours, minutes, seconds = 0) =>
  Number(`${sign}1`) * ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;

export function parseTime(text, now = Date.now(), zone = "UTC") {
  const shown = JSON.stringify(text.slice(0, 64));
  const fail = (reason) => reject(`cannot read the time ${shown}: ${reason}`);
  const far = "it is too far away";
  const unknown = "it is of no known form";
  const word = text.trim();
  if (word === "") fail("it is empty");
  if (/^now$/i.test(word)) return now;
  const [, whole, part] = /^@(-?[0-9]+)(?:\.([0-9]*))?$/.exec(word) ?? [];
  if (whole) {
    const size = Math.abs(Number(whole));
    if (!part && size >= 1e12 && size < 1e15) return Number(whole); // it is in milliseconds
    if (size >= 1e12) fail(far);
    const rest = Number(`0.${part || 0}`) * 1000;
    return Number(whole) * 1000 + Math.floor(whole.startsWith("-") ? -rest : rest);
  }
  const relative = RELATIVE.exec(word);
  if (relative) {
    const [, sign = "-", weeks = 0, days = 0, rest] = relative;
    if (Math.max(weeks, days) >= 2 ** 31) fail(unknown);
    let milli = (Number(weeks) * 7 + Number(days)) * DAY;
    for (const [, n, unit] of rest.matchAll(/([0-9.]+)([a-zµμ]+)/g)) milli += n * UNITS[unit];
    if (milli > 2 ** 63 / 1e6) fail(far);
    return Math.floor(now + (sign === "-" ? -milli : milli));
  }
  const [, day, hour = "00", minute = "00", second = "00", fraction = "0", ...offset] =
    ABSOLUTE.exec(word) ?? fail(unknown);
  const [utc, sign, hours, minutes] = offset;
  const start = `${day}T${hour}:${minute}:${second}`;
  const local = Date.parse(`${start}Z`);
  const exists = !Number.isNaN(local) && new Date(local).toISOString().startsWith(start);
  if (!exists || hours > 24 || minutes > 60) fail("there is no such day or time of day");
  const ahead = sign ? offsetOf(sign, hours, minutes)
    : utc || zone === "UTC" ? 0 : zoneOffset(local - zoneOffset(local, zone), zone);
  return local - ahead + Math.floor(Number(`0.${fraction}`) * 1000);
}

export function zoneOffset(milli, timeZone) {
  const clock = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const { value } = clock.formatToParts(milli).find(({ type }) => type === "timeZoneName");
  const parts = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(value); // as in GMT-03:30
  return parts ? offsetOf(...parts.slice(1)) : 0;
}

/* Which formats fit a load, and for how long; docs/command.md derives the formulas. */

const SECONDS_PER_YEAR = 365.2425 * 24 * 60 * 60;
const MOST_RISK = 1e-6; // with a higher probability of a collision, a format does not fit
const MOST_AHEAD = ALLOWANCE / 1000; // seconds that a timestamp may be ahead of the clock

export function odds(p) {
  if (p === 0) return "none";
  if (p > 0.99) return "certain";
  return p > 0.01 ? `${Math.round(p * 100)} %` : `one in ${count(1 / p)}`;
}

export function count(n) {
  const words = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
  if (n < 1e4) return n.toFixed(0);
  let i = Math.floor(Math.floor(Math.log10(n)) / 3);
  if (n / 1000 ** i >= 999.5) i++; // it would be printed as 1000
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
  const day = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(r.from);
  const from = day ? Date.parse(`${r.from}T00:00:00Z`) : NaN;
  const whole = Number.isInteger(r.processes);
  for (const [name, ok, want] of [
    ["from", !Number.isNaN(from), "a day such as 2026-11-21"],
    ["rate", r.rate > 0 && r.rate <= 1e15, "IDs a second: more than 0, at most 1e15"],
    ["burst", r.burst >= 0 && r.burst <= 1e12, "IDs at once: 0 to 1e12"],
    ["processes", whole && r.processes >= 1 && r.processes <= 1e9, "1 to 1000000000"],
    ["years", r.years > 0 && r.years <= 10000, "more than 0, at most 10000"],
    ["bits", [0, 64, 128].includes(r.bits), "64, 128, or 0 for any"],
  ]) if (!ok) reject(`${name} is ${r[name]}, want ${want}`);
  return from;
}

export function collisionProbability({ plan, node_counter: shared }, request) {
  const { rate, years, processes, can_assign_nodes: nodes } = request;
  if (shared || nodes && processes > 1 && nodeSizes(processes, plan.node_bits).length > 0) return 0;
  const millis = years * SECONDS_PER_YEAR * 1000;
  const perMilli = rate / processes / 1000;
  // Two processes' IDs of one millisecond are equal with a probability of at most 2^-random_bits.
  const pairs = millis * processes * (processes - 1) / 2 * perMilli * perMilli;
  return -Math.expm1(-pairs * 2 ** -plan.random_bits) || 0;
}

// Sizes of node IDs, best first. The best has room for twice the processes, as in a rolling
// deployment. The last has just enough room.
function nodeSizes(processes, most = 0) {
  const bits = (n) => Math.max(1, Math.ceil(Math.log2(n)));
  const least = bits(processes);
  const best = Math.min(bits(2 * processes), most);
  return Array.from({ length: Math.max(0, best - least + 1) }, (_, i) => best - i);
}

// guard is how many high bits of the counter must start at zero, so that at most one tick in a
// thousand has too few IDs. If no guard achieves this, ok is false. mean is the mean number of IDs
// in a tick.
function guardBits(bits, perTick) {
  const size = 2 ** bits;
  for (let guard = bits <= 4 ? 1 : 0; ; guard++) {
    const starts = 2 ** (bits - guard); // how many values the counter can start at
    const mean = size - (starts - 1) / 2;
    const ok = (perTick - 1 - (size - starts)) / starts <= 1e-3;
    if (ok || guard === bits) return { guard, mean, ok };
  }
}

// Completes the result of a format that needs no node ID. Returns what makes the IDs unique.
function byChance({ node, plan }, load, result, refuse) {
  const { per_tick: mean, least, unique, node_bits: most } = plan;
  const tick = result.tick_seconds;
  if (least) { // a generator waits for the next millisecond
    if (load.burst > 0) result.burst_waits_seconds = Math.floor((load.burst - 1) / mean) * tick;
    const rate = least / tick;
    if (load.perSecond > rate) refuse(`a process makes at most ${rate.toFixed(0)} IDs a second`);
  }
  if (!most || !load.can_assign_nodes) return unique;
  const [size] = nodeSizes(load.processes, most);
  if (size && load.processes > 1) {
    result.options.node_bits = size;
    return `a ${node} ID of ${size} bits for each process`;
  }
  return `there are ${node} IDs for at most ${2 ** most} processes`;
}

// Does the same for a format that needs a node ID. If a counter is full, its generator uses the
// next tick.
function byNode({ node_counter: width, plan: { node_bits: most } }, load, result, refuse) {
  if (load.processes > 1 && !load.can_assign_nodes) {
    refuse("each process needs a node ID of its own, assigned or leased");
  }
  const tick = result.tick_seconds;
  const perTick = load.perSecond * tick;
  const choices = nodeSizes(load.processes, most).map((size) => {
    const { guard, mean, ok } = guardBits(width - size, perTick + 6 * Math.sqrt(perTick));
    const ahead = load.burst > 0 ? Math.floor((load.burst - 1) / mean) * tick : 0;
    return { size, guard, mean, ahead, holds: ok, inTime: ahead <= MOST_AHEAD };
  });
  if (choices.length === 0) return refuse(`there are at most 2^${most} node IDs`);
  const best = choices.find(({ holds, inTime }) => holds && inTime) ?? choices.at(-1);
  const { size, guard, mean, ahead, holds, inTime } = best;
  result.options = { node_bits: size, overflow_guard: guard };
  result.ids_per_tick = Math.floor(mean);
  result.burst_ahead_seconds = ahead;
  if (!holds) {
    refuse(`a process would make more IDs than its counter of ${width - size} bits holds in ` +
      seconds(tick));
  }
  if (!inTime) {
    refuse(`a burst would run ${seconds(ahead)} ahead of the clock, more than the allowance of ` +
      `${MOST_AHEAD} s`);
  }
  return `a node ID of ${size} bits for each process`;
}

export function plan(request) {
  const asked = {
    burst: 0, processes: 1, years: 20, bits: 0, can_assign_nodes: false,
    from: new Date().toISOString().slice(0, 10), ...request,
  };
  const end = checkRequest(asked) + Math.ceil(asked.years * 365.2425) * DAY;
  const load = { ...asked, perSecond: asked.rate / asked.processes };
  const results = formats.filter(({ generates }) => generates).map((format) => {
    const { name, tick, last, bits, sql } = format;
    const reasons = [];
    const refuse = (reason) => { reasons.push(reason); };
    const risk = collisionProbability(format, asked);
    const result = {
      format: name, collision_probability: risk,
      ids_per_tick: Math.floor(format.plan.per_tick ?? 0), tick_seconds: tick / 1000,
      burst_waits_seconds: 0, burst_ahead_seconds: 0, ends: formatTime(last).split("T")[0],
      bytes: sql.bytes, column: sql.postgres, options: {},
    };
    const unique = (format.node_counter ? byNode : byChance)(format, load, result, refuse);
    if (risk > MOST_RISK) {
      refuse(`collision: ${odds(risk)}; the limit is one in a million`);
    }
    if (end > last) refuse(`its timestamps end in ${new Date(last).getUTCFullYear()}`);
    if (asked.bits !== 0 && bits > asked.bits) refuse(`an ID has ${bits} bits`);
    if (reasons.length > 0) return { ...result, fits: false, reasons };
    const reason = asked.processes === 1 ? "one generator never makes an ID twice" : unique;
    return { ...result, fits: true, reasons: [reason] };
  });
  const preference = ({ format }) => lookup(format).plan.preference;
  const [best] = results.filter(({ fits }) => fits).sort((a, b) => preference(a) - preference(b));
  return {
    asked, ids: asked.rate * asked.years * SECONDS_PER_YEAR, recommended: best?.format ?? "",
    ...(best && { command: planCommand(asked, best) }), formats: results,
  };
}

function planCommand({ processes }, { format, options }) {
  const { node_bits: size, overflow_guard: guard } = options;
  const node = processes === 1 ? `--${lookup(format).node} 0/${size}`
    : `--lease STORE --node-bits ${size}`;
  return `sortid new ${format}${size ? ` ${node}` : ""}${guard ? ` --guard ${guard}` : ""}`;
}
