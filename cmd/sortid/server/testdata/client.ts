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
if (wrong.error?.status !== 422 || wrong.error.errors?.[0]?.location !== "query.n") {
	throw new Error(JSON.stringify(wrong));
}

const block = await client.POST("/v1/store/get", { body: { realm: "orders", blocks: ["42/8"] } });
if (block.data!.records[0]!.block !== "42/8" || block.data!.records[0]!.revision !== "0") {
	throw new Error(JSON.stringify(block));
}
console.log("ok");
