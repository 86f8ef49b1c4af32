import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as sortid from "../sortid.js";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

test("sortid.d.ts declares every export, and nothing else", () => {
  const exported = /^export (?:declare )?(?:const|function|class) (\w+)/gm;
  const declared = [...read("sortid.d.ts").matchAll(exported)].map(([, name]) => name);
  assert.deepEqual(declared.sort(), Object.keys(sortid).sort());
});

test("package.json names files that exist", () => {
  const { files, exports } = JSON.parse(read("package.json"));
  const { types, default: script } = exports["."];
  for (const name of [...files, types, script]) assert.ok(read(name).length > 0, name);
});

test("the README's example runs", async () => {
  const { href } = new URL("../sortid.js", import.meta.url);
  const [, code] = read("README.md").match(/```js\n([^]*?)```/);
  const example = code.replace('"sortid"', JSON.stringify(href));
  const printed = [];
  const body = example.replace(/^import (\{.*\}) from (.*);$/m, "const $1 = await import($2);");
  const run = new Function("console", `return (async () => {${body}})()`);
  await run({ log: (value) => printed.push(String(value)) });
  const logs = example.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm);
  const wanted = [...logs].map(([, comment]) => comment);
  assert.ok(wanted.length >= 5);
  wanted.forEach((want, i) => { if (want !== "a new ID") assert.equal(printed[i], want); });
});
