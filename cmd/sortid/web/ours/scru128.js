import { scru128 as row } from "../formats.js";
import { fail } from "../errors.js";
import { Generator, borrow } from "../generator.js";
import { BasicFormat, plainText } from "../basic.js";
import { join } from "../integer.js";
import { UUID } from "../uuid.js";

class Scru128Generator extends Generator {
  renewed = -Infinity; // when counter_hi was last drawn
  top = 0xffffff;

  start(timestamp) {
    if (timestamp - this.renewed >= 1000) {
      this.high = this.random(24);
      this.renewed = timestamp;
    }
    this.counter = this.random(24);
  }

  next() {
    if (super.next()) return true;
    this.counter = 0;
    this.high++;
    return this.high <= this.top;
  }

  value() {
    const { last, high, counter } = this;
    return join(this.random(32), high << 24 | counter, last << 16 | high >>> 8, last / 2 ** 16);
  }

  full() {
    this.high = 0;
    return borrow(this);
  }

  behind(now) {
    this.renewed = -Infinity;
    return super.behind(now);
  }
}

// A text has room for more than 128 bits.
const { read, write } = plainText(row.text);
const codec = {
  read(text, format) {
    const value = read(text, format);
    if (value <= format.max) return value;
    return fail(format, text, "range",
      `out of range, want at most ${write(format.max)}, the largest ID`);
  },
  write,
};

export const scru128 = new BasicFormat({ ...row, Generator: Scru128Generator, ID: UUID, codec });
export { GeneratorError, ParseError } from "../errors.js";
