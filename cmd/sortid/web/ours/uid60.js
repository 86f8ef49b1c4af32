import { uid60 as row } from "../formats.js";
import { NodeGenerator, refuseToGoBack, waitForTick } from "../generator.js";
import { BasicFormat, plainText } from "../basic.js";
import { join } from "../integer.js";

// The sequence goes round only between milliseconds, so that IDs increase.
class Uid60Generator extends NodeGenerator {
  top = 511;
  counter = 511; // so that 0 comes next

  constructor(format, options) { super(format, options, "worker", 9); }
  full() { return waitForTick(this); }
  behind() { refuseToGoBack(this); }
  start() { this.counter = this.counter + 1 & 511; }

  value() {
    return join(this.last << 18 | this.counter << 9 | this.node(9), this.last / 2 ** 14);
  }
}

// In a text, the two last digits come first. A short text lacks digits of value zero.
const { read, write } = plainText(row.text);
const codec = {
  read: (text, format) => read(text, format, text.slice(2) + text.slice(0, 2)),
  write(value) {
    const text = write(value);
    return text.slice(-2) + text.slice(0, -2).replace(/^A{1,6}/, "");
  },
};

export const uid60 = new BasicFormat({ ...row, Generator: Uid60Generator, codec });
export { GeneratorError, ParseError } from "../errors.js";
