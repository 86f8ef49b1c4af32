// Leases a node ID (a worker or machine ID) from "sortid serve" with lease.js. In your own program,
// copy that file, or import "sortid/lease" of npm.
import { acquire } from "../../cmd/sortid/web/lease.js";

const { SORTID_URL, SORTID_REALM, SORTID_TOKEN: token } = process.env;
const fail = (problem) => process.exit(console.error(`worker-ids.mjs: ${problem}`) ?? 1);
const lease = await acquire(SORTID_URL, SORTID_REALM, { token, onEnd: fail }).catch(fail);
process.once("SIGTERM", () => lease.release(Date.now()).finally(() => process.exit(0)));
console.log(lease.nodeId, lease.validUntil);
