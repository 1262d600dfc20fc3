// The client that the conformance kit of MCP tests: `pi --mode rpc` with a scripted model, which calls each tool of the kit's
// server once. Dialogs are answered with their defaults.
// Usage: conformance client --command "node test/conformance/client.mjs" --scenario NAME
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const url = process.argv.at(-1);
const dir = mkdtempSync(join(tmpdir(), "pi-conformance-"));
/** The calls that a scenario asks for; without them, each tool is called once. */
const asked = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}").toolCalls ?? null;
const called = new Set();

/** The simplest arguments that a schema allows. */
function argumentsFor({ properties = {} }) {
	const values = { number: 2, integer: 2, boolean: true, array: [], object: {} };
	return Object.fromEntries(Object.entries(properties).map(([name, { type }]) => [name, values[type] ?? "text"]));
}

/** The next call of the model; null ends the run. */
function nextCall({ tools = [] }) {
	const search = { name: "mcp_search", arguments: { query: "tool" } };
	const offered = tools.map((tool) => tool.function).filter(({ name }) => name.startsWith("kit_"));
	if (!called.has("mcp_search") && tools.some((tool) => tool.function.name === "mcp_search")) return search;
	if (asked) {
		const call = asked.shift();
		return call ? { name: `kit_${call.name}`, arguments: call.arguments ?? {} } : null;
	}
	const next = offered.find(({ name }) => !called.has(name));
	return next ? { name: next.name, arguments: argumentsFor(next.parameters) } : null;
}

const model = createServer(async (request, response) => {
	let body = "";
	for await (const chunk of request) body += chunk;
	const call = nextCall(JSON.parse(body));
	if (call) called.add(call.name);
	const made = call && { index: 0, id: `call_${called.size}`, type: "function" };
	const delta = call
		? { tool_calls: [{ ...made, function: { name: call.name, arguments: JSON.stringify(call.arguments) } }] }
		: { content: "done" };
	response.writeHead(200, { "content-type": "text/event-stream" });
	for (const choice of [{ delta }, { delta: {}, finish_reason: call ? "tool_calls" : "stop" }]) {
		response.write(`data: ${JSON.stringify({ id: "1", choices: [{ index: 0, ...choice }] })}\n\n`);
	}
	response.end("data: [DONE]\n\n");
});
await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));
const write = (name, content) => writeFileSync(join(dir, name), JSON.stringify(content));
write("mcp.json", { mcpServers: { kit: { url } } });
write("models.json", {
	providers: {
		scripted: {
			baseUrl: `http://127.0.0.1:${model.address().port}/v1`,
			api: "openai-completions",
			apiKey: "none-needed",
			models: [{ id: "scripted", name: "scripted", contextWindow: 100_000, maxTokens: 1000 }],
		},
	},
});

const program = fileURLToPath(new URL("../../bin/pi.cjs", import.meta.url));
const args = [program, "--mode", "rpc", "--no-session", "--model", "scripted/scripted"];
const env = { ...process.env, PI_CODING_AGENT_DIR: dir };
const pi = spawn(process.execPath, args, { cwd: dir, env, stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => pi.stdin.write(`${JSON.stringify(message)}\n`);

/** The answer to a dialog: its default, or the option that continues. */
function answerTo({ method, options = [], initial }) {
	if (method === "input") return initial ?? "";
	const labels = options.map((option) => option.label ?? option);
	const [preset = labels[0]] = [initial].flat().filter((label) => label !== undefined);
	return labels.find((label) => ["Answer", "Send", "Accept", "Continue"].includes(label)) ?? preset;
}

createInterface({ input: pi.stdout }).on("line", (line) => {
	const event = JSON.parse(line);
	if (process.env.PI_CONFORMANCE_VERBOSE) console.error(line.slice(0, 400));
	if (event.type === "hook_ui_request" && event.method !== "notify") {
		send({ type: "hook_ui_response", id: event.id, value: answerTo(event) });
	}
	if (event.type === "agent_end") pi.stdin.end();
});
send({ type: "prompt", message: "go", id: "1" });
const code = await new Promise((resolve) => pi.once("exit", resolve));
model.close();
model.closeAllConnections();
rmSync(dir, { recursive: true, force: true });
process.exitCode = code ?? 1;
