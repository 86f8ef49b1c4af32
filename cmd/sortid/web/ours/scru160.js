import { scru160 as row } from "../formats.js";
import { NodeGenerator, waitForTick } from "../generator.js";
import { BasicFormat } from "../basic.js";
import { join } from "../integer.js";

class Scru160Generator extends NodeGenerator {
  top = 0xffff;

  constructor(format, options) { super(format, options, "node", 16); }
  full() { return waitForTick(this); }
  start() { this.counter = this.random(15); }

  value() {
    const { last, counter } = this;
    const [low, middle] = [this.random(32), this.random(32)];
    return join(low, middle, this.node(32), last << 16 | counter, last / 2 ** 16);
  }
}

export const scru160 = new BasicFormat({ ...row, Generator: Scru160Generator });
export { GeneratorError, ParseError } from "../errors.js";
