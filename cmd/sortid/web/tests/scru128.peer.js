// sortid.js and the package scru128 read each other's IDs. browsertest installs both.
import assert from "node:assert/strict";
import test from "node:test";
import { Scru128Generator, Scru128Id } from "scru128";
import { scru128 } from "sortid";

const show = (id) => [
  id.toString(), id.toHex().replace("0x", ""), id.timestamp, id.counterHi, id.counterLo, id.entropy,
].join(" ");
const ours = (id) => [id.text, id.hex, ...Object.values(id.fields)].join(" ");

test("each package reads the IDs of the other", () => {
  const peer = new Scru128Generator();
  for (let i = 0; i < 2000; i++) {
    const theirs = peer.generate();
    assert.equal(ours(scru128.parse(theirs.toString())), show(theirs));
    assert.equal(ours(scru128.parseAs("hex", theirs.toHex().slice(2))), show(theirs));
    const id = scru128.generate();
    assert.equal(show(Scru128Id.fromString(id.text)), ours(id));
    const any = scru128.fromBytes(crypto.getRandomValues(new Uint8Array(16)));
    assert.equal(show(Scru128Id.fromString(any.text)), ours(any));
  }
});
