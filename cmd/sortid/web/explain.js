// Says why a text is not an ID of a known format.
import { formats, lookup } from "./all.js";
import { cutPrefix } from "./codec.js";
import { attempt } from "./errors.js";
import { afterEscape } from "./find.js";
import { rules } from "./formats.js";
import { NOT_UUID, formatTime, isHex, shapes } from "./id.js";
import { alternates, detectAll, fixedBits, plausible, plausibleRange } from "./likely.js";

const MOST_DIGITS = Math.max(...formats.map(({ max }) => String(max).length));

const day = (milli) => formatTime(milli).split("T")[0];

// Says that a text is a UUID with a plausible time if its bytes are in another order; or undefined.
export function inOtherOrder(text, now) {
  const hex = text.replaceAll("-", "");
  const isUUID = text.length === 36 && !NOT_UUID.test(text);
  if (!isUUID && text.length !== 32 || hex.length !== 32 || !isHex(hex)) return undefined;
  for (const { name, use, bytes, hyphens = bytes, formats: names } of rules.orders) {
    const places = isUUID ? hyphens : bytes;
    const byte = (place) => hex.slice(2 * `0x${place}`).slice(0, 2);
    const value = BigInt(`0x${places.replace(/./g, byte)}`);
    const id = names.map(lookup).filter((format) => format.admits(value))
      .map((format) => format.make(value)).find((each) => plausible(each, now));
    if (id) {
      return `in the byte order of ${use}, it is the ${id.format.name} ${id} of ` +
        `${formatTime(id.milli)}; --from ${name} reads it`;
    }
  }
  return undefined;
}

export function explain(text, now) {
  const { length } = text;
  const order = inOtherOrder(text, now);
  if (order) return order;
  const isInteger = /^[0-9]+$/.test(text);
  if (length === 0) return "it is empty";
  if (isInteger && length > MOST_DIGITS) {
    return "it is larger than the largest ID of any format";
  }
  if (isHex(text) && !isInteger && rules.hashes[length]) {
    return `it looks like a hash: it has ${length} hexadecimal digits, as ${rules.hashes[length]} has, ` +
      "and no plausible time";
  }
  const reason = length > 128 ? undefined : damaged(text, now) ?? implausible(text, isInteger, now);
  if (reason) return reason;
  const words = length > 4096 ? [] : Array.from(text.matchAll(/[0-9A-Za-z_-]+/g),
    ({ 0: word, index }) => word.slice(afterEscape(text, index) - index));
  const afterHyphens = (word) =>
    Array.from(word.matchAll(/-/g), ({ index }) => word.slice(index + 1)).slice(0, 8);
  for (const word of words.flatMap((each) => [each, ...afterHyphens(each)])) {
    if (word === text) continue;
    const found = detectAll(word, now).find(sure);
    if (found) {
      return `other text is around ${found.id}, which can be read as ${found.id.format.name}`;
    }
  }
  return isInteger ? "no format known to sortid has a plausible time in this integer"
    : "no format known to sortid has such IDs";
}

const sure = ({ id, encoding, wordLike }) =>
  encoding !== "int" && id.timed && !wordLike && !id.format.search?.named;

// Explains a text that differs from an ID by one character: added, lost or changed. The ID must
// have a plausible time, or the text must have a wrong check.
function damaged(text, now) {
  for (const format of formats) {
    const { search = {}, time, within, encodings: [encoding], text: rules, name } = format;
    if (search.word_like || !time && !within || !text.startsWith(search.prefix ?? "")) continue;
    if (encoding === "int") continue;
    const lengths = { hex: [format.width / 4], uuid: [36], text: rules.lengths }[encoding];
    const [prefix, rest] = cutPrefix(rules, text) ?? ["", ""];
    if (search.mixed && !alternates(rest)) continue;
    const fits = (changed) => {
      // A changed text has another check.
      const end = rules.check_suffix ? changed.lastIndexOf("-") : -1;
      const id = attempt(() =>
        format.parseAs(encoding, end < 0 ? changed : changed.slice(0, end)));
      return id?.timed && plausible(id, now);
    };
    for (const want of lengths) {
      const reason = compare(format, encoding, prefix, rest, want, fits);
      if (reason) return `as ${name} ${reason}`;
    }
  }
  return undefined;
}

function compare(format, encoding, prefix, rest, want, fits) {
  const rules = format.text;
  const { symbols = "", alphabet, check_modulus: modulus, check_suffix: suffix, lengths } = rules;
  const { length } = rest;
  const text = prefix + rest;
  if (length === want - 1 && (symbols && fits(text + symbols[0]) ||
    encoding !== "text" && fits(text + "0"))) {
    return `it has ${length} of ${want} characters: was one lost?`;
  }
  if (length === want + 1 && fits(text.slice(0, -1))) {
    return `it has ${length} characters, one more than ${want}: was one added?`;
  }
  if (length !== want) return undefined;
  const right = symbolsOf(rules, encoding);
  const isRight = (c, i) => right(c) || suffix && c === "-" && i === lengths[0];
  const wrong = [...rest].flatMap((c, i) => (isRight(c, i) ? [] : i));
  if (wrong.length === 1) {
    const [i] = wrong;
    const other = encoding === "text" ? symbols[symbols.length >> 1] : "0";
    return fits(prefix + rest.slice(0, i) + other + rest.slice(i + 1)) &&
      `it has ${JSON.stringify(rest[i])} at offset ${prefix.length + i}, which is not in the ` +
        `alphabet: ${alphabet}`;
  }
  const hasCheck = wrong.length === 0 && (modulus > 1 || suffix && want !== lengths[0]);
  return hasCheck && !attempt(() => format.parseAs(encoding, text)) &&
    "its check is wrong: was a character changed?";
}

// Returns a function that tells whether a character can be in texts.
function symbolsOf({ symbols = "", folds_case: folds, groups = [] }, encoding) {
  if (encoding !== "text") return (c) => isHex(c) || c === "-" && encoding === "uuid";
  const all = groups.reduce((text, { symbols: own = "", before = "" }) => text + own + before,
    symbols);
  return (c) => all.includes(c) ||
    folds && /[a-z]/i.test(c) && (all.includes(c.toLowerCase()) || all.includes(c.toUpperCase()));
}

// Explains an ID whose time is implausible, or that no generator makes.
function implausible(text, isInteger, now) {
  if (isInteger && text.length < 16) return undefined;
  let chosen;
  for (const format of formats) {
    const { search = {}, guess, encodings } = format;
    if (search.word_like || search.named && fixedBits(format) < 4) continue;
    for (const encoding of guess ?? encodings) {
      const fits = shapes[encoding](format, text) && (encoding !== "int" || text[0] !== "0") &&
        (!search.mixed || alternates(text));
      const id = fits ? attempt(() => format.parseAs(encoding, text)) : undefined;
      if (!id) continue;
      const shows = plausible(id, now) ? 1 : fixedBits(format); // 1: no generator makes it
      if (!chosen || shows > chosen.shows) chosen = { id, encoding, shows };
    }
  }
  if (!chosen) return undefined;
  const { id, encoding } = chosen;
  const { format: { name, generates } } = id;
  const as = generates ? `${name} ${encoding}` : name;
  const { from, to } = plausibleRange(id.format, now);
  return (plausible(id, now) ? `it would be ${as}, but of a version that no generator makes`
    : `as ${as} its time would be ${formatTime(id.milli)}, which is outside the plausible range, ` +
      `${day(from)} to ${day(to)}`) + `; --format ${name} reads it anyway`;
}
