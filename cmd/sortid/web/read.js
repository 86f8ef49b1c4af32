// Reads a text as "sortid inspect" does.
import { detect, strip } from "./detect.js";
import { inOtherOrder } from "./explain.js";
import { attempt } from "./errors.js";
import { isHex } from "./id.js";

// The candidates for a text, as detect returns them. It throws an error with the command's reason if
// there are none. The ratio tells IDs from hashes among the texts of one input.
export function guess(text, { now = Date.now(), hashes, about = "" } = {}) {
  const found = detect(text, now);
  if (hashes && text.length === 40 && isHex(text) && !hashes.accept(found.length > 0) &&
    found.length > 0) {
    throw new Error("it is probably a hash, like other texts of the input; use --format " +
      `${found[0].id.format.name} if it is an ID`);
  }
  // The reason takes longer than the search, so it is computed only if it is shown.
  if (found.length === 0) throw { get message() { return found.reason + about; } };
  return found;
}

// The reading of a text as an ID. If no format is given, it guesses the format.
export function read(word, { format, now = Date.now(), ...options } = {}) {
  const { text, stripped, note } = strip(word);
  const noted = (reading) => {
    const { id } = reading;
    const said = note ? note(id)
      : !format && id.milli === undefined && inOtherOrder(text, now);
    return { ...reading, stripped, ...(said && { notes: [...id.notes, said] }) };
  };
  const sign = note && attempt(note); // the note on a rounded number needs an ID
  const about = sign ? `; ${word} is ${sign}` : "";
  if (format) {
    const reason = "the format was given";
    try {
      return { ...format.parseAny(word), reason, others: [], stripped: [] };
    } catch (error) {
      if (stripped.length === 0) throw error;
      try {
        return noted({ ...format.parseAny(text), reason, others: [] });
      } catch (wrong) {
        wrong.message += about;
        wrong.detail += about;
        throw wrong;
      }
    }
  }
  const [first, ...others] = guess(text, { ...options, now, about });
  const timed = first.id.timed ? ", and its time is plausible" : "";
  return noted({ ...first, reason: first.reason + timed + doubtOf(first), others });
}

function doubtOf(candidate) {
  if (candidate.wordLike) return ", but many words look like that";
  const percent = Number((100 * candidate.chance).toPrecision(3));
  return candidate.doubtful ? `, but ${percent} % of random texts like it have this reading` : "";
}

export const nameOf = ({ id: { format } }) => (format.generates ? format.name : format.title);
export const as = ({ id: { format: { name } }, encoding }) => `as ${name} ${encoding}`;
