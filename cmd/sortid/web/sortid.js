// Reads IDs of every format that sortid knows, and makes IDs of its own formats.
//
// README.md has examples, and sortid.d.ts describes the exports.
export { formats, lookup } from "./all.js";
export { BasicFormat, BasicID } from "./basic.js";
export { describe, detect, strip } from "./detect.js";
export { plausible, plausibleRange } from "./likely.js";
export { GeneratorError, ParseError } from "./errors.js";
export { Finder, Ratio, find } from "./find.js";
export { facts, sources } from "./formats.js";
export { Format, ID, formatTime } from "./id.js";
export * from "./ours.js";
export { collisionProbability, count, odds, plan, seconds } from "./plan.js";
export { parseTime, zoneOffset } from "./time.js";
