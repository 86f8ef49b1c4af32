// What the generators of all formats share.
import { GeneratorError, reject, wantOptions } from "./errors.js";

// Returns a function that draws up to 32 random bits. It fetches many at a time.
function entropy(fill = (bytes) => crypto.getRandomValues(bytes)) {
  const pool = new Uint32Array(512);
  let next = pool.length;
  return (bits) => {
    if (next === pool.length) {
      fill(new Uint8Array(pool.buffer));
      next = 0;
    }
    const value = pool[next];
    pool[next++] = 0; // a later reader of the memory must not find it
    return bits && value >>> 32 - bits;
  };
}

// How many milliseconds the last timestamp may be ahead of the clock.
export const ALLOWANCE = 10_000;

// Subclasses define start() to begin a tick, value() for the ID's integer, full() for a tick that
// has no more IDs, and top as the largest counter.
export class Generator {
  last = -1; // the timestamp of the last ID

  // Besides now and random, there can be an option of the format.
  constructor(format, options, ...own) {
    wantOptions(`${format.name}.generator`, options, ["now", "random", ...own]);
    const { now = Date.now, random } = options;
    this.format = format;
    this.now = now;
    this.random = entropy(random);
  }

  fail(words) { throw new GeneratorError(`${this.format.name}: ${words}`); }

  // The clock in ticks. Browsers round it, some to a tenth of a second.
  clock() {
    const { firstMilli, last, epoch, tick } = this.format;
    const now = this.now();
    if (now >= firstMilli && now <= last) return Math.floor((now - epoch) / tick);
    return this.fail("the clock shows a time that no ID can carry");
  }

  generate() {
    const now = this.clock();
    if (now > this.last) return this.begin(now);
    if ((this.last - now) * this.format.tick > ALLOWANCE) return this.behind(now);
    return this.next() ? this.make() : this.full();
  }

  begin(timestamp) {
    this.start(timestamp);
    this.last = timestamp;
    return this.make();
  }

  next() {
    if (this.counter >= this.top) return false;
    this.counter++;
    return true;
  }

  make() { return this.format.make(this.value()); }

  // The clock is too far behind the last ID, so the generator continues at the clock's time.
  behind(now) { return this.begin(now); }
}

// For generators that could make an ID again if they went back to the clock's time.
export function refuseToGoBack(generator) {
  generator.fail("the clock is over 10 seconds behind the last ID");
}

// Waits for the next tick, up to half a second.
export function waitForTick(generator) {
  for (const deadline = performance.now() + 500; ;) {
    const now = generator.clock();
    if (now > generator.last) return generator.begin(now);
    if (performance.now() > deadline) generator.fail("no ID is left in this tick");
  }
}

// Uses the next tick, ahead of the clock.
export function borrow(generator) {
  const next = generator.last + 1;
  const now = generator.clock();
  return (next - now) * generator.format.tick > ALLOWANCE ? generator.behind(now)
    : generator.begin(next);
}

// Reads a node ID and its size, as in "42/8" or "0x2a/8".
export function parseNode(text, max, what) {
  const match = /^(\d{1,8}|0x[\da-f]{1,6})\/(\d\d?)$/i.exec(text);
  if (!match) reject(`the ${what} must be like 42/8: the ID and its size in bits`);
  const [, id, size] = match.map(Number);
  if (size < 1 || size > max) reject(`the size of the ${what} is 1 to ${max} bits`);
  const largest = 2 ** size - 1;
  if (id > largest) reject(`${id} is no ${what} of ${size} bits: the largest is ${largest}`);
  return { id, size };
}

// A generator with an optional node ID of at most `most` bits, which the option `name` gives.
export class NodeGenerator extends Generator {
  constructor(format, options, name, most) {
    super(format, options, name);
    const node = options[name];
    const { id, size } = node ? parseNode(node, most, `${name} ID`) : { id: 0, size: 0 };
    // So many bits, with the node ID in the highest bits. The others are random.
    this.node = (bits) => id << bits - size | this.random(bits - size);
  }
}
