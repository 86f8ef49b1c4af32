// Writes its node ID and the time of the machine's monotonic clock while it holds the node ID.
const { acquire } = await import(process.env.LIBRARY);
const { SORTID_URL, SORTID_REALM } = process.env;
const onEnd = () => process.exit(1);
const lease = await acquire(SORTID_URL, SORTID_REALM, { ahead: 100, onEnd }).catch(onEnd);
setInterval(() => {
  const now = process.hrtime.bigint();
  if (lease.held()) process.stdout.write(`${lease.nodeId} ${now}\n`);
}, 10);
