// This program uses a client generated from /openapi.json. The compiler checks its requests and
// answers.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const client = createClient<paths>({ baseUrl: process.argv[2]! });

const ids = await client.GET("/v1/ids/{format}", {
	params: { path: { format: "scru64" }, query: { n: 3, encoding: "int" } },
	headers: { Accept: "application/json" },
});
if (typeof ids.data !== "object") {
	throw new Error(JSON.stringify(ids));
}
const list: string[] = ids.data.ids;
if (ids.data.format !== "scru64" || list.length !== 3 || !(BigInt(list[0]!) < BigInt(list[1]!))) {
	throw new Error(JSON.stringify(ids.data));
}

const wrong = await client.GET("/v1/ids/{format}", {
	params: { path: { format: "scru128" }, query: { n: 1000000 } },
});
if (wrong.error?.status !== 422 || wrong.error.errors?.[0]?.field !== "n") {
	throw new Error(JSON.stringify(wrong));
}

const realm = { params: { path: { realm: "orders" } } };
const made = await client.PUT("/v1/realms/{realm}", { ...realm, body: { node_bits: 8 } });
const request = crypto.randomUUID();
const got = await client.POST("/v1/realms/{realm}/leases", { ...realm, body: { request } });
if (made.response.status !== 201 || got.response.status !== 201) {
	throw new Error(JSON.stringify([made, got]));
}
const lease = got.data!;
const path = { params: { path: { realm: "orders", id: lease.id } } };
const renewed = await client.POST("/v1/realms/{realm}/leases/{id}/renew", {
	...path, body: { secret: lease.secret, end_tick: lease.end_tick, renewal: crypto.randomUUID() },
});
if (renewed.data!.node_spec !== lease.node_spec || renewed.data!.end_tick < lease.end_tick) {
	throw new Error(JSON.stringify(renewed));
}
const released = await client.POST("/v1/realms/{realm}/leases/{id}/release", {
	...path, body: { secret: lease.secret, last_time_ms: lease.valid_from_ms },
});
const late = await client.POST("/v1/realms/{realm}/leases/{id}/renew", {
	...path, body: { secret: lease.secret, end_tick: renewed.data!.end_tick },
});
if (released.response.status !== 204 || late.error?.code !== "lease-lost") {
	throw new Error(JSON.stringify([released, late]));
}
console.log("ok");
