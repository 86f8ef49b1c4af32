// Reads a text as "sortid inspect" does.
import { detect, strip } from "./detect.js";
import { isHex } from "./id.js";

// The candidates for a text, as detect returns them. It throws an error with the command's reason if
// there are none. The ratio tells IDs from hashes among the texts of one input.
export function guess(text, { now = Date.now(), hashes } = {}) {
  const found = detect(text, now);
  if (hashes && text.length === 40 && isHex(text) && !hashes.accept(found.length > 0) &&
    found.length > 0) {
    throw new Error("it is probably a hash, like other texts of the input; use --format " +
      `${found[0].id.format.name} if it is an ID`);
  }
  // The reason takes longer than the search, so it is computed only if it is shown.
  if (found.length === 0) throw { get message() { return found.reason; } };
  return found;
}

// The reading of a text as an ID. If no format is given, it guesses the format.
export function read(word, { format, ...options } = {}) {
  const { text, stripped } = strip(word);
  if (format) {
    const reason = "the format was given";
    try {
      return { ...format.parseAny(word), reason, others: [], stripped: [] };
    } catch (error) {
      if (stripped.length === 0) throw error;
      return { ...format.parseAny(text), reason, others: [], stripped };
    }
  }
  const [first, ...others] = guess(text, options);
  const timed = first.id.timed ? ", and its time is plausible" : "";
  const doubt = first.wordLike ? ", but many words look like that" : "";
  return { ...first, reason: first.reason + timed + doubt, others, stripped };
}

export const nameOf = ({ id: { format } }) => (format.generates ? format.name : format.title);
export const as = ({ id: { format: { name } }, encoding }) => `as ${name} ${encoding}`;
