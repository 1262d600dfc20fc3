// The client that the conformance kit of MCP tests: `pi --mode rpc` with a scripted model, which calls each tool of the kit's
// server once. Dialogs are answered with their defaults. A server that needs a login gets it from `/mcp login`, as often as pi asks
// for it: what a user does in a browser is a request here.
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
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
/** The calls that a scenario asks for; without them, each tool is called once. */
const asked = context.toolCalls ?? null;
/** A user gives up then. */
const MAX_LOGINS = 3;
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
	if (!next) return null;
	// This scenario wants to see a schema as the model received it.
	const echoed = next.name === "kit_json_schema_echo" && offered.find(({ name }) => name === "kit_json_schema_2020_12_tool");
	return { name: next.name, arguments: echoed ? { schema: echoed.parameters } : argumentsFor(next.parameters) };
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
const oauth = {
	clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
	...(context.client_id ? { clientId: context.client_id } : {}),
	// biome-ignore lint/suspicious/noTemplateCurlyInString: pi replaces it
	...(context.client_secret ? { clientSecret: "${KIT_SECRET}" } : {}),
};
write("mcp.json", { mcpServers: { kit: { url, oauth } } });
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
const env = { ...process.env, PI_CODING_AGENT_DIR: dir, KIT_SECRET: context.client_secret };
const pi = spawn(process.execPath, args, { cwd: dir, env, stdio: ["pipe", "pipe", "inherit"] });
const send = (message) => pi.stdin.write(`${JSON.stringify(message)}\n`);

/** The answer to a dialog: its default, or the option that continues. */
function answerTo({ method, options = [], initial }) {
	if (method === "input") return initial ?? "";
	const labels = options.map((option) => option.label ?? option);
	const [preset = labels[0]] = [initial].flat().filter((label) => label !== undefined);
	return labels.find((label) => ["Answer", "Send", "Accept", "Continue"].includes(label)) ?? preset;
}

let needsLogin = false;
let isLoggingIn = false;
let logins = 0;

function run() {
	called.clear();
	send({ type: "prompt", message: "go", id: "run" });
}

function afterRun() {
	if (!needsLogin || logins >= MAX_LOGINS) return pi.stdin.end();
	logins++;
	needsLogin = false;
	isLoggingIn = true;
	send({ type: "prompt", message: "/mcp login kit", id: "login" });
}

/** The browser: the authorization servers of the kit ask no questions. */
async function visit(address) {
	const response = await fetch(address);
	if (!response.ok) console.error(`${response.status} for ${response.url}`);
}

createInterface({ input: pi.stdout }).on("line", (line) => {
	const event = JSON.parse(line);
	if (process.env.PI_CONFORMANCE_VERBOSE) console.error(line.slice(0, 400));
	needsLogin ||= line.includes("run /mcp login kit");
	if (event.type === "hook_ui_request" && event.method === "notify") {
		const [address] = /http\S+$/.exec(event.message) ?? [];
		if (isLoggingIn && address) void visit(address);
	} else if (event.type === "hook_ui_request" && !isLoggingIn) {
		send({ type: "hook_ui_response", id: event.id, value: answerTo(event) });
	}
	if (event.type === "agent_end") afterRun();
	if (event.type === "response" && event.id === "login") {
		isLoggingIn = false;
		if (event.success) run();
		else pi.stdin.end();
	}
});
run();
const code = await new Promise((resolve) => pi.once("exit", resolve));
model.close();
model.closeAllConnections();
rmSync(dir, { recursive: true, force: true });
process.exitCode = code ?? 1;
