// Generated from the Go package format by "go generate"; do not edit.
import type { BasicFormat } from "../sortid.js";

export declare const scru160: BasicFormat<"scru160">;
export { GeneratorError, ParseError } from "../sortid.js";
export type { BasicFormat, BasicID, GeneratorOptions, IDGenerator } from "../sortid.js";
