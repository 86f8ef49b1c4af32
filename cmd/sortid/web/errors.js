export class ParseError extends Error {
  constructor(format, input, reason, offset, detail) {
    const more = input.length > 64 ? "..." : "";
    super(`${format}: cannot parse ${JSON.stringify(input.slice(0, 64))}${more}: ${detail}`);
    Object.assign(this, { name: "ParseError", reason, offset, detail });
  }
}

export class GeneratorError extends Error { name = "GeneratorError"; }

export function reject(words) { throw new RangeError(words); }

// A value in an error.
const shown = (value) => (typeof value === "object" && value ? "an object"
  : (typeof value === "string" ? JSON.stringify : String)(value).slice(0, 64));

// Throws the error for an argument of a wrong type.
export function want(where, what, value) {
  throw new TypeError(`${where}: want ${what}, not ${shown(value)}`);
}

export function wantText(where, value) {
  if (typeof value !== "string") want(where, "a string", value);
}

export function wantOptions(where, options, names) {
  if (typeof options !== "object" || !options) want(where, "an object with options", options);
  const other = Object.keys(options).find((name) => !names.includes(name));
  if (other !== undefined) {
    reject(`${where}: there is no option ${JSON.stringify(other)}; want ${names.join(", ")}`);
  }
}

// The result of a function; undefined if it throws.
export function attempt(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

// Throws the error for a text that is not an ID of a format.
export function fail({ name }, text, reason, detail, offset = -1) {
  throw new ParseError(name, String(text), reason, offset, detail);
}
