import { euid as row } from "../formats.js";
import { fail, reject } from "../errors.js";
import { Generator, waitForTick } from "../generator.js";
import { BasicFormat, plainText } from "../basic.js";
import { join } from "../integer.js";
import { UUID } from "../uuid.js";

class EuidGenerator extends Generator {
  top = 0xffffffff;

  constructor(format, options) {
    super(format, options, "ext");
    const [, text, bits] = /^(\d+)(?:\/(\d\d?))?$/.exec(options.ext ?? 0) ?? [];
    this.extension = Number(text);
    this.length = Number(bits ?? 32 - Math.clz32(this.extension));
    if (!(this.length <= 15 && this.extension < 2 ** this.length)) {
      reject("the extension has up to 15 bits, like 5 or 5/8");
    }
  }

  full() { return waitForTick(this); }

  start() {
    const above = this.random(15) >> this.length << this.length;
    this.head = (above | this.extension) << 7 | this.length << 3;
    this.counter = this.random(32);
  }

  value() {
    const { last, head, counter } = this;
    return join(this.random(32), counter, last << 22 | head, last / 2 ** 10);
  }
}

// The lowest 7 bits of a text are the remainder of the ID divided by 127.
const { read, write } = plainText(row.text);
const codec = {
  read(text, format) {
    const word = text.replace(/[ilo]/gi, (c) => row.text.aliases[c.toUpperCase()]);
    const number = read(text, format, word);
    const value = number >> 7n;
    if ((number & 127n) === value % 127n) return value;
    return fail(format, text, "check", "the check value does not fit, so the text is mistyped");
  },
  write: (value) => write(value << 7n | value % 127n),
};

export const euid = new BasicFormat({ ...row, Generator: EuidGenerator, ID: UUID, codec });
export { GeneratorError, ParseError } from "../errors.js";
