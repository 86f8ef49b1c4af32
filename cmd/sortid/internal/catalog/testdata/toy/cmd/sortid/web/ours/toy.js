import { toy as row } from "../formats.js";
import { NodeGenerator, waitForTick } from "../generator.js";
import { BasicFormat } from "../basic.js";
import { join } from "../integer.js";

class ToyGenerator extends NodeGenerator {
  top = 1023;

  constructor(format, options) { super(format, options, "node", 12); }
  full() { return waitForTick(this); }
  start() { this.counter = 0; }

  value() {
    return join(this.last << 22 | this.counter << 12 | this.node(12), this.last / 2 ** 10);
  }
}

export const toy = new BasicFormat({ ...row, Generator: ToyGenerator });
export { GeneratorError, ParseError } from "../errors.js";
