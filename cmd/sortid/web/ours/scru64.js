import { scru64 as row } from "../formats.js";
import { Generator, borrow, parseNode, refuseToGoBack } from "../generator.js";
import { BasicFormat } from "../basic.js";
import { join } from "../integer.js";

class Scru64Generator extends Generator {
  constructor(format, options) {
    super(format, options, "node");
    const { node } = options;
    const [, text, bits] = /^(\w{12})\/(.*)$/.exec(node) ?? []; // the ID to continue after
    const { id, size } = parseNode(text ? `0/${bits}` : node, 23, "node ID");
    this.counterSize = 24 - size;
    this.top = 2 ** this.counterSize - 1;
    this.node = id << this.counterSize;
    this.guard = size >= 20 ? 1 : 0; // how many high bits of the counter start at zero
    if (!text) return;
    const { timestamp, node_ctr: low } = format.parse(text).fields;
    this.node = Number(low) & ~this.top;
    this.counter = Number(low) & this.top;
    if (timestamp) this.last = Number(timestamp);
  }

  start() { this.counter = this.random(this.counterSize - this.guard); }
  value() { return join(this.last << 24 | this.node | this.counter, this.last / 2 ** 8); }
  full() { return borrow(this); }
  behind() { refuseToGoBack(this); }
}

export const scru64 = new BasicFormat({ ...row, Generator: Scru64Generator });
export { GeneratorError, ParseError } from "../errors.js";
