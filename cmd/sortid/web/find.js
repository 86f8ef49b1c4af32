// Finds IDs in texts.
import { formats } from "./all.js";
import { attempt, reject, wantOptions, wantText } from "./errors.js";
import { rules } from "./formats.js";
import { NOT_UUID, isHex } from "./id.js";
import { alternates, oneCase, probable, usualCase } from "./likely.js";

// Distinguishes IDs from hashes by their times. Only one hash in hundreds has a plausible time. The
// method accept counts a time. It returns true if this time is plausible, and so are all recent times,
// or at least two and half of them.
export class Ratio {
  seen = 0;
  plausible = 0;
  accept(plausible) {
    if (this.seen === 64) {
      this.seen = 32;
      this.plausible >>= 1;
    }
    this.seen++;
    if (plausible) this.plausible++;
    return plausible && this.likely;
  }
  get likely() {
    const { seen, plausible } = this;
    return plausible > 0 && plausible === seen || plausible >= 2 && plausible * 2 >= seen;
  }
}

const mixed = (text) => !oneCase(text) && /[0-9]/.test(text);

// What an escape leaves at the start of a run.
const ESCAPE = new RegExp(Object.entries(rules.escapes).map(([begin, ends]) => {
  const letters = ends.join("|").replaceAll("?", "[0-9A-Fa-f]");
  return `(?<=${begin.replaceAll(/[^0-9A-Za-z]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`)})` +
    (begin === "%" ? `(?:25)*(?:${letters})?` : `(?:${letters})`);
}).join("|"), "y");

// Where the rest of a run begins, if the run begins within an escape: %2F, =3D, \n, \x22, \u003c,
// #012, or the colour in ESC[32m. Otherwise, the start of the run.
export function afterEscape(text, start) {
  ESCAPE.lastIndex = start;
  return start + (ESCAPE.exec(text)?.[0].length ?? 0);
}

// Where the word around a place begins, and where its rest begins if it begins within an escape.
function wordStarts(text, start) {
  const first = start - /[0-9A-Za-z]{0,8}$/.exec(text.slice(Math.max(0, start - 8), start))[0].length;
  return [first, afterEscape(text, first)];
}

// Whether a run of digits is behind a decimal point or a minus sign, or before a point and a digit.
const isFraction = (text, start, end) =>
  /([0-9]\.|(^|[^0-9A-Za-z_-])-)$/.test(text.slice(Math.max(0, start - 2), start)) ||
  /^\.[0-9]/.test(text.slice(end, end + 2));

const isFormats = (list) => Array.isArray(list) && list.every((each) => formats.includes(each));

// Finds IDs by the rules of "sortid scan".
export class Finder {
  #ratios = {}; // a Ratio for each kind of text
  // Formats by length. The list `word` has the formats whose texts can contain - or _.
  #formats = { text: [], word: [], hex: [], uuid: [], int: [] };

  constructor(options = {}) {
    wantOptions("find", options, ["formats", "now"]);
    const { formats: only, now = Date.now() } = options;
    if (only !== undefined && !isFormats(only)) {
      reject('formats: want a list of formats of "sortid", such as [scru128]');
    }
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
      const { encodings, guess = encodings } = format;
      for (const encoding of guess.length > 0 ? guess : encodings.slice(0, 1)) {
        const lists = this.#formats[encoding === "text" && word ? "word" : encoding];
        for (const n of lengths[encoding]) (lists[n] ??= []).push(format);
      }
    }
  }

  find(text) {
    wantText("find", text);
    const found = [];
    if (this.#formats.word.length > 0) {
      for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z_-]+/g)) {
        found.push(this.#judgeWord(run, index));
      }
    }
    for (const { 0: run, index } of text.matchAll(/[0-9A-Za-z]{10,}/g)) {
      if (run.length <= 42) found.push(this.#judge(text, run, index));
    }
    let end = 0;
    return found.filter((match) => match).sort((a, b) => a.start - b.start).filter((match) => {
      if (match.start < end) return false; // an ID in an ID does not count
      end = match.end;
      return true;
    });
  }

  #judgeWord(run, start) {
    if (!/[0-9]/.test(run.slice(1)) && oneCase(run.slice(1))) return undefined; // an ordinary word
    const among = this.#formats.word[run.length]?.filter((f) => !f.search.mixed || alternates(run));
    return this.#first(among, "text", run, start);
  }

  #judge(text, run, start) {
    const end = start + run.length;
    const at = afterEscape(text, start);
    const rest = at > start && this.#judgeWhole(text, text.slice(at, end), at);
    // Only behind a percent sign, an escape is not also the start of a word.
    return rest || at > start && text[start - 1] === "%" ? rest : this.#judgeWhole(text, run, start);
  }

  #judgeWhole(text, run, start) {
    const { text: texts, hex, int } = this.#formats;
    const number = /^[1-9][0-9]+$/.test(run) && !isFraction(text, start, start + run.length) &&
      this.#first(int[0], "int", run, start);
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
  // caller gives no formats, each text must have a digit, and a short text the usual case.
  #judgeText(format, text, run, start) {
    const { short, prefix = "", mixed } = format.search ?? {};
    const bothCases = !oneCase(symbolsOf(format));
    const random = mixed || bothCases;
    if (!run.startsWith(prefix) || !bothCases && !oneCase(run)) return undefined;
    if (!this.only && isHex(run) && run.length > 16) return undefined; // probably a hash
    if (!this.only && !/[0-9]/.test(run)) return undefined; // probably a word
    if (random && !alternates(run)) return undefined;
    if (format.text.prefix) return this.#judgePrefixed(format, text, run, start);
    if (bothCases && oneCase(run)) return undefined;
    if ((random || short) && besideBase64(text, start, start + run.length)) return undefined;
    const usual = this.only || usualCase(format, "text", run);
    if (short && (!usual || /^0[xbo][0-9a-f]+$/i.test(run))) return undefined;
    const match = this.#first([format], "text", run, start);
    const likely = !random || this.only || this.#accept(`mixed ${run.length}`, match);
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
    const [, begins] = wordStarts(text, first);
    if (first > begins) return undefined;
    first = begins;
    while (text[first] === "_" && first < start - 1) first++; // as in the markup _order_..._
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
      : this.#accept(run.length, match);
    return likely ? match : undefined;
  }

  #judgeUUID(text, start) {
    const word = text.slice(start, start + 36);
    if (start < 0 || NOT_UUID.test(word) || !wordStarts(text, start).includes(start)) {
      return undefined;
    }
    const match = this.#first(this.#formats.uuid[36], "uuid", word, start);
    if (this.only || match && !match.id.format.generates) return match;
    const likely = this.#accept("any UUID", match);
    // One in eight scru128 IDs looks like a UUID without a time. Such a text counts as scru128 only
    // if earlier texts of this form were IDs of our formats and could not be UUIDs.
    const ours = /^.{14}[1-8].{4}[89ab]/i.test(word)
      ? likely && this.#ratios["other UUIDs"]?.likely
      : this.#accept("other UUIDs", match);
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

