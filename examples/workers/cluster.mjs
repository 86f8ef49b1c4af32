// Each worker of Node's cluster takes one of the node IDs of "sortid lease exec --count", which no
// other worker has. docs/worker-ids.md explains it.
import cluster from "node:cluster";

const free = process.env.SORTID_NODE_IDS.split(",");

function start() {
  const id = free.shift();
  const again = () => { free.push(id); start(); };
  // The pause is longer than the library runs ahead.
  cluster.fork({ SORTID_NODE_ID: id }).on("exit", () => setTimeout(again, 100));
}

if (cluster.isPrimary) for (let i = 0; i < 8; i++) start();
else await import("./app.mjs"); // it reads process.env.SORTID_NODE_ID
