// Compares the npm package sortid with its peers. Prints JSON: for each operation, the nanoseconds
// of processor time for one ID of each library. Rounds of the libraries alternate, and the median
// counts. The test JavaScript runs it in a folder with the packages.
import { scru128, scru64 } from "sortid";
import { scru128 as basic128 } from "sortid/scru128";
import { Scru128Generator, Scru128Id } from "scru128";
import { parse as parseUUID, stringify, v7 } from "uuid";

const peer64 = await import("scru64").catch(() => undefined);

const COUNT = 1000; // different IDs
const made = (make) => Array.from({ length: COUNT }, make);
const theirs = new Scru128Generator();
const peers = made(() => theirs.generate());
const texts = peers.map(String);
const uuids = made(() => v7());
const bytes = uuids.map((uuid) => parseUUID(uuid));
const own = scru128.generator();
const ids = texts.map((text) => scru128.parse(text));
let now = Date.now();
const node = scru64.generator({ node: "42/8", now: () => now });
const ids64 = made(() => node.generate());
const texts64 = ids64.map(String);

const operations = {
  Parse: {
    sortid: (i) => scru128.parse(texts[i]),
    "sortid/scru128": (i) => basic128.parse(texts[i]),
    scru128: (i) => Scru128Id.fromString(texts[i]),
    "uuid v7": (i) => parseUUID(uuids[i]),
  },
  String: {
    sortid: (i) => ids[i].toString(),
    scru128: (i) => peers[i].toString(),
    "uuid v7": (i) => stringify(bytes[i]),
  },
  Make: {
    sortid: () => own.generate(),
    scru128: () => theirs.generate(),
  },
  MakeString: {
    sortid: () => own.generate().toString(),
    scru128: () => theirs.generate().toString(),
    "uuid v7": () => v7(),
  },
  Parse64: { sortid: (i) => scru64.parse(texts64[i]) },
  String64: { sortid: (i) => ids64[i].toString() },
  Make64: { // a tick has at most 65536 IDs for this node, so the clock goes on
    sortid: (i) => {
      if (i === 0) now += 256;
      return node.generate();
    },
  },
};
if (peer64) {
  const { Scru64Generator, Scru64Id } = peer64;
  const generator = new Scru64Generator("42/8");
  const peers64 = texts64.map((text) => Scru64Id.fromString(text));
  operations.Parse64.scru64 = (i) => Scru64Id.fromString(texts64[i]);
  operations.String64.scru64 = (i) => peers64[i].toString();
  operations.Make64.scru64 = (i) => {
    if (i === 0) now += 256;
    return generator.generateOrResetCore(now, 10_000);
  };
}

let sink;

function round(operation) {
  const begin = process.cpuUsage();
  for (let n = 0; n < 50; n++) for (let i = 0; i < COUNT; i++) sink = operation(i);
  const { user, system } = process.cpuUsage(begin);
  return (user + system) * 1000 / (50 * COUNT);
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];

const results = {};
for (const [name, libraries] of Object.entries(operations)) {
  const rounds = Object.fromEntries(Object.keys(libraries).map((library) => [library, []]));
  for (let n = 0; n < 25; n++) {
    for (const [library, operation] of Object.entries(libraries)) {
      const took = round(operation);
      if (n >= 5) rounds[library].push(took); // the first rounds warm up
    }
  }
  results[name] = Object.fromEntries(
    Object.entries(rounds).map(([library, list]) => [library, median(list)]));
}
if (sink === undefined) throw new Error("nothing was made");
console.log(JSON.stringify(results));
