// All formats: first the ones that sortid makes.
import { Codec, cutPrefix } from "./codec.js";
import { reject } from "./errors.js";
import { others } from "./formats.js";
import { Format } from "./id.js";
import { ours } from "./ours.js";

class OtherFormat extends Format {
  constructor(row) { super(row, row.text.symbols && new Codec(row)); }

  prefixOf(text) { return this.text.prefix ? cutPrefix(this.text, text)[0].slice(0, -1) : ""; }
  hasLength(text) { return super.hasLength(cutPrefix(this.text, text)?.[1] ?? ""); }

  innerOf({ value }) { return this.within?.map(lookup).find((format) => format.admits(value)); }

  // The values may be of the fields of an ID inside.
  fromFields(values) {
    if (!values || !this.within) return super.fromFields(values);
    const fits = ({ name, kind, value = 0 }) => !name ||
      (kind === "fixed" ? BigInt(values[name] ?? value) === BigInt(value) : name in values);
    const format = [this, ...this.within.map(lookup)]
      .find(({ layout }) => layout.every(fits));
    return this.join(format ?? this, values);
  }
}

export const formats = Object.freeze([...ours, ...others.map((row) => new OtherFormat(row))]);

const byName = new Map(formats.map((format) => [format.name, format]));

export const lookup = (name) => byName.get(name) ?? reject(
  `unknown format ${JSON.stringify(name)}; the formats are ${[...byName.keys()].join(", ")}`);
