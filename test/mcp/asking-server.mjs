// A server over stdio whose tools ask the user: `form` with the schema of its arguments, `page` for an address, `late` by an error.
import { createInterface } from "node:readline";

const waiting = new Map();
let asked = 0;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (params) =>
	new Promise((resolve) => {
		const id = `ask-${++asked}`;
		waiting.set(id, resolve);
		send({ id, method: "elicitation/create", params });
	});
const inputSchema = { type: "object" };
let capabilities;

async function call({ name, arguments: args }) {
	const page = { mode: "url", elicitationId: "1", message: "Log in first", url: args.url ?? "https://example.com/a?b=c" };
	if (name === "capabilities") return JSON.stringify(capabilities.elicitation ?? null);
	if (name === "page") return JSON.stringify(await ask(page));
	if (name === "late") throw Object.assign(new Error("first a page"), { code: -32042, data: { elicitations: [page] } });
	return JSON.stringify(await ask({ mode: "form", message: args.message, requestedSchema: args.schema }));
}

createInterface({ input: process.stdin }).on("line", async (line) => {
	const { id, method, params, result, error } = JSON.parse(line);
	if (method === undefined) return waiting.get(id)?.(result ?? { error });
	if (method === "initialize") {
		({ capabilities } = params);
		const { protocolVersion } = params;
		const serverInfo = { name: "asking", version: "1" };
		return send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
	}
	if (method === "tools/list") {
		const tools = ["form", "page", "late", "capabilities"].map((name) => ({ name, inputSchema }));
		return send({ id, result: { tools } });
	}
	if (method !== "tools/call") return;
	try {
		send({ id, result: { content: [{ type: "text", text: await call(params) }] } });
	} catch ({ code = -32603, message, data }) {
		send({ id, error: { code, message, data } });
	}
});
