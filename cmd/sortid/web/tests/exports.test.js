// The types declare what the module exports, and the package holds what it needs.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as sortid from "../sortid.js";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

test("sortid.d.ts declares every export, and nothing else", () => {
  const declared = [...read("sortid.d.ts").matchAll(/^export (?:declare )?(?:const|function|class) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(declared.sort(), Object.keys(sortid).sort());
});

test("package.json names files that are there", () => {
  const { files, exports } = JSON.parse(read("package.json"));
  for (const name of [...files, exports["."].types, exports["."].default]) assert.ok(read(name).length > 0, name);
});

test("the README's example runs", async () => {
  const example = read("README.md").match(/```js\n([^]*?)```/)[1].replace('"sortid"', JSON.stringify(new URL("../sortid.js", import.meta.url).href));
  const printed = [];
  const run = new Function("console", `return (async () => {${example.replace(/^import (\{.*\}) from (.*);$/m, "const $1 = await import($2);")}})()`);
  await run({ log: (value) => printed.push(String(value)) });
  const wanted = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => comment);
  assert.ok(wanted.length >= 5);
  wanted.forEach((want, i) => { if (want !== "a new ID") assert.equal(printed[i], want); });
});
