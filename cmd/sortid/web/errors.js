export class ParseError extends Error {
  constructor(format, input, reason, offset, detail) {
    const more = input.length > 64 ? "..." : "";
    super(`${format}: cannot parse ${JSON.stringify(input.slice(0, 64))}${more}: ${detail}`);
    Object.assign(this, { name: "ParseError", reason, offset, detail });
  }
}

export class GeneratorError extends Error { name = "GeneratorError"; }

export function reject(words) { throw new RangeError(words); }

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
