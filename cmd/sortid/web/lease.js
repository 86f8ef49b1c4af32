// Leases a node ID (a worker or machine ID) from "sortid serve", and renews it in the background.
// It needs Node 20 or later, and no packages. Copy this file, or use "sortid/lease" of npm.
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

// Returns a lease when the program may use its nodeId. While the server is away or has no free node
// ID, it tries again, as long as the patience. If it gets none, it throws an error.
//
// It calls onEnd(problem) "ahead" of the lease's end, so that the program can stop in time. If the
// generator can run ahead of the clock, add how far. All times are in milliseconds.
export async function acquire(url, realm, { token, ahead = 1000, patience = 30000, onEnd } = {}) {
  if (!/^https?:[/][/]/.test(url)) throw new Error(`want https://HOST: ${url}`);
  const base = `${url.replace(/[/]+$/, "")}/v1/realms/${encodeURIComponent(realm)}/leases`;
  const headers = { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let id = "", keys = { holder: hostname() }, name = "request", nonce = crypto.randomUUID(), offset;

  // Each is a time by the wall clock, and a time by a clock that nobody sets. On Linux, that one
  // stands still while the machine is suspended, and only the wall clock notices. Until the server
  // grants the lease, it never begins, and ends with the patience.
  let begin = [Infinity], end = [Infinity, performance.now() + patience + ahead], ended, problem;
  const left = () => Math.min(end[0] - Date.now(), end[1] - performance.now()) - ahead;

  const lease = {
    // Reports whether the program may use nodeId now. Ask before each ID: a program does not
    // notice that it stood still. Other processes and workers need their own leases.
    held: () => begin[0] <= Date.now() && begin[1] <= performance.now() && left() > 0 && !ended,

    // Gives the node ID back. Make no ID after that, whether or not the server answers. The node
    // ID is free after lastTime, the time of the last ID, or else when the lease would have ended.
    release: async (lastTime) => {
      if (lease.held()) await ask("/release", { ...keys, last_time_ms: lastTime });
    },
  };

  // Sends a request, takes the lease in the answer, and returns how long to wait then.
  const ask = async (path, content) => {
    let wait = 200 + 1800 * Math.random(), sent = performance.now(), body = JSON.stringify(content);
    ended ||= path == "/release";
    const signal = AbortSignal.timeout(ended ? 2000 : Math.ceil(Math.max(1000, left() / 3)));
    try {
      const request = { method: "POST", headers, body, signal, redirect: "manual" };
      const reply = await fetch(base + id + path, request), status = reply.status;
      wait = Math.max(wait, 1000 * reply.headers.get("Retry-After"));
      const answer = /json/.test(reply.headers.get("Content-Type")) ? await reply.json() : {};
      problem = reply.ok ? "" : answer.detail ?? `${base} answered ${status}`;
      if (id ? status == 410 : status < 500 && ![200, 201, 410, 429].includes(status)) end = [0, 0];
      if ([200, 201, 410].includes(status)) nonce = crypto.randomUUID();
      if (answer.end_tick > (keys.end_tick ?? 0) && left() > 0) {
        [id, name, offset] = [`/${answer.id}`, "renewal", Date.now() - performance.now()];
        keys = { secret: answer.secret, end_tick: answer.end_tick };
        Object.assign(lease, { nodeId: answer.node_id, validUntil: answer.valid_until_ms });
        end = [answer.valid_until_ms, sent + answer.valid_for_ms];
        begin = [answer.valid_from_ms, performance.now() + answer.starts_in_ms];
        wait = answer.renew_at_ms - answer.server_time_ms;
      }
    } catch (error) { problem = `${base}: ${error.cause?.code ?? error.message}`; }
    return wait;
  };

  (async () => {
    while (left() > 0 && !ended) await sleep(50);
    const jump = Math.round((Date.now() - performance.now() - offset) / 1000);
    problem ||= jump ? `the clock jumped by ${jump} s` : "this process stood still";
    if (!ended && id) onEnd?.(problem);
    ended = true;
  })();
  (async () => {
    for (let wait = 0; !ended; await sleep(wait, null, { ref: false }))
      wait = await ask(id && "/renew", { ...keys, [name]: nonce, time_ms: Date.now() });
  })();
  for (; !lease.held(); await sleep(20)) if (ended) throw new Error(problem);
  return lease;
}
