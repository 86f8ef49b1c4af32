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
  const { bin, exports } = JSON.parse(read("package.json"));
  for (const entry of [{ default: bin.sortid }, exports["."], exports["./lease"]]) {
    for (const name of Object.values(entry)) assert.ok(read(name).length > 0, name);
  }
});

test("each entry for one format has types, and makes what the whole package reads", async () => {
  for (const { name } of sortid.ours) {
    assert.match(read(`ours/${name}.d.ts`), new RegExp(`^export declare const ${name}:`, "m"));
    const entry = await import(`sortid/${name}`);
    const id = entry[name].generator(name === "scru64" ? { node: "5/8" } : {}).generate();
    const whole = sortid[name].parse(String(id));
    assert.ok(whole.equals(id) && id.equals(whole), name);
    for (const member of ["text", "int", "hex", "milli", "fields", "bytes"]) {
      assert.deepEqual(id[member], whole[member], `${name}, ${member}`);
    }
    assert.equal(id.uuid, whole.uuid);
    assert.ok(entry[name].fromBytes(id.bytes).equals(id) && entry[name].fromInt(id.int).equals(id));
    assert.throws(() => entry[name].parse("?"), entry.ParseError);
    const typed = id.withPrefix("user");
    for (const prefix of ["user", undefined]) {
      const { prefix: got, text } = entry[name].parseTyped(String(typed), prefix);
      assert.deepEqual([got, text], ["user", `user_${id}`]);
    }
    assert.throws(() => entry[name].parseTyped(String(typed), "order"), { reason: "prefix" });
    assert.equal(String(typed.withPrefix("")), String(id));
    assert.equal(sortid.ParseError, entry.ParseError);
  }
});

const examples = read("README.md").matchAll(/```js\n([^]*?)```/g);
for (const [i, [, code]] of [...examples].entries()) {
  test(`example ${i + 1} of the README prints what it says`, async () => {
    const printed = [];
    const body = code.replace(/^import (\{.*\}) from (".*");$/gm,
      (line, names, from) => `const ${names} = await load(${from});`);
    const run = new Function("console", "load", `return (async () => {${body}})()`);
    await run({ log: (...values) => printed.push(values.join(" ")) }, (name) => import(name));
    const wanted = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, want]) => want);
    assert.ok(wanted.length > 0 && printed.length === wanted.length);
    wanted.forEach((want, j) => { if (want !== "a new ID") assert.equal(printed[j], want); });
  });
}
