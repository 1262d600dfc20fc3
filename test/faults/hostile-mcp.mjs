// An MCP server that answers at random. The argument is its seed.
import { createInterface } from "node:readline";

let state = Number(process.argv[2]);
const below = (limit) => {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor((state / 2 ** 32) * limit);
};
const pick = (list) => list[below(list.length)];
const write = (text) => process.stdout.write(text);
const send = (message) => write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

if (below(3) === 0) process.on("SIGTERM", () => {});
if (below(4) === 0) setInterval(() => {}, 1000);
if (below(12) === 0) process.exit(below(3));

const schema = () => pick([{ type: "object" }, { type: "object", properties: { a: { type: "string" } } }, 7, null, {}, { type: "array" }]);
const tool = () => ({
	name: pick(["echo", "echo", "", "a b", "x".repeat(300), "\u001b[31m", 7]),
	description: pick(["Echoes", undefined, "d".repeat(50_000), 5]),
	inputSchema: schema(),
});
const RESULTS = {
	initialize: () => pick([
		{ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } },
		{ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } },
		{ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } },
		{ protocolVersion: 7 },
		{},
	]),
	"tools/list": () => pick([
		{ tools: [{ name: "echo", inputSchema: { type: "object" } }] },
		{ tools: Array.from({ length: below(30) }, tool) },
		{ tools: 7 },
		{ tools: [null] },
		{ tools: [], nextCursor: "again" },
	]),
	"tools/call": () => pick([
		{ content: [{ type: "text", text: "ok" }] },
		{ content: [{ type: "text", text: "\u001b]0;t\u0007\u0000\ud800" }] },
		{ content: [{ type: "image", data: "!", mimeType: "image/png" }] },
		{ content: [{ type: "odd" }, null] },
		{ content: 7, isError: "x" },
		{},
	]),
};

createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method } = JSON.parse(line);
	const result = () => send({ id, result: RESULTS[method]?.() ?? {} });
	if (id === undefined) return;
	if (below(3) > 0) return result();
	pick([
		() => write("garbage\n"),
		() => write('{"jsonrpc":"2.0","id":\n'),
		() => write(Buffer.from([0xff, 0x00, 0x0a])),
		() => send({ id: 99_999, result: {} }),
		() => [result(), result()],
		() => send({ id, error: { code: -1, message: "\u001b[31mno" } }),
		() => send({ id, error: "no" }),
		() => {},
		() => process.exit(7),
		() => write(`${"x".repeat(2_000_000)}\n`),
		() => send({ id: 1, method: "sampling/createMessage", params: {} }),
		() => send({ method: "notifications/tools/list_changed" }),
		() => [write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"res`), setTimeout(() => write('ult":{}}\n'), 20)],
	])();
});
