// A SCRU64 generator for the tests of "sortid lease exec". The counter starts at zero in
// each tick, so that two processes with one node ID in one tick make the same ID for
// certain.
import { writeSync } from "node:fs";

const [nodeId, size] = process.env.SCRU64_NODE_SPEC.split("/").map(BigInt);
const counterSize = 24n - size;
let tick = 0n;
let counter = 0n;

setInterval(() => {
  let out = "";
  for (let i = 0; i < 20; i++) {
    const now = BigInt(Date.now()) >> 8n;
    if (now > tick) {
      tick = now;
      counter = 0n;
    } else if (++counter >> counterSize) {
      tick++;
      counter = 0n;
    }
    const id = (tick << 24n) | (nodeId << counterSize) | counter;
    out += id.toString(36).padStart(12, "0") + "\n";
  }
  writeSync(1, out);
}, 10);
