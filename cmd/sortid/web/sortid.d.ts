/** A Date, or Unix milliseconds. */
export type Time = Date | number;

export type Encoding = "text" | "hex" | "int" | "uuid";

/** A field of a format's layout. */
export interface Field {
  /** Empty for bits that are always zero. */
  readonly name: string;
  readonly bits: number;
  /** The place of the lowest bit; the ID's lowest bit is at 0. */
  readonly low: number;
  readonly kind: "time" | "counter" | "node" | "random" | "data" | "zero" | "fixed";
  readonly meaning?: string;
  /** The value in all IDs if kind is "fixed", or in new IDs if constant is true; default "0". */
  readonly value?: string;
  /** Whether new IDs always have the value. Other IDs can have other values. */
  readonly constant?: boolean;
  /** The place of the field's lowest bit in the timestamp; 0 if absent. */
  readonly shift?: number;
  /** The name of a value in the field's lowest bits, such as EUID's extension. */
  readonly part?: string;
  /** The name of another field, which says how many bits the part has. */
  readonly part_bits?: string;
}

/**
 * The error for a text that is not an ID. For an argument of a wrong type, all functions throw a
 * TypeError; for a wrong option or a wrong number of bytes, a RangeError.
 */
export declare class ParseError extends Error {
  constructor(
    format: string, input: string, reason: ParseError["reason"], offset: number, detail: string,
  );
  readonly reason: "length" | "symbol" | "range" | "check" | "layout" | "prefix";
  /** The offset of the first wrong character; -1 if the whole text is wrong. */
  readonly offset: number;
  readonly detail: string;
}

/** The error of a generator that cannot make an ID now. */
export declare class GeneratorError extends Error {}

/** The names of the formats that sortid makes. */
export type Ours = "scru64" | "scru128" | "scru160" | "euid" | "uid60";

/** The prefix of an ID that was read without one. A TypeID, for example, has one in its text. */
type Plain<Name extends string> = Name extends Ours ? "" : string;

/**
 * An immutable ID, as "sortid/scru128" and the other entries for one format make it. The name of its
 * format and its prefix are parts of the type. So a function can want an ID<"scru128", "user">.
 */
export declare class BasicID<Name extends string = string, Prefix extends string = string> {
  protected constructor();
  readonly format: BasicFormat<Name>;
  readonly value: bigint;
  /** The text before the ID, without the underscore, such as "user"; or "". */
  readonly prefix: Prefix;
  /** The text, with the prefix; undefined if the format has no text encoding. */
  readonly text: Name extends Ours ? string : string | undefined;
  /** The whole ID at full width, in lower case. */
  readonly hex: string;
  readonly int: string;
  /** undefined if the format does not have 128 bits. */
  readonly uuid: Name extends "scru128" | "euid" ? string : string | undefined;
  /** The bytes, big-endian. */
  readonly bytes: Uint8Array;
  /** undefined if the ID has no time. */
  readonly time: Name extends Ours ? Date : Date | undefined;
  /** The time in Unix milliseconds. */
  readonly milli: Name extends Ours ? number : number | undefined;
  /** The values of the fields that have a name. */
  readonly fields: Readonly<Record<string, bigint>>;
  /**
   * The same ID with the prefix of a typed ID. With "user", its text is user_0372... With "", it
   * has no prefix.
   */
  withPrefix<P extends string>(prefix: P): BasicID<Name, P>;
  field(field: Pick<Field, "low" | "bits">): bigint;
  /** The order of the integers. With a < b, JavaScript compares IDs in the same way. */
  compare(other: { readonly value: bigint }): -1 | 0 | 1;
  /** Whether both have the same value and format. Prefixes can differ. */
  equals(other: unknown): boolean;
  /** The ID in the first of its format's encodings. */
  toString(): string;
  /** The same as toString(). */
  toJSON(): string;
  [Symbol.toPrimitive](hint: "number"): bigint;
  [Symbol.toPrimitive](hint: string): string | bigint;
}

/** An ID with all that sortid knows about it. */
export declare class ID<Name extends string = string, Prefix extends string = string>
  extends BasicID<Name, Prefix> {
  private constructor();
  readonly format: Format<Name>;
  /** The format of the ID inside this one, such as the UUID in a TypeID; usually undefined. */
  readonly inner: Format | undefined;
  /** The format that the time is from: the ID's own, or the inner format. */
  readonly timed: Format | undefined;
  /** Remarks, such as "the timestamp is reserved: no generator makes this ID". */
  readonly notes: string[];
  withPrefix<P extends string>(prefix: P): ID<Name, P>;
  in(encoding: Encoding): string;
  /** The timestamp, in ticks of a format; default: the ID's own format. */
  ticks(format?: Format): bigint;
}

export interface GeneratorOptions {
  /** The clock in Unix milliseconds; default Date.now. */
  now?: () => number;
  /** Fills the array with cryptographically strong random bytes; default crypto.getRandomValues. */
  random?: (bytes: Uint8Array) => unknown;
  /**
   * A node ID, which no other generator may have, and its size in bits, as in "42/8". scru64 needs
   * it, scru160 can have it. scru64 also accepts the node's last ID with the size, as in
   * "0u2r85hm2pt3/16", and continues after this ID.
   */
  node?: string;
  /** For uid60: a worker ID, which no other generator may have, and its size, as in "5/4". */
  worker?: string;
  /** The extension of euid, up to 32767, and its length in bits, as in "5/8". */
  ext?: string | number;
}

/** A generator's IDs strictly increase, even if the clock goes back by up to ten seconds. */
export interface IDGenerator<T = ID> {
  /**
   * The next ID. If a tick has no more IDs, scru64 and scru128 use the next tick, ahead of the
   * clock. The other formats wait for the next tick; uid60 has 512 IDs in a millisecond. If the
   * wait is too long, they throw a GeneratorError. If an ID would be more than ten seconds ahead of
   * the clock, scru64 and uid60 throw a GeneratorError. scru128, scru160
   * and euid go back to the clock's time.
   */
  generate(): T;
}

/** The generator's IDs are of type T. */
interface Makes<T> {
  /** A new generator. Throws a RangeError for wrong options, also of other formats. */
  generator(options?: GeneratorOptions): IDGenerator<T>;
  /** The next ID of a generator without options, which all callers share. */
  generate(): T;
}

/** A format, as "sortid/scru128" and the other entries for one format export it. */
export declare class BasicFormat<Name extends string = string>
  implements Makes<BasicID<Name, Plain<Name>>> {
  protected constructor();
  readonly name: Name;
  /** The size of an ID's integer in bits: 64 for uid60, although its IDs use only 60. */
  readonly width: number;
  readonly max: bigint;
  readonly layout: readonly Pick<Field, "name" | "bits" | "low">[];
  /** In milliseconds, like tick, firstMilli and last. */
  readonly epoch?: number;
  readonly tick?: number;
  /** The first and the last time of generated IDs. */
  readonly firstMilli?: number;
  readonly last?: number;
  /** The ID of a text. Throws a ParseError for a text that is not an ID. */
  parse(text: string): BasicID<Name, Plain<Name>>;
  /**
   * The ID of a typed ID's text. If a prefix is given, as in "user", the text must have it.
   * Otherwise the text may have any prefix or none.
   */
  parseTyped<P extends string>(text: string, prefix: P): BasicID<Name, P>;
  parseTyped(text: string): BasicID<Name>;
  /** Whether parse accepts a text. */
  isValid(text: unknown): boolean;
  /**
   * The ID of an integer. Throws a RangeError for a number that is not a safe integer, because it
   * has lost digits: JSON.parse rounds integers above 2^53, for example.
   */
  fromInt(value: bigint | number | string): BasicID<Name, Plain<Name>>;
  fromBytes(bytes: ArrayLike<number>): BasicID<Name, Plain<Name>>;
  generator(options?: GeneratorOptions): IDGenerator<BasicID<Name, Plain<Name>>>;
  generate(): BasicID<Name, Plain<Name>>;
}

/** A format. It also has members that "sortid formats -o json" prints for it. */
export declare class Format<Name extends string = string> extends BasicFormat<Name>
  implements Makes<ID<Name, Plain<Name>>> {
  private constructor();
  readonly title: string;
  readonly summary: string;
  /** Whether sortid makes IDs of the format. */
  readonly generates: boolean;
  /** The number of bits that IDs use. */
  readonly bits: number;
  readonly layout: readonly Field[];
  /** The fields of the timestamp. */
  readonly timestamp: readonly Field[];
  /** The bits that all IDs share, as ones. The member "fixed" has their values. */
  readonly mask: bigint;
  readonly fixed: bigint;
  /** Whether IDs, as integers, are in order of time. */
  readonly ordered: boolean;
  readonly encodings: readonly Encoding[];
  readonly text: {
    readonly alphabet: string;
    readonly symbols?: string;
    readonly folds_case?: boolean;
    readonly lengths?: readonly number[];
    readonly usual_lengths?: readonly number[];
    readonly sorts: boolean;
    readonly [rule: string]: unknown;
  };
  readonly example: string;
  /** Absent if IDs have no time. */
  readonly time?: {
    readonly tick_ns: number;
    readonly reserved?: boolean;
    readonly [name: string]: unknown;
  };
  readonly lastTick: bigint;
  readonly plausibleFrom?: number;
  /**
   * The ID of a text in the first of the format's encodings. All methods that read texts throw a
   * ParseError for a text that is not an ID.
   */
  parse(text: string): ID<Name, Plain<Name>>;
  parseAs(encoding: Encoding, text: string): ID<Name>;
  /** The ID of a text in any encoding. A prefix may be before the ID, as in user_0372... */
  parseAny(text: string): { id: ID<Name>; encoding: Encoding };
  parseTyped<P extends string>(text: string, prefix: P): ID<Name, P>;
  parseTyped(text: string): ID<Name>;
  /** The prefix of a typed ID, such as "user"; "" if the text is not like a typed ID. */
  typedPrefix(text: string): string;
  checkEncoding(encoding: Encoding): void;
  /** Whether a text has a length that texts of the format have. */
  hasLength(text: string): boolean;
  /** Whether a value from 0 to max is an ID of the format. */
  admits(value: bigint): boolean;
  fromInt(value: bigint | number | string): ID<Name, Plain<Name>>;
  /** The ID of what structuredClone or postMessage made of an ID. */
  fromClone(clone: { readonly value: bigint; readonly prefix?: string }): ID<Name>;
  fromBytes(bytes: ArrayLike<number>): ID<Name, Plain<Name>>;
  /** The ID of the fields' values. They are integers as in fromInt. */
  fromFields(values: Record<string, bigint | number | string>): ID<Name, Plain<Name>>;
  /** The smallest ID of the tick that contains a time. Throws a RangeError if ordered is false. */
  first(time: Time): ID<Name, Plain<Name>>;
  /** The first ID of a time range, and the first ID after the range. */
  bounds(from: Time, to: Time): { first: ID<Name, Plain<Name>>; end: ID<Name, Plain<Name>> };
  generator(options?: GeneratorOptions): IDGenerator<ID<Name, Plain<Name>>>;
  generate(): ID<Name, Plain<Name>>;
}

/** What users must know about a format, with the names of "sortid formats -o json". */
export interface Facts {
  readonly options?: readonly {
    readonly name: string; readonly usage: string; readonly value?: string; readonly needed?: boolean;
  }[];
  readonly needs_node?: boolean;
  readonly [name: string]: unknown;
}

export declare const facts: Readonly<Record<string, Facts>>;

/** Where each format is described, by its name. */
export declare const sources: Readonly<Record<string, string>>;

/** First the formats that sortid makes, then other formats. */
export declare const formats: readonly Format[];
/** The formats that sortid makes. */
export declare const ours: readonly Format[];
export declare const scru64: Format<"scru64">;
export declare const scru128: Format<"scru128">;
export declare const scru160: Format<"scru160">;
export declare const euid: Format<"euid">;
export declare const uid60: Format<"uid60">;

export declare function lookup<Name extends string>(name: Name): Format<Name>;

/** One way to read a text as an ID. */
export interface Candidate {
  id: ID;
  encoding: Encoding;
  reason: string;
  /** Whether many words look like the text. */
  wordLike: boolean;
  /**
   * The share of random texts like this one, with its length and alphabet, that can be read as an
   * ID of the format, too: from 0 to 1.
   */
  readonly chance: number;
  /** Whether texts that are no IDs often have this reading: many words, or 1 in 1000 random texts. */
  readonly doubtful: boolean;
}

/**
 * The ways to read a text of unknown format as an ID, most probable first. If there are none, the
 * empty list has a reason, such as "as scru128 it has 24 of 25 characters: was one lost?"
 */
export declare function detect(
  text: string, now?: number,
): Candidate[] & { readonly reason?: string };

/** What is known about an ID, with the names of the JSON of "sortid inspect -o json". */
export declare function describe(id: ID): {
  format: string; text?: string; hex?: string; int?: string; uuid?: string; time?: string;
  fields: Record<string, string>; notes?: string[];
};

/**
 * Removes characters that are often around an ID, such as quotes, and says what it removed. From a
 * number of another program, such as 1.54E+18, 154.0, 154n or -154, it makes the integer. If that
 * may differ from the ID, "note" says so for the ID that was read.
 */
export declare function strip(text: string): {
  text: string; stripped: string[]; note?: (id: ID) => string;
};

/** The range of plausible times of a format's IDs, in Unix milliseconds. */
export declare function plausibleRange(format: Format, now?: number): { from: number; to: number };

export declare function plausible(id: ID, now?: number): boolean;

/** An ID in a text: text.slice(start, end). */
export interface Match {
  id: ID;
  encoding: Encoding;
  start: number;
  end: number;
}

export interface FindOptions {
  /** The formats to look for; default: formats whose IDs are easy to tell from other text. */
  formats?: readonly Format[] | undefined;
  now?: number;
}

export declare function find(text: string, options?: FindOptions): Match[];

/** Finds IDs in one input, part by part. It learns whether numbers in the input are hashes. */
export declare class Finder {
  constructor(options?: FindOptions);
  find(text: string): Match[];
}

/** Decides whether texts are IDs or hashes, by how many of them have a plausible time. */
export declare class Ratio {
  accept(plausible: boolean): boolean;
}

/** A time in the form of RFC 3339, in UTC, with milliseconds. */
export declare function formatTime(milli: number): string;

/**
 * The time of a text, in Unix milliseconds. The text is a day, a time, "now", "-7d", or "@" and
 * Unix seconds. After "@", 13 or more digits are milliseconds. The zone, such as "Europe/Berlin",
 * is for times without an offset; default: UTC.
 */
export declare function parseTime(text: string, now?: number, zone?: string): number;

export interface PlanRequest {
  /** How many IDs all processes together make in a second. */
  rate: number;
  /** The most IDs that one process asks for at once. */
  burst?: number;
  processes?: number;
  years?: number;
  /** How many bits the column can store: 64, 128, or 0 for any number. */
  bits?: 0 | 64 | 128;
  can_assign_nodes?: boolean;
  /** The day on which the years begin, as in "2026-11-21"; default: today. */
  from?: string;
}

export interface PlanFormat {
  format: string;
  fits: boolean;
  reasons: string[];
  collision_probability: number;
  ids_per_tick: number;
  tick_seconds: number;
  burst_waits_seconds: number;
  burst_ahead_seconds: number;
  ends: string;
  bytes: number;
  column: string;
  options: { node_bits?: number; overflow_guard?: number };
}

/** Which formats fit a load, in the JSON of "sortid plan". */
export declare function plan(request: PlanRequest): {
  asked: Required<PlanRequest>;
  ids: number;
  recommended: string;
  command?: string;
  formats: PlanFormat[];
};

/** The probability that two IDs of a format are ever the same. */
export declare function collisionProbability(
  format: Format, request: Required<Omit<PlanRequest, "burst" | "bits" | "from">>,
): number;

/** A probability in words, such as "one in 3 million". */
export declare function odds(p: number): string;
/** A number in words, such as "3.2 billion". */
export declare function count(n: number): string;
/** A length of time in words, given seconds. */
export declare function seconds(s: number): string;

/** How far a zone, such as "Europe/Berlin", is ahead of UTC at a time, in milliseconds. */
export declare function zoneOffset(milli: number, zone: string): number;
