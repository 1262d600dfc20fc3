// An MCP server over stdin and stdout for tests, written without a library. The first argument selects how it behaves.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [mode = "normal", ...rest] = process.argv.slice(2);
if (process.env.STARTS_FILE) appendFileSync(process.env.STARTS_FILE, `${process.pid}\n`);
if (mode === "dies") {
	console.error("cannot find the database\x1b]0;title\x07");
	process.exit(3);
}
if (mode === "stays") {
	// Ignores everything but KILL, and so does its child, which holds no pipe.
	for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => {});
	const script = "trap '' TERM HUP INT; echo $$ > grandchild; while :; do sleep 0.1; done";
	spawn("sh", ["-c", script], { stdio: "ignore" });
	writeFileSync("child", `${process.pid}`);
	setInterval(() => {}, 1000);
}

const schema = (properties = {}, required = []) => ({ type: "object", properties, required });
const tool = (name, more = {}) => ({ name, description: `The tool ${name}`, inputSchema: schema(), ...more });
const TOOLS = {
	normal: () => [
		tool("big"),
		tool("bigfirst"),
		tool("ansi"),
		tool("crash"),
		tool("env"),
		tool("long"),
		tool("slow"),
		tool("burst"),
		tool("add.two", { inputSchema: schema({ a: { type: "number" }, b: { type: "number" } }, ["a", "b"]) }),
		tool("ask"),
	],
	floods: () => [tool("flood"), tool("add.two")],
	malformed: () => [
		tool("answer", { outputSchema: 7, annotations: "none" }),
		{ name: "unschemed", description: "d" },
		{ description: "d", inputSchema: schema() },
		"text",
		tool("numbered", { description: 7 }),
		tool("listed", { inputSchema: [] }),
		tool("titled\x1b[31m", { title: {} }),
		tool("answer-again"),
	],
	many: () => Array.from({ length: Number(rest[0] ?? 500) }, (_, at) => tool(`tool-${at}`, { description: `Number ${at} ${"x".repeat(1000)}` })),
	odd: () => [
		tool("a.b"),
		tool("a!b"),
		tool("x".repeat(100)),
		tool("list", { inputSchema: { type: "object", properties: { x: { type: "string", pattern: "^(a+)+$" } }, $schema: "http://x/y" } }),
		tool("huge", { description: "h".repeat(100_000) }),
		tool("fine", { description: "fine \x1b[31mred\x1b]0;t\x07", annotations: { readOnlyHint: true } }),
	],
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const answer = (id, text, more = {}) => send({ id, result: { content: [{ type: "text", text }], ...more } });

async function call(id, { name, arguments: args = {}, _meta }) {
	switch (name) {
		case "big":
			return void process.stdout.write(`{"result":{"content":[{"type":"text","text":"${"b".repeat(11 * 1024 * 1024)}"}]},"jsonrpc":"2.0","id":${id}}\n`);
		case "bigfirst":
			return answer(id, "b".repeat(11 * 1024 * 1024));
		case "ansi":
			return answer(id, "\x1b]52;c;aGk=\x07red \x1b[31mtext\x1b[0m\x00\u202eend");
		case "crash":
			console.error(`about to crash, the token is ${process.env.API_TOKEN}`);
			return void process.exit(7);
		case "env":
			return answer(id, Object.keys(process.env).sort().join(" "));
		case "long":
			return answer(id, Array.from({ length: 5000 }, (_, at) => `line ${at}`).join("\n"));
		case "flood": {
			// The answer comes before what is printed is read.
			answer(id, "flooded");
			const line = `flood \x1b]0;title\x07${"f".repeat(1000)}\n`;
			for (let size = 0; size < Number(rest[0]) * 1024 * 1024; size += line.length) process.stderr.write(line);
			return void process.stderr.write("the flood is over\n");
		}
		case "burst": {
			// In one write, as a server that has little to do.
			const note = (step) => ({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: _meta?.progressToken, progress: step, total: 3 } });
			const result = { content: [{ type: "text", text: "burst" }] };
			return void process.stdout.write([note(1), note(2), note(3), { jsonrpc: "2.0", id, result }].map((message) => `${JSON.stringify(message)}\n`).join(""));
		}
		case "slow":
			// Slower than its timeoutMs, which each step extends.
			for (let step = 1; step <= 8; step++) {
				await new Promise((resolve) => setTimeout(resolve, 300));
				const params = { progressToken: _meta?.progressToken, progress: step, total: 8, message: `step ${step}` };
				send({ method: "notifications/progress", params });
			}
			return answer(id, "slow but done");
		case "add.two":
			return answer(id, String(args.a + args.b));
		case "ask":
			pending = id;
			return send({ id: "s1", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
		case "answer":
			return send({ id, result: JSON.parse(args.result), ...(args.error && { error: { code: -32000, message: args.error } }) });
		default:
			return answer(id, `called ${name}`);
	}
}

let pending = null;
console.error("started");
process.stdout.write("this is not JSON\n\n");
createInterface({ input: process.stdin }).on("line", (line) => {
	const { id, method, params, error } = JSON.parse(line);
	if (id === "s1" && error) return answer(pending, `refused: ${error.message}`);
	if (mode === "hangs") return undefined;
	if (mode === "late" && !existsSync("go") && method === "initialize") {
		const timer = setInterval(() => {
			if (!existsSync("go")) return;
			clearInterval(timer);
			initialize(id, params);
		}, 20);
		return undefined;
	}
	if (method === "initialize") return initialize(id, params);
	if (method === "tools/list") return send({ id, result: { tools: (TOOLS[mode] ?? TOOLS.normal)() } });
	if (method === "tools/call") return void call(id, params);
	if (method === "prompts/list") return send({ id, result: { prompts: [{ description: "without a name" }] } });
	if (id !== undefined) send({ id, error: { code: -32601, message: "not here" } });
	return undefined;
});

function initialize(id, { protocolVersion }) {
	const serverInfo = { name: "hostile", version: "1" };
	const capabilities = { tools: {}, ...(mode === "malformed" && { prompts: {} }) };
	send({ id, result: { protocolVersion, capabilities, serverInfo } });
	if (mode === "exits") setTimeout(() => process.exit(5), 50);
}
