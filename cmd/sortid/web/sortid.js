// Time-sortable IDs of five formats: scru64, scru128, scru160, euid and uid60.
//
// A format reads, writes and makes its IDs; an ID is a big integer with a format. The
// README has examples, and sortid.d.ts describes all of it. The command "sortid page" puts
// this file, without its exports, into a page.

// What each format is made of. "go generate" writes this line from the Go package format.
const descriptions = [
{"name":"scru64","title":"SCRU64","summary":"64 bits, unique through assigned node IDs","bits":64,"alphabet":"12 Base36 digits","symbols":"0123456789abcdefghijklmnopqrstuvwxyz","foldsCase":true,"textLengths":[12],"hexText":false,"textSorts":true,"example":"0u2pf62ji4b9","max":"4738381338321616895","epoch":0,"tick":256,"reserved":true,"last":72301961338879,"plausibleFrom":1262304000000,"fields":[{"name":"timestamp","bits":40,"kind":"time","meaning":"Unix time in units of 256 ms"},{"name":"node_ctr","bits":24,"kind":"node","meaning":"node ID above, counter below"}]},
{"name":"scru128","title":"SCRU128","summary":"128 bits, unique without any coordination","bits":128,"alphabet":"25 Base36 digits","symbols":"0123456789abcdefghijklmnopqrstuvwxyz","foldsCase":true,"textLengths":[25],"hexText":false,"textSorts":true,"example":"0372ijojuxuhjsfkeryi2mrtm","max":"340282366920938463463374607431768211455","epoch":0,"tick":1,"reserved":true,"last":281474976710654,"plausibleFrom":1262304000000,"fields":[{"name":"timestamp","bits":48,"kind":"time","meaning":"Unix time in milliseconds"},{"name":"counter_hi","bits":24,"kind":"counter","meaning":"random, renewed each second"},{"name":"counter_lo","bits":24,"kind":"counter","meaning":"+1 per ID, random start in each millisecond"},{"name":"entropy","bits":32,"kind":"random","meaning":"random in each ID"}]},
{"name":"scru160","title":"SCRU160","summary":"160 bits, about 111 of them random","bits":160,"alphabet":"32 base32hex symbols","symbols":"0123456789ABCDEFGHIJKLMNOPQRSTUV","foldsCase":true,"textLengths":[32],"hexText":true,"textSorts":true,"example":"05TTUP1HNCPNH30VEK64KDQT9BSNU4C4","max":"1461501637330902918203684832716283019655932542975","epoch":0,"tick":1,"reserved":true,"last":281474976710654,"plausibleFrom":1262304000000,"fields":[{"name":"timestamp","bits":48,"kind":"time","meaning":"Unix time in milliseconds"},{"name":"counter","bits":16,"kind":"counter","meaning":"+1 per ID, random start in each millisecond"},{"name":"random16","bits":16,"kind":"data","meaning":"random, or more counter, or a node ID"},{"name":"random80","bits":80,"kind":"random","meaning":"random in each ID"}]},
{"name":"euid","title":"EUID, draft 3","summary":"128 bits with a check symbol and 15 bits of one's own","bits":128,"alphabet":"27 Crockford Base32 symbols, the last two a check","symbols":"0123456789ABCDEFGHJKMNPQRSTVWXYZ","foldsCase":true,"textLengths":[27],"hexText":false,"textSorts":true,"example":"C8EE934SR007G5Q94QKKXFRFV8B","max":"340282366920938463463374607431768211455","epoch":0,"tick":1,"reserved":false,"last":4398046511103,"plausibleFrom":1262304000000,"fields":[{"name":"timestamp","bits":42,"kind":"time","meaning":"Unix time in milliseconds"},{"name":"random_and_extension","bits":15,"kind":"data","meaning":"random above, the extension below"},{"name":"extension_length","bits":4,"kind":"data","meaning":"bits of the extension; 0 means none"},{"name":"version","bits":3,"kind":"data","meaning":"0 stands for version 1"},{"name":"random","bits":64,"kind":"random","meaning":"high half +1 per ID in a millisecond, low half random"}]},
{"name":"uid60","title":"uid60","summary":"60 bits in ten characters that look random","bits":64,"alphabet":"9 or 10 characters of A-Z a-z 0-9 - _","symbols":"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_","foldsCase":false,"textLengths":[4,5,6,7,8,9,10],"hexText":false,"textSorts":false,"example":"xinaS8QBh","max":"1152921504606846975","epoch":1519862400000,"tick":1,"reserved":true,"last":5917908911102,"plausibleFrom":1522540800000,"fields":[{"name":"","bits":4,"kind":"zero","meaning":"always zero"},{"name":"timestamp","bits":42,"kind":"time","meaning":"milliseconds since 2018-03-01"},{"name":"sequence","bits":9,"kind":"counter","meaning":"+1 per ID, over all milliseconds"},{"name":"random","bits":9,"kind":"random","meaning":"random in each ID; a worker ID can take its high bits"}]}
];

/** A text that is no ID. */
export class ParseError extends Error {
  constructor(format, input, reason, offset, detail) {
    super(`${format}: cannot parse ${JSON.stringify(input.length > 64 ? input.slice(0, 64) + "…" : input)}: ${detail}`);
    Object.assign(this, { name: "ParseError", reason, offset, detail });
  }
}

// The length of a text in bytes, which is what the formats' texts are measured in.
function byteLength(text) {
  let n = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0x800 && (c & 0xf800) !== 0xd800) n += 2;
    else if (c >= 0x80) n += 1; // each half of a pair of surrogates stands for two bytes
  }
  return n;
}

// Reads and writes integers as digits of an alphabet.
function numerals({ name, symbols, foldsCase }) {
  const base = symbols.length;
  const table = new Map();
  [...symbols].forEach((symbol, digit) => {
    for (const like of foldsCase ? [symbol.toLowerCase(), symbol.toUpperCase()] : [symbol]) table.set(like, digit);
  });
  if (name === "euid") for (const like of "oOiIlL") table.set(like, /o/i.test(like) ? 0 : 1);
  return {
    // The digits of a text.
    read(text, lengths) {
      const n = byteLength(text);
      if (!lengths.includes(n)) throw new ParseError(name, text, "length", -1, `${n} characters, where ${lengths.join(" or ")} are wanted`);
      return Array.from(text, (symbol, offset) => {
        const digit = table.get(symbol);
        if (digit !== undefined) return digit;
        throw new ParseError(name, text, "symbol", offset, `${JSON.stringify(symbol)} at offset ${offset} is no symbol of the format`);
      });
    },
    // The integer of digits, as many at a time as fit a double's 53 bits.
    value(digits) {
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
    },
    // The text of an integer, of at least so many digits.
    write(value, length) {
      let text = "";
      for (; value > 0n; value /= BigInt(base)) text = symbols[Number(value % BigInt(base))] + text;
      return text.padStart(length, symbols[0]);
    },
  };
}

// The text encoding of a format: parse returns an integer or throws a ParseError.
function codec(description) {
  const { name, bits, hexText, textLengths } = description;
  const { read, value, write } = numerals(description);
  if (name === "euid") { // the integer and its remainder modulo 127, in 7 bits
    return {
      parse(text) {
        const whole = value(read(text, textLengths));
        if ((whole & 127n) === (whole >> 7n) % 127n) return whole >> 7n;
        throw new ParseError(name, text, "check", -1, "the check value does not fit: the text is mistyped");
      },
      write: (integer) => write(integer << 7n | integer % 127n, textLengths[0]),
    };
  }
  if (name === "uid60") { // the last two digits stand in front
    return {
      parse(text) {
        const [a, b, ...rest] = read(text, textLengths);
        return value([...rest, a, b]);
      },
      write(integer) {
        const text = write(integer, textLengths[0]);
        return text.slice(-2) + text.slice(0, -2);
      },
    };
  }
  const hex = numerals({ ...description, symbols: "0123456789abcdef" });
  return {
    parse: (text) => (hexText && byteLength(text) === bits / 4 ? hex.value(hex.read(text, [bits / 4])) : value(read(text, textLengths))),
    write: (integer) => write(integer, textLengths[0]),
  };
}

const codecs = Object.fromEntries(descriptions.map((description) => [description.name, codec(description)]));

/** A time as RFC 3339 in UTC to the millisecond, as the command sortid prints it. */
export const formatTime = (milli) => new Date(milli).toISOString().replace(/^\+0*/, ""); // of years from 10000 on

/** An ID of one of the formats: immutable; compare with compare, equals or its value. */
export class ID {
  constructor(format, value) {
    this.format = format;
    this.value = value;
    Object.freeze(this);
  }

  get text() { return codecs[this.format.name].write(this.value); }
  get hex() { return this.value.toString(16).padStart(this.format.bits / 4, "0"); }
  get int() { return this.value.toString(); }

  get uuid() {
    return this.format.bits === 128 ? this.hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") : undefined;
  }

  in(encoding) {
    if (!this.format.encodings.includes(encoding)) {
      throw new RangeError(`${this.format.name} IDs have no encoding ${JSON.stringify(encoding)}; their encodings are ${this.format.encodings.join(", ")}`);
    }
    return this[encoding];
  }

  field(field) {
    return this.value >> BigInt(field.low) & (1n << BigInt(field.bits)) - 1n;
  }

  get fields() {
    const values = {};
    for (const field of this.format.fields) if (field.name) values[field.name] = this.field(field);
    return values;
  }

  get milli() { return this.format.epoch + Number(this.field(this.format.timestamp)) * this.format.tick; }
  get time() { return new Date(this.milli); }

  get bytes() { return Uint8Array.from(this.hex.match(/../g), (byte) => parseInt(byte, 16)); }

  /** What else there is to say about the ID. */
  get notes() {
    const notes = [];
    const { format } = this;
    const timestamp = this.field(format.timestamp);
    if (format.reserved && (timestamp === 0n || timestamp === format.max >> BigInt(format.timestamp.low))) {
      notes.push("the timestamp is reserved: no generator makes this ID");
    }
    if (format.name === "euid") {
      const { random_and_extension, extension_length: length, version } = this.fields;
      if (length > 0n) notes.push(`extension ${random_and_extension & (1n << length) - 1n}, in ${length} bits`);
      if (version > 0n) notes.push(`version ${version + 1n}: the document knows version 1 only`);
    }
    return notes;
  }

  compare(other) { return this.value < other.value ? -1 : this.value > other.value ? 1 : 0; }
  equals(other) { return this.format === other.format && this.value === other.value; }
  toString() { return this.text; }

  /** What "sortid inspect -o json" prints of an ID. */
  toJSON() {
    const all = { format: this.format.name };
    for (const encoding of this.format.encodings) all[encoding] = this[encoding];
    all.time = formatTime(this.milli);
    all.fields = Object.fromEntries(Object.entries(this.fields).map(([name, value]) => [name, value.toString()]));
    if (this.notes.length) all.notes = this.notes;
    return all;
  }
}

export class Format {
  constructor(description) {
    Object.assign(this, description);
    this.max = BigInt(description.max);
    this.encodings = this.bits === 128 ? ["text", "hex", "int", "uuid"] : ["text", "hex", "int"];
    let low = this.bits;
    this.fields = this.fields.map((field) => Object.freeze({ ...field, low: low -= field.bits }));
    this.timestamp = this.fields.find((field) => field.name === "timestamp");
    Object.freeze(this);
  }

  parse(text) { return this.#checked(text, codecs[this.name].parse(text)); }

  parseAs(encoding, text) {
    if (encoding === "text") return this.parse(text);
    if (!this.encodings.includes(encoding)) throw new RangeError(`${this.name} IDs have no encoding ${JSON.stringify(encoding)}; their encodings are ${this.encodings.join(", ")}`);
    const [length, symbols, what] = {
      hex: [this.bits / 4, /[^0-9a-f]/i, "no hexadecimal digit"],
      int: [undefined, /[^0-9]/, "no decimal digit"],
      uuid: [36, /[^0-9a-f-]|(?<=^(.{8}|.{13}|.{18}|.{23}))[^-]|(?<!^(.{8}|.{13}|.{18}|.{23}))-/i, "not the hexadecimal digit or hyphen of a UUID"],
    }[encoding];
    if (length ? text.length !== length : text === "") {
      throw new ParseError(this.name, text, "length", -1, `${text.length} characters, where the encoding ${encoding} has ${length ?? "some"}`);
    }
    const offset = text.search(symbols);
    if (offset >= 0) {
      const c = String.fromCodePoint(text.codePointAt(offset));
      throw new ParseError(this.name, text, "symbol", offset, `${JSON.stringify(c)} at offset ${offset} is ${what}`);
    }
    if (encoding !== "int") return this.#checked(text, BigInt("0x" + text.replace(/-/g, "")));
    return this.#checked(text, text.length > 64 ? this.max + 1n : BigInt(text));
  }

  /** The ID of a text in any encoding, and the encoding: {id, encoding}. */
  parseAny(text) {
    const encoding = this.#encodingOf(text);
    return { id: this.parseAs(encoding, text), encoding };
  }

  #encodingOf(text) {
    if (this.textLengths.includes(text.length)) return "text";
    if (this.bits === 128 && text.length === 36) return "uuid";
    if (text.length === this.bits / 4 && /^[0-9a-fA-F]+$/.test(text)) return "hex";
    return /^[0-9]+$/.test(text) ? "int" : "text";
  }

  fromInt(value) { return this.#checked(String(value), BigInt(value)); }

  fromBytes(bytes) {
    return this.parseAs("hex", Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""));
  }

  fromFields(values) {
    let value = 0n;
    for (const field of this.fields) {
      const content = field.name ? BigInt(values[field.name]) : 0n;
      if (content < 0n || content >> BigInt(field.bits)) {
        throw new RangeError(`${this.name}: ${field.name} has ${field.bits} bits, and ${content} does not fit`);
      }
      value |= content << BigInt(field.low);
    }
    return this.fromInt(value);
  }

  #checked(text, value) {
    if (value < 0n || value > this.max) {
      throw new ParseError(this.name, text, "range", -1, `larger than ${new ID(this, this.max).text}, the largest ID`);
    }
    return new ID(this, value);
  }

  /** The smallest ID of a time's tick; a time is a Date or Unix milliseconds. */
  first(time) {
    const milli = Number(time);
    const timestamp = Math.floor((milli - this.epoch) / this.tick);
    const last = this.max >> BigInt(this.timestamp.low);
    if (!(timestamp >= 0) || timestamp > Number(last)) {
      throw new RangeError(`${this.name} IDs cannot show ${Number.isNaN(milli) ? "this time" : formatTime(milli)}: ` +
        `their times are from ${formatTime(this.epoch)} to ${formatTime(this.epoch + (Number(last) + 1) * this.tick - 1)}`);
    }
    return new ID(this, BigInt(timestamp) << BigInt(this.timestamp.low));
  }

  /** The IDs of a time range are those from first up to, but not including, end. */
  bounds(from, to) {
    const first = this.first(from);
    const end = this.first(to);
    if (!(Number(from) < Number(to))) throw new RangeError("the range is empty: its end must be later than its start");
    if (first.value === end.value) {
      throw new RangeError(`the range lies within one tick, and ${this.name} IDs do not tell times within ${this.tick} ms apart`);
    }
    return { first, end };
  }

  generator(options = {}) { return new generators[this.name](this, options); }

  /** The next ID of a generator with no options, which all callers share. */
  generate() {
    if (!shared.has(this)) shared.set(this, this.generator());
    return shared.get(this).generate();
  }
}

const shared = new Map();

/** A generator that can make no ID now. */
export class GeneratorError extends Error {
  name = "GeneratorError";
}

// Random bytes, fetched many at a time.
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

// How far the clock may go back, or be left behind by counters that overflow.
const ALLOWANCE = 10_000;

// A generator keeps the timestamp of its last ID. Its subclasses say what an ID of a new
// timestamp is, and what comes next within one: an ID's bits below the timestamp, or
// undefined where the tick has no more.
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
    const timestamp = Math.floor((this.now() - format.epoch) / format.tick);
    const last = Number(format.max >> BigInt(format.timestamp.low));
    const margin = format.reserved ? 1 : 0;
    if (!(timestamp >= margin && timestamp <= last - margin)) {
      throw new GeneratorError(`${format.name}: the clock shows a time that no ID can carry`);
    }
    return timestamp;
  }

  generate() {
    const now = this.clock();
    if (now > this.last) return this.begin(now);
    if ((this.last - now) * this.format.tick > ALLOWANCE) return this.behind(now);
    const low = this.next();
    return low === undefined ? this.full() : this.make(low);
  }

  // The first ID of a timestamp.
  begin(timestamp) {
    const low = this.start(timestamp);
    this.last = timestamp;
    return this.make(low);
  }

  make(low) { return this.format.fromInt(BigInt(this.last) << BigInt(this.format.timestamp.low) | low); }

  // The clock went back too far. Formats that randomness keeps unique start afresh.
  behind(now) {
    this.last = -1;
    return this.begin(now);
  }

  // The tick has no more IDs: waits for the next, for as long as half a second.
  full() {
    const deadline = performance.now() + 500;
    while (this.clock() <= this.last) {
      if (performance.now() > deadline) throw new GeneratorError(`${this.format.name}: no ID is left in this tick`);
    }
    return this.begin(this.clock());
  }
}

// A clock that went back too far is an error for formats whose node ID keeps them unique.
function refuse(generator) {
  throw new GeneratorError(`${generator.format.name}: the clock is more than ${ALLOWANCE / 1000} seconds behind the last ID`);
}

// A node ID and its size, as in "42/8"; parts as scru64's document has them.
function parseNode(text, max, what) {
  const match = /^(?:([0-9]{1,8})|0x([0-9a-fA-F]{1,6}))\/([0-9]{1,2})$/.exec(text);
  if (!match) throw new RangeError(`the ${what} is to be like 42/8: the ID, a slash, and its size in bits`);
  const id = match[1] ? parseInt(match[1], 10) : parseInt(match[2], 16);
  const size = Number(match[3]);
  if (size < 1 || size > max) throw new RangeError(`the size of the ${what} is 1 to ${max} bits, not ${size}`);
  if (id >= 2 ** size) throw new RangeError(`${id} is no ${what} of ${size} bits: the largest is ${2 ** size - 1}`);
  return { id, size };
}

const generators = {
  scru64: class extends Generator {
    constructor(format, options) {
      super(format, options);
      if (!options.node) throw new RangeError("scru64 needs a node ID and its size in bits, as in 42/8, that no other generator has");
      const after = /^([0-9a-zA-Z]{12})\/([0-9]{1,2})$/.exec(options.node);
      if (after) { // an ID to go on after
        const previous = format.parse(after[1]);
        const { size } = parseNode(`0/${after[2]}`, 23, "node ID");
        this.setNode(Number(previous.fields.node_ctr >> BigInt(24 - size)), size);
        if (previous.fields.timestamp > 0n) {
          this.last = Number(previous.fields.timestamp);
          this.counter = Number(previous.fields.node_ctr) % 2 ** this.counterSize;
        }
      } else {
        const { id, size } = parseNode(options.node, 23, "node ID");
        this.setNode(id, size);
      }
    }
    setNode(id, size) {
      this.counterSize = 24 - size;
      this.node = BigInt(id) << BigInt(this.counterSize);
      this.guard = size >= 20 ? 1 : 0; // a bit of the counter that starts at zero
    }
    start() {
      this.counter = Number(this.random(this.counterSize - this.guard));
      return this.node | BigInt(this.counter);
    }
    next() {
      if (this.counter + 1 >= 2 ** this.counterSize) return undefined;
      return this.node | BigInt(++this.counter);
    }
    full() { // takes the next tick ahead of the clock
      if ((this.last + 1 - this.clock()) * this.format.tick > ALLOWANCE) return refuse(this);
      return this.begin(this.last + 1);
    }
    behind() { return refuse(this); }
  },

  scru128: class extends Generator {
    renewed = -Infinity; // when counter_hi was last drawn
    start(timestamp) {
      if (timestamp - this.renewed >= 1000) {
        this.high = this.random(24);
        this.renewed = timestamp;
      }
      this.low = this.random(24);
      return this.join();
    }
    next() {
      this.low++;
      if (this.low >> 24n) {
        this.low = 0n;
        this.high++;
        if (this.high >> 24n) return undefined;
      }
      return this.join();
    }
    join() { return this.high << 56n | this.low << 32n | this.random(32); }
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

  scru160: class extends Generator {
    constructor(format, options) {
      super(format, options);
      const { id, size } = options.node ? parseNode(options.node, 16, "node ID") : { id: 0, size: 0 };
      this.free = 96 - size; // random bits below the node ID
      this.node = BigInt(id) << BigInt(this.free);
    }
    start() {
      this.counter = this.random(15);
      return this.join();
    }
    next() {
      if (this.counter === 0xffffn) return undefined;
      this.counter++;
      return this.join();
    }
    join() { return this.counter << 96n | this.node | this.random(this.free); }
  },

  euid: class extends Generator {
    constructor(format, options) {
      super(format, options);
      const value = options.extension ?? 0;
      const length = options.extensionLength ?? (value ? Math.floor(Math.log2(value)) + 1 : 0);
      if (!Number.isInteger(value) || value < 0 || length < 0 || length > 15 || value >= 2 ** length && value > 0) {
        throw new RangeError("the extension is a number of up to 15 bits, 0 to 32767");
      }
      this.length = BigInt(length);
      this.extension = BigInt(value);
    }
    start() {
      const above = this.random(15) >> this.length << this.length;
      this.head = (above | this.extension) << 7n | this.length << 3n;
      this.high = this.random(32);
      return this.join();
    }
    next() {
      if (this.high === 0xffff_ffffn) return undefined;
      this.high++;
      return this.join();
    }
    join() { return this.head << 64n | this.high << 32n | this.random(32); }
  },

  uid60: class extends Generator {
    sequence = 511n; // so that 0 comes next
    constructor(format, options) {
      super(format, options);
      const { id, size } = options.node ? parseNode(options.node, 9, "worker ID") : { id: 0, size: 0 };
      this.free = 9 - size; // random bits below the worker ID
      this.node = BigInt(id) << BigInt(this.free);
    }
    start() {
      this.sequence = this.sequence + 1n & 511n;
      return this.join();
    }
    next() { // the sequence wraps only between milliseconds, so that IDs increase
      if (this.sequence === 511n) return undefined;
      this.sequence++;
      return this.join();
    }
    join() { return this.sequence << 9n | this.node | this.random(this.free); }
    behind() { return refuse(this); }
  },
};

/** The five formats, in the order in which tables show them. */
export const formats = Object.freeze(descriptions.map((description) => new Format(description)));
export const [scru64, scru128, scru160, euid, uid60] = formats;

export function lookup(name) {
  const format = formats.find((format) => format.name === name);
  if (!format) throw new RangeError(`unknown format ${JSON.stringify(name)}; the formats are ${formats.map((f) => f.name).join(", ")}`);
  return format;
}

const DAY = 86_400_000; // milliseconds

/** The times that an ID of a format probably has if it was made before now: {from, to}. */
export function plausibleRange(format, now = Date.now()) {
  return { from: format.plausibleFrom, to: now + 365 * DAY };
}

/** Whether the time of an ID is one that IDs probably have. */
export function plausible(id, now = Date.now()) {
  const { from, to } = plausibleRange(id.format, now);
  return from <= id.milli && id.milli <= to;
}

// Whether letters are in the case in which they are written: that of the format in its
// own texts, lower case in others.
function usualCase(format, encoding, text) {
  if (encoding !== "text") return !/[A-Z]/.test(text);
  if (!format.foldsCase) return true;
  return format.symbols.includes("a") ? !/[A-Z]/.test(text) : !/[a-z]/.test(text);
}

// Whether a generator of the format may make the ID.
const generated = (id) => id.format.name !== "euid" || id.fields.version === 0n;

// The UUID of RFC 9562 that a text of 36 or 32 characters is, if it is one: its name, and its
// time if its version has one.
function standardUUID(text) {
  const digits = text.replace(/-/g, "").toLowerCase();
  const version = Number(digits[12]);
  if (!/^[0-9a-f]{12}[1-8][0-9a-f]{3}[89ab][0-9a-f]{15}$/.test(digits)) return undefined;
  const gregorian = { // 100 ns since 1582
    1: digits.slice(13, 16) + digits.slice(8, 12) + digits.slice(0, 8),
    6: digits.slice(0, 12) + digits.slice(13, 16),
  }[version];
  let milli;
  if (gregorian) milli = Number(BigInt("0x" + gregorian) / 10_000n) - 12_219_292_800_000;
  if (version === 7) milli = parseInt(digits.slice(0, 12), 16);
  return { foreign: `UUIDv${version}`, milli, text: digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-") };
}

/**
 * The ways to read a text whose format is unknown, the most probable first, as {id, encoding,
 * reason}: those whose time is plausible and that a generator of the format could make.
 * A UUID of RFC 9562 comes first, as {foreign, milli, text, reason}: its name, its time if
 * it has one.
 */
export function detect(text, now = Date.now()) {
  const found = [];
  const attempt = (format, encoding, reason) => {
    try {
      const id = format.parseAs(encoding, text);
      if (!plausible(id, now) || !generated(id)) return;
      const rank = ["text", "uuid", "hex", "int"].indexOf(encoding) + (usualCase(format, encoding, text) ? 0 : 4);
      found.push({ id, encoding, reason, rank });
    } catch { /* not in this encoding */ }
  };
  for (const format of formats) {
    if (format.textLengths.includes(text.length)) attempt(format, "text", format.alphabet);
    if (format.bits === 128 && text.length === 36) attempt(format, "uuid", "a UUID's 36 characters");
    if (text.length === format.bits / 4) attempt(format, "hex", `${text.length} hexadecimal digits`);
    if (/^[1-9][0-9]{0,48}$/.test(text)) attempt(format, "int", "a decimal integer");
  }
  found.sort((a, b) => a.rank - b.rank);
  const candidates = found.map(({ id, encoding, reason }) => ({ id, encoding, reason }));
  const hyphens = /^.{8}-.{4}-.{4}-.{4}-.{12}$/.test(text);
  const uuid = hyphens || text.length === 32 ? standardUUID(text) : undefined;
  if (uuid && (uuid.milli === undefined ? hyphens : uuid.milli >= formats[0].plausibleFrom && uuid.milli < now + 365 * DAY)) {
    const shape = hyphens ? "a UUID's 36 characters" : "32 hexadecimal digits";
    candidates.unshift({ ...uuid, reason: `${shape}, with the variant and version of RFC 9562` });
  }
  return candidates;
}

/**
 * Takes off a text what often stands around an ID and is none of it: {text, stripped},
 * where stripped names what was taken.
 */
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
    for (const [open, close, name] of [
      ['"', '"', "quotes"], ["'", "'", "quotes"], ["`", "`", "quotes"], ["(", ")", "brackets"], ["[", "]", "brackets"], ["<", ">", "brackets"], ["{", "}", "braces"],
    ]) if (text.length > 2 && text.startsWith(open) && text.endsWith(close)) take(text.slice(1, -1), name);
    take(text.replace(/^urn:uuid:(?=.)/i, ""), "urn:uuid:");
  }
  const [, prefix, digits] = /^(0x|0X|\\x)((?:[0-9a-fA-F]{16}){1,2}|[0-9a-fA-F]{40})$/.exec(text) ?? [];
  if (prefix) take(digits, prefix);
  if (text.length < 64 && text.includes("-")) { // people group the symbols of an EUID
    const rest = text.replaceAll("-", "");
    try {
      euid.parse(rest);
      take(rest, "hyphens");
    } catch { /* of something else, then */ }
  }
  return { text, stripped: [...stripped] };
}

/**
 * Tells hashes from IDs in hexadecimal digits: of hashes, one in hundreds has a plausible
 * time. accept counts one, and returns whether it and nine in ten of late had such a time.
 */
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
    return plausible && this.plausible * 10 >= this.seen * 9;
  }
}

// Whether a text has digits, and letters of both cases.
const mixed = (text) => /[0-9]/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
const oneCase = (text) => !/[a-z]/.test(text) || !/[A-Z]/.test(text);

/**
 * Finds IDs in text by the rules of "sortid scan": of all formats but uid60, or of those
 * given. One Finder should see all parts of an input, in order.
 */
export class Finder {
  #ratios = { 16: new Ratio(), 32: new Ratio(), 40: new Ratio(), uuid: new Ratio(), anyUUID: new Ratio() };

  constructor({ formats: only, now = Date.now() } = {}) {
    this.only = only;
    this.now = now;
  }

  /** The IDs in a text, in order: {id, encoding, start, end}; foreign is "UUIDv7" where it is one. */
  find(text) {
    const found = [];
    for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z]{12,}/g)) {
      const match = run.length <= 42 && this.#judge(text, run, index);
      if (match) found.push(match);
    }
    if (this.only?.includes(uid60)) {
      for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z_-]+/g)) {
        if (run.length < 9 || run.length > 10 || !/[0-9]/.test(run.slice(1)) && oneCase(run.slice(1))) continue; // words
        const match = this.#parse(uid60, "text", run, index);
        if (match) found.push(match);
      }
      found.sort((a, b) => a.start - b.start);
    }
    return found;
  }

  // Whether a run of letters and digits is an ID, or the end of a UUID.
  #judge(text, run, start) {
    const before = text[start - 1];
    switch (run.length) {
      case 12: {
        // As written until 2033; not 0x0123456789, nor within Base64.
        const likely = /^0(?![xbo][0-9a-f]{10}$)/i.test(run) && (this.only || !/[A-Z]/.test(run)) && !besideBase64(text, start, start + 12);
        return likely && this.#text(scru64, run, start) || this.#uuid(text, start - 24);
      }
      case 25: return this.#text(scru128, run, start);
      case 27: return this.#text(euid, run, start);
      case 32: return /^[0-9a-fA-F]+$/.test(run) ? this.#hex(run, start) : this.#text(scru160, run, start);
      case 16: case 40: return this.#hex(run, start);
      case 17: case 33: case 41: return before === "\\" && run[0] === "x" ? this.#hex(run.slice(1), start + 1) : undefined;
      case 18: case 34: case 42: return /^0x/i.test(run) ? this.#hex(run.slice(2), start + 2) : undefined;
    }
    return undefined;
  }

  #parse(format, encoding, word, start) {
    if (this.only ? !this.only.includes(format) : format === uid60) return undefined;
    try {
      const id = format.parseAs(encoding, word);
      return plausible(id, this.now) && generated(id) ? { id, encoding, start, end: start + word.length } : undefined;
    } catch {
      return undefined;
    }
  }

  #text(format, run, start) { return oneCase(run) ? this.#parse(format, "text", run, start) : undefined; }

  #hex(run, start) {
    if (!/^[0-9a-fA-F]+$/.test(run) || !oneCase(run)) return undefined;
    let match;
    for (const format of { 16: [scru64, uid60], 32: [scru128, euid], 40: [scru160] }[run.length]) match ??= this.#parse(format, "hex", run, start);
    return this.only || this.#ratios[run.length].accept(match !== undefined) ? match : undefined;
  }

  #uuid(text, start) {
    const word = text.slice(start, start + 36);
    if (start < 0 || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(word) || /[0-9A-Za-z]/.test(text[start - 1] ?? "")) return undefined;
    const match = this.#parse(scru128, "uuid", word, start) ?? this.#parse(euid, "uuid", word, start);
    if (this.only) return match;
    const likely = this.#ratios.anyUUID.accept(match !== undefined);
    const foreign = standardUUID(word)?.foreign;
    if (!foreign) return this.#ratios.uuid.accept(match !== undefined) ? match : undefined;
    if (foreign === "UUIDv7" && match?.id.format === scru128) return { ...match, foreign };
    return likely ? match : undefined; // one in eight of scru128 has such bits, too
  }
}

// Whether a run is joined by + / - or _ to one that is mixed, in the 24 characters there.
function besideBase64(text, start, end) {
  const before = /([0-9A-Za-z]*)[+/_-]$/.exec(text.slice(Math.max(0, start - 25), start));
  const after = /^[+/_-]([0-9A-Za-z]*)/.exec(text.slice(end, end + 25));
  return before !== null && mixed(before[1]) || after !== null && mixed(after[1]);
}

/** The IDs in a text, as a new Finder finds them. */
export const find = (text, options) => new Finder(options).find(text);

/**
 * The time that a text means, in Unix milliseconds, as "sortid bounds" reads it; it throws
 * a RangeError that says what is wrong.
 */
export function parseTime(text, now = Date.now()) {
  const wrong = (reason) => new RangeError(`cannot read the time ${JSON.stringify(text.slice(0, 64))}: ${reason}`);
  const word = text.trim();
  if (word === "") throw wrong("it is empty");
  if (/^now$/i.test(word)) return now;
  const unix = /^@(-?[0-9]{1,13})(?:\.([0-9]*))?$/.exec(word);
  if (unix) {
    const fraction = Number(`0.${unix[2] || 0}`) * 1000;
    return Number(unix[1]) * 1000 + Math.floor(unix[1].startsWith("-") ? -fraction : fraction);
  }
  const relative = /^([+-])(?=.)(?:([0-9]{1,9})w)?(?:([0-9]{1,9})d)?((?:[0-9]+(?:\.[0-9]*)?(?:h|ms|m|s))*)$/.exec(word);
  if (relative) {
    let milli = Number(relative[2] ?? 0) * 7 * 86_400_000 + Number(relative[3] ?? 0) * 86_400_000;
    for (const [, n, unit] of relative[4].matchAll(/([0-9.]+)(h|ms|m|s)/g)) {
      milli += Number(n) * { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }[unit];
    }
    return Math.floor(now + (relative[1] === "-" ? -milli : milli));
  }
  const [, day, hour = "00", minute = "00", second = "00", fraction = "0", zone, sign, hours, minutes] =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?: ?(Z|([+-])([0-9]{2}):([0-9]{2})))?)?$/.exec(word) ?? [];
  if (!day) throw wrong("it is of no known form");
  const start = `${day}T${hour}:${minute}:${second}`;
  const time = Date.parse(`${start}Z`);
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(start)) throw wrong("there is no such day or time of day");
  const offset = zone && sign ? Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) : 0;
  return time - offset * 60_000 + Math.floor(Number(`0.${fraction}`) * 1000);
}

/* Which format holds for a load, and for how long; docs/choosing.md derives the formulas. */

const SECONDS_PER_YEAR = 365.2425 * 24 * 60 * 60;
const MOST_RISK = 1e-6; // the probability of a collision with which a format still fits
const MOST_AHEAD = ALLOWANCE / 1000; // seconds that a timestamp may be ahead of the clock

/** A probability in words, such as "one in 3 million". */
export function odds(p) {
  if (p === 0) return "none";
  if (p > 0.99) return "certain";
  return p > 0.01 ? `${Math.round(p * 100)} %` : `one in ${count(1 / p)}`;
}

/** A number with two digits and a word for its size, such as "3.2 billion". */
export function count(n) {
  const words = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
  if (n < 1e4) return n.toFixed(0);
  let i = Math.floor(Math.floor(Math.log10(n)) / 3);
  if (n / 1000 ** i >= 999.5) i++; // printed as 1000
  if (i >= words.length) return `10^${Math.log10(n).toFixed(0)}`;
  const scaled = n / 1000 ** i;
  return (scaled < 9.95 ? String(Number(scaled.toPrecision(2))) : scaled.toFixed(0)) + words[i];
}

/** A length of time in words; s is in seconds. */
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

/**
 * The probability that two IDs of a format are ever the same, given a request as plan takes
 * it: at most one in 2^bits of the pairs that two processes make in one millisecond.
 */
export function collisionProbability(format, { rate, processes, years, can_assign_nodes: nodes }) {
  if (format.name === "scru64" || format.name === "uid60" && nodes && processes > 1 && nodeSizes(processes, 9).length > 0) return 0;
  const bits = { scru128: 24 + 24 + 32, scru160: 15 + 16 + 80, euid: 15 + 32 + 32, uid60: 9 + 9 }[format.name];
  const perMilli = rate / processes / 1000;
  const pairs = years * SECONDS_PER_YEAR * 1000 * processes * (processes - 1) / 2 * perMilli * perMilli;
  return -Math.expm1(-pairs * 2 ** -bits) || 0;
}

// The sizes that node IDs for the processes may have, the best first: with room for twice
// as many, as in a rolling deployment, down to just enough.
function nodeSizes(processes, most) {
  const sizes = [];
  const least = Math.max(1, Math.ceil(Math.log2(processes)));
  for (let size = Math.min(Math.max(1, Math.ceil(Math.log2(2 * processes))), most); size >= least; size--) sizes.push(size);
  return sizes;
}

// The guard bits with which a counter of scru64 overflows in at most one tick of a
// thousand, the IDs that it then holds on average, and whether there are such.
function guardBits(bits, perTick) {
  const size = 2 ** bits;
  for (let guard = bits <= 4 ? 1 : 0; ; guard++) {
    const starts = 2 ** (bits - guard); // values at which a tick's counter starts
    const mean = size - (starts - 1) / 2;
    const ok = (perTick - 1 - (size - starts)) / starts <= 1e-3;
    if (ok || guard === bits) return { guard, mean, ok };
  }
}

// What differs between the formats. A model fills in a result; it returns what makes the
// format unique, or calls refuse.
const models = {
  scru128(load, result) {
    result.ids_per_tick = 2 ** 47; // half of the counters' 48 bits
    return "80 random bits";
  },
  scru160(load, result, refuse) {
    waits(load, result, 65536 - 32767 / 2, 32769, refuse);
    return "about 111 random bits";
  },
  euid(load, result) {
    result.ids_per_tick = 2 ** 31;
    return "79 random bits, while no extension is used";
  },
  scru64(load, result, refuse) {
    if (load.processes > 1 && !load.can_assign_nodes) refuse("each process needs a node ID of its own, assigned or leased");
    const sizes = nodeSizes(load.processes, 23);
    if (sizes.length === 0) return refuse("there are at most 2^23 node IDs");
    const tick = 0.256;
    const perTick = load.perSecond * tick;
    let size;
    let rate;
    let burst;
    for (size of sizes) { // the first that holds is best; if none does, the last is shown
      const { guard, mean, ok } = guardBits(24 - size, perTick + 6 * Math.sqrt(perTick));
      rate = ok;
      result.options = { node_bits: size, overflow_guard: guard };
      result.ids_per_tick = Math.floor(mean);
      if (load.burst > 0) result.burst_ahead_seconds = Math.floor((load.burst - 1) / mean) * tick;
      burst = result.burst_ahead_seconds <= MOST_AHEAD;
      if (rate && burst) break;
    }
    if (!rate) refuse(`a process would make more IDs than its counter of ${24 - size} bits holds in 256 ms`);
    if (!burst) refuse(`a burst would run ${seconds(result.burst_ahead_seconds)} ahead of the clock, more than the allowance of ${MOST_AHEAD} s`);
    return `a node ID of ${size} bits for each process`;
  },
  uid60(load, result, refuse) {
    waits(load, result, 512, 512, refuse);
    const [size] = nodeSizes(load.processes, 9);
    if (!load.can_assign_nodes) return "18 bits that differ by chance";
    if (!size || load.processes === 1) return "there are worker IDs for at most 512 processes";
    result.options.node_bits = size;
    return `a worker ID of ${size} bits for each process`;
  },
};

// What becomes of rates and bursts in a format that waits for the next millisecond, with so
// many IDs in each on average and at least.
function waits(load, result, mean, least, refuse) {
  result.ids_per_tick = Math.floor(mean);
  if (load.burst > 0) result.burst_waits_seconds = Math.floor((load.burst - 1) / mean) * result.tick_seconds;
  if (load.perSecond * result.tick_seconds > least) refuse(`a process makes at most ${(least / result.tick_seconds).toFixed(0)} IDs a second`);
}

/** Which formats hold for a load. Request and answer are those of "sortid plan -o json". */
export function plan(request) {
  const today = new Date().toISOString().slice(0, 10);
  const asked = { burst: 0, processes: 1, years: 20, bits: 0, can_assign_nodes: false, from: today, ...request };
  const end = checkRequest(asked) + Math.ceil(asked.years * 365.2425) * DAY;
  const load = { ...asked, perSecond: asked.rate / asked.processes };
  const results = {};
  let recommended = "";
  const columns = { scru64: ["bigint", 8], scru128: ["uuid", 16], scru160: ["bytea", 21], euid: ["uuid", 16], uid60: ["bigint", 8] };
  for (const format of [scru128, scru160, euid, scru64, uid60]) { // in the order in which they are recommended
    const [column, bytes] = columns[format.name];
    const reasons = [];
    const refuse = (reason) => { reasons.push(reason); };
    const result = {
      format: format.name, collision_probability: collisionProbability(format, asked), ids_per_tick: 0, tick_seconds: format.tick / 1000,
      burst_waits_seconds: 0, burst_ahead_seconds: 0, ends: formatTime(format.last).split("T")[0], bytes, column, options: {},
    };
    const unique = models[format.name](load, result, refuse);
    if (result.collision_probability > MOST_RISK) refuse(`two IDs would be the same: ${odds(result.collision_probability)}, more than one in a million`);
    if (end > format.last) refuse(`its timestamps end in ${new Date(format.last).getUTCFullYear()}`);
    if (asked.bits !== 0 && format.bits > asked.bits) refuse(`an ID has ${format.bits} bits`);
    const fits = reasons.length === 0;
    if (fits) {
      recommended ||= format.name;
      reasons.push(asked.processes === 1 ? "one generator never makes an ID twice" : unique);
    }
    results[format.name] = { ...result, fits, reasons };
  }
  const command = planCommand(asked, results[recommended]);
  return {
    asked, ids: asked.rate * asked.years * SECONDS_PER_YEAR, recommended, ...(command && { command }),
    formats: formats.map((format) => results[format.name]),
  };
}

// The command to go on with.
function planCommand({ processes }, result) {
  if (!result) return "";
  const { format, options } = result;
  if (format === "scru64") {
    const node = processes === 1 ? `--node 0/${options.node_bits}` : `--lease STORE --node-bits ${options.node_bits}`;
    return `sortid new scru64 ${node}${options.overflow_guard > 0 ? ` --guard ${options.overflow_guard}` : ""}`;
  }
  return `sortid new ${format}${options.node_bits ? ` --lease STORE --node-bits ${options.node_bits}` : ""}`;
}
