// This script reads lines "parse TEXT" and "make COUNT", and answers each ID with its text, its
// hexadecimal form and its fields, as the independent implementation sees them.
import { createInterface } from "node:readline";
import { Scru128Generator, Scru128Id } from "scru128";

const generator = new Scru128Generator();
const show = (id) =>
  console.log(id.toString(), id.toHex().replace(/^0x/, ""), id.timestamp,
    id.counterHi, id.counterLo, id.entropy);

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, argument] = line.split(" ");
  if (verb === "make") {
    for (let i = 0; i < Number(argument); i++) show(generator.generate());
    continue;
  }
  try {
    show(Scru128Id.fromString(argument));
  } catch {
    console.log("invalid");
  }
}
