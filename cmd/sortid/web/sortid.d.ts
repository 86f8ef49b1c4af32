/** A time: a Date, or Unix milliseconds. */
export type Time = Date | number;

/** A way to write an ID; only formats of 128 bits have "uuid". */
export type Encoding = "text" | "hex" | "int" | "uuid";

export type FormatName = "scru64" | "scru128" | "scru160" | "euid" | "uid60";

/** A field of a format's layout. */
export interface Field {
  /** Empty for bits that are always zero. */
  readonly name: string;
  readonly bits: number;
  /** The place of the lowest bit; that of the ID's lowest bit is 0. */
  readonly low: number;
  readonly kind: "time" | "counter" | "node" | "random" | "data" | "zero";
  readonly meaning: string;
}

/** A text that is no ID. */
export declare class ParseError extends Error {
  constructor(format: string, input: string, reason: ParseError["reason"], offset: number, detail: string);
  readonly reason: "length" | "symbol" | "range" | "check";
  /** The first wrong character, or -1 for a fault of the whole. */
  readonly offset: number;
  readonly detail: string;
}

/** A generator that can make no ID now. */
export declare class GeneratorError extends Error {}

/** An ID: immutable. */
export declare class ID {
  private constructor();
  readonly format: Format;
  readonly value: bigint;
  readonly text: string;
  /** The whole ID at full width, in lower case. */
  readonly hex: string;
  readonly int: string;
  /** undefined for a format that has not 128 bits. */
  readonly uuid: string | undefined;
  /** The bytes, big-endian. */
  readonly bytes: Uint8Array;
  readonly time: Date;
  /** The time in Unix milliseconds. */
  readonly milli: number;
  /** The contents of the named fields. */
  readonly fields: Readonly<Record<string, bigint>>;
  /** What else there is to say, such as that no generator makes this ID. */
  readonly notes: string[];
  in(encoding: Encoding): string;
  field(field: Pick<Field, "low" | "bits">): bigint;
  compare(other: ID): -1 | 0 | 1;
  equals(other: ID): boolean;
  toString(): string;
  toJSON(): Record<string, unknown>;
}

export interface GeneratorOptions {
  /** The clock, in Unix milliseconds; Date.now without it. */
  now?: () => number;
  /** Fills the array with random bytes; crypto.getRandomValues without it. It must be cryptographically strong. */
  random?: (bytes: Uint8Array) => unknown;
  /**
   * A node ID that no other generator has, and its size in bits, as in "42/8": scru64 needs it, and takes an ID to go
   * on after, as in "0u2r85hm2pt3/16", too; scru160 and uid60 (as a worker ID) can have it.
   */
  node?: string;
  /** The extension of euid, up to 32767. */
  extension?: number;
  /** The bits of the extension; as many as it needs without this. */
  extensionLength?: number;
}

/** A generator's IDs strictly increase while the clock goes back by ten seconds at most. */
export interface IDGenerator {
  /**
   * The next ID. Where the tick has no more IDs, it waits for the next (uid60 has 512 in a millisecond), or takes the
   * next ahead of the clock (scru64, scru128). It throws a GeneratorError if that takes too long, or with scru64 and
   * uid60 if the clock has gone back by more than ten seconds; the others then start afresh.
   */
  generate(): ID;
}

/** One of the five formats. */
export declare class Format {
  private constructor();
  readonly name: FormatName;
  readonly title: string;
  readonly summary: string;
  /** Of the integer that stores an ID: 64, 128 or 160. */
  readonly bits: number;
  readonly fields: readonly Field[];
  readonly timestamp: Field;
  readonly encodings: readonly Encoding[];
  readonly alphabet: string;
  readonly symbols: string;
  readonly foldsCase: boolean;
  readonly hexText: boolean;
  readonly textLengths: readonly number[];
  /** Whether texts sort by time; integers always do. */
  readonly textSorts: boolean;
  readonly example: string;
  readonly max: bigint;
  /** The time of timestamp 0, in Unix milliseconds. */
  readonly epoch: number;
  /** The unit of the timestamp, in milliseconds. */
  readonly tick: number;
  /** Whether no generator uses the first and the last timestamp. */
  readonly reserved: boolean;
  /** The last time that a generator puts into an ID, in Unix milliseconds. */
  readonly last: number;
  readonly plausibleFrom: number;
  /** The ID of a text in the format's own encoding. All that read texts throw a ParseError for one that is no ID. */
  parse(text: string): ID;
  parseAs(encoding: Encoding, text: string): ID;
  parseAny(text: string): { id: ID; encoding: Encoding };
  fromInt(value: bigint | number | string): ID;
  fromBytes(bytes: Uint8Array): ID;
  fromFields(values: Record<string, bigint | number | string>): ID;
  /** The smallest ID of a time's tick. */
  first(time: Time): ID;
  /** The IDs of a time range are those from first up to, but not including, end. */
  bounds(from: Time, to: Time): { first: ID; end: ID };
  generator(options?: GeneratorOptions): IDGenerator;
  /** The next ID of a generator without options, which all callers share. */
  generate(): ID;
}

export declare const formats: readonly Format[];
export declare const scru64: Format;
export declare const scru128: Format;
export declare const scru160: Format;
export declare const euid: Format;
export declare const uid60: Format;

/** The format of a name. */
export declare function lookup(name: string): Format;

/** A reading of a text as an ID of one of the five formats. */
export interface Candidate {
  id: ID;
  encoding: Encoding;
  reason: string;
  foreign?: undefined;
}

/** A reading of a text as a UUID of RFC 9562. */
export interface ForeignCandidate {
  /** Such as "UUIDv7". */
  foreign: string;
  /** The time in Unix milliseconds, of versions that have one. */
  milli: number | undefined;
  text: string;
  reason: string;
  id?: undefined;
}

/** The ways to read a text whose format is unknown, the most probable first. */
export declare function detect(text: string, now?: number): (Candidate | ForeignCandidate)[];

/** Takes off a text what often stands around an ID, such as quotes, and names it. */
export declare function strip(text: string): { text: string; stripped: string[] };

/** The times that an ID probably has if it was made before now, in Unix milliseconds. */
export declare function plausibleRange(format: Format, now?: number): { from: number; to: number };

/** Whether the time of an ID is one that IDs probably have. */
export declare function plausible(id: ID, now?: number): boolean;

/** An ID in a text: text.slice(start, end). */
export interface Match {
  id: ID;
  encoding: Encoding;
  start: number;
  end: number;
  /** "UUIDv7" for one of these; the ID is its reading as scru128. */
  foreign?: "UUIDv7";
}

export interface FindOptions {
  /** The formats to look for; all but uid60 without this. */
  formats?: readonly Format[] | undefined;
  now?: number;
}

/** The IDs in a text, in order. */
export declare function find(text: string, options?: FindOptions): Match[];

/** Finds IDs in the parts of one input, in order: it remembers whether numbers there are hashes. */
export declare class Finder {
  constructor(options?: FindOptions);
  find(text: string): Match[];
}

/** Tells hashes from IDs in hexadecimal digits. */
export declare class Ratio {
  accept(plausible: boolean): boolean;
}

/** A time as RFC 3339 in UTC to the millisecond. */
export declare function formatTime(milli: number): string;

/** The time that a text means, in Unix milliseconds: a day, a time, @ and Unix seconds, now, -7d. */
export declare function parseTime(text: string, now?: number): number;

export interface PlanRequest {
  /** IDs a second of all processes together. */
  rate: number;
  /** The most IDs that one process asks for at once. */
  burst?: number;
  processes?: number;
  years?: number;
  /** The widest ID that the column takes: 64, 128, or 0 for any. */
  bits?: 0 | 64 | 128;
  can_assign_nodes?: boolean;
  /** The day on which it begins, as in "2026-11-21". */
  from?: string;
}

export interface PlanFormat {
  format: FormatName;
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

/** Which formats hold for a load, as "sortid plan -o json" answers. */
export declare function plan(request: PlanRequest): {
  asked: Required<PlanRequest>;
  ids: number;
  recommended: FormatName | "";
  command?: string;
  formats: PlanFormat[];
};

/** The probability that two IDs of a format are ever the same. */
export declare function collisionProbability(format: Format, request: Required<Omit<PlanRequest, "burst" | "bits" | "from">>): number;

/** A probability in words, such as "one in 3 million". */
export declare function odds(p: number): string;
/** A number in words, such as "3.2 billion". */
export declare function count(n: number): string;
/** A length of time in words, given seconds. */
export declare function seconds(s: number): string;
