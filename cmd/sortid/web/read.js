// Reads a text as "sortid inspect" does.
import { detect, strip } from "./detect.js";

// The reading of a text as an ID. It throws an error with the command's reason. If no format is
// given, it guesses the format. The ratio tells IDs from hashes among the texts of one input.
export function read(word, { format, now = Date.now(), hashes } = {}) {
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
  const found = detect(text, now);
  const [first, ...others] = found;
  if (/^[0-9a-f]{40}$/i.test(text) && hashes && !hashes.accept(first !== undefined) && first) {
    throw new Error("it is probably a hash, like other texts of the input; use --format " +
      `${first.id.format.name} if it is an ID`);
  }
  // The reason takes longer than the search, so it is computed only if it is shown.
  if (!first) throw { get message() { return found.reason; } };
  const timed = first.id.timed ? ", and its time is plausible" : "";
  const doubt = first.wordLike ? ", but many words look like that" : "";
  return { ...first, reason: first.reason + timed + doubt, others, stripped };
}

export const nameOf = ({ id: { format } }) => (format.generates ? format.name : format.title);
export const as = ({ id: { format: { name } }, encoding }) => `as ${name} ${encoding}`;
