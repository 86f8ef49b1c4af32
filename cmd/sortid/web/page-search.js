// Searches texts and files for IDs. For a large input, a worker runs this file.
import { lookup } from "./all.js";
import { strip } from "./detect.js";
import { attempt } from "./errors.js";
import { Finder, Ratio } from "./find.js";
import { guess, nameOf, read } from "./read.js";

const MOST = 100_000; // items that a search keeps

// Collects the IDs of a text, part by part. An item is an ID with its encoding. It also says where
// the ID was and how it was read.
export class Search {
  now = Date.now();
  hashes = new Ratio();
  total = 0;
  counts = {}; // of IDs, by the name of their format
  times = [];
  items = []; // the first ones
  lines = 0; // lines read to their end
  faults = []; // lines that look like an ID but are none
  faultCount = 0;
  without = 0; // lines without an ID
  ended = ""; // why the search ended early
  refused = ""; // what the file is, if it was not searched
  #column = 0; // characters of the current line in earlier parts
  #hasText = false; // whether the current line has text, and an ID
  #hasID = false;
  #rest = "";
  #finder;

  constructor(format) {
    this.format = format; // undefined means any format
    this.#finder = new Finder({ formats: format && [format], now: this.now });
  }

  add(text, last) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    if (last && this.#rest) lines.push(this.#rest);
    for (const line of lines) {
      this.#part(line.replace(/\r$/, ""));
      this.lines++;
      this.#column = 0;
      if (this.#hasText && !this.#hasID) this.without++;
      this.#hasText = this.#hasID = false;
    }
    if (!last && this.#rest.length > 1 << 20) { // read a long line in parts, which end between words
      let end = this.#rest.length;
      while (end > 0 && /[0-9A-Za-z_-]/.test(this.#rest[end - 1])) end--;
      end ||= this.#rest.length;
      this.#part(this.#rest.slice(0, end));
      this.#column += end;
      this.#rest = this.#rest.slice(end);
    }
  }

  #keep(item) {
    if (!this.#isFull) this.items.push(item);
    this.#count(item);
  }

  get #isFull() { return this.items.length >= MOST; }

  #count(item) {
    const name = nameOf(item);
    const { milli } = item.id;
    this.total++;
    this.#hasID = true;
    this.counts[name] = (this.counts[name] ?? 0) + 1;
    if (milli !== undefined) this.times.push(milli);
  }

  #part(text) {
    const line = this.lines + 1;
    const word = text.trim();
    if (!word) return;
    this.#hasText = true;
    let problem;
    if (word.length <= 100 && !/\s/.test(word)) {
      try {
        if (this.#isFull && !this.format) this.#count(guess(strip(word).text, this)[0]);
        else this.#keep({ ...read(word, this), line, input: word });
        return;
      } catch (error) {
        problem = error;
      }
    }
    const found = this.#finder.find(text);
    for (const { id, encoding, start, end } of found) {
      const from = Math.max(0, start - 200);
      this.#keep({
        id, encoding, line, column: this.#column + start + 1, input: text.slice(start, end),
        context: text.slice(from, end + 200), start: start - from, end: end - from,
      });
    }
    if (found.length > 0 || !problem) return;
    this.faultCount++;
    if (this.faults.length === 20) return;
    this.faults.push({ line, word, reason: problem.detail ?? problem.message });
  }
}

// How compressed files begin. The names are also the commands that unpack them.
const PACKED = Object.entries({
  gzip: "\x1f\x8b", zstd: "\x28\xb5\x2f\xfd", xz: "\xfd7zXZ\0", bzip2: "BZh91AY&SY",
});

const begins = (bytes, magic) => [...magic].every((c, i) => c.charCodeAt(0) === bytes[i]);

// Reads a file of any size in parts, and reports how far it is. The function report gets the
// search, and the number of bytes that were read. It returns false to end the search.
export async function searchFile(file, format, report) {
  const search = new Search(format);
  let size = 0;
  try {
    let stream = file.stream().pipeThrough(new TransformStream({
      transform(part, controller) {
        size += part.length;
        controller.enqueue(part);
      },
    }));
    const head = new Uint8Array(await file.slice(0, 10).arrayBuffer());
    const [packed] = PACKED.find(([, magic]) => begins(head, magic)) ?? [];
    if (packed) {
      const unpack = attempt(() => new DecompressionStream(packed));
      if (!unpack) {
        search.refused = `is compressed with ${packed}, which this browser cannot read. ` +
          `Use "${packed} -d" first.`;
        return search;
      }
      stream = stream.pipeThrough(unpack);
    }
    const reader = stream.getReader();
    let decoder;
    for (;;) {
      const { done, value = new Uint8Array() } = await reader.read();
      const first = !decoder;
      decoder ??= new TextDecoder(begins(value, "\xff\xfe") ? "utf-16le"
        : begins(value, "\xfe\xff") ? "utf-16be" : "utf-8");
      const text = decoder.decode(value, { stream: !done });
      if (first && text.slice(0, 8192).includes("\0")) {
        search.refused = "is a binary file, not text.";
        reader.cancel();
        break;
      }
      search.add(text, done);
      if (done) break;
      if (await report(search, size) === false) {
        reader.cancel();
        break;
      }
    }
  } catch (error) {
    search.ended = `The file could not be read to its end: ${error.message}`;
  }
  return search;
}

/* Messages between the worker and the page. They cannot contain objects with methods. */

const pack = ({ id, others, ...item }) => ({
  ...item, id: { format: id.format.name, value: id.value, prefix: id.prefix },
  ...(others && { others: others.map(pack) }),
});

function unpack({ id, others, ...item }) {
  let own;
  return {
    ...item, others: others?.map(unpack),
    get id() { return own ??= lookup(id.format).fromClone(id); },
  };
}

function snapshot(search, most) {
  const { total, counts, items, lines, faults, faultCount, without, ended, refused } = search;
  return {
    total, counts, lines, faults, faultCount, without, ended, refused,
    times: Float64Array.from(search.times).sort(),
    items: items.slice(0, most).map(pack),
  };
}

const FIRST = 200; // items in the first results

// What a worker does: it gets a file and the name of a format, and sends its progress.
export function serve() {
  addEventListener("message", async ({ data: { file, format } }) => {
    const begin = performance.now();
    let next = begin;
    let shown = false;
    const search = await searchFile(file, format && lookup(format), ({ total, ...rest }, size) => {
      const now = performance.now();
      if (shown && now < next) return;
      next = now + 100;
      postMessage({ size, total });
      if (shown || total < FIRST && now - begin < 300) return;
      shown = true;
      postMessage({ first: snapshot({ total, ...rest }, FIRST) });
    });
    const result = snapshot(search);
    postMessage({ result }, [result.times.buffer]);
  });
}

export function received(message) {
  const part = message.first ?? message.result;
  return part && { ...part, items: part.items.map(unpack) };
}
