#!/usr/bin/env node
// "npx sortid ID" prints what is in IDs.
import { card } from "./card.js";
import { lookup } from "./all.js";
import { ParseError } from "./errors.js";
import { Ratio } from "./find.js";
import { read } from "./read.js";

const usage = `Usage: sortid [--format FORMAT] ID...

Prints what is in IDs. Without a format, it guesses the format of each ID.
`;

// Codes instead of characters that a terminal does not show, or obeys.
const quote = (text) => JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}...` : text)
  .replace(/[\p{Control}\p{DI}\p{Bidi_Control}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

function main(args) {
  let format;
  if (args[0]?.startsWith("--format")) {
    const [option] = args.splice(0, 1);
    format = lookup(option === "--format" ? args.shift() ?? "" : option.slice("--format=".length));
  }
  if (args[0] === "--") args.shift();
  if (args.length === 0 || /^(-h|--help)$/.test(args[0])) {
    const [stream, code] = args.length === 0 ? [process.stderr, 2] : [process.stdout, 0];
    stream.write(usage);
    return code;
  }
  const hashes = new Ratio();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const cards = [];
  let code = 0;
  args.forEach((input, i) => {
    try {
      const reading = { ...read(input, { format, hashes }), input };
      cards.push(card(reading, { width: process.stdout.columns, zone }));
    } catch (error) {
      code = 1;
      const start = error instanceof ParseError ? "" : `cannot tell what ${quote(input)} is: `;
      process.stderr.write(`sortid: argument ${i + 1}: ${start}${error.message}\n`);
    }
  });
  process.stdout.write(cards.join("\n"));
  return code;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (error) { // an unknown format
  process.stderr.write(`sortid: ${error.message}\n`);
  process.exitCode = 2;
}
