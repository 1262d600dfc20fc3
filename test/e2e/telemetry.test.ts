import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { RpcClient } from "../../src/modes/rpc/client.js";
import { httpError, type LoopbackProvider, startProvider, toolCall } from "../helpers/loopback-provider.js";
import { piPlace, piProgram } from "../helpers/pi-environment.js";
import { listen } from "../helpers/proxy.js";
import { runPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { startCollector } from "../helpers/trace-collector.js";
import { agentDirFor } from "./support.js";

const ON = { settings: { telemetry: { otel: true } } };
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = "b7ad6b7169203331";

function agentDir(provider: LoopbackProvider, settings: object = ON.settings): string {
	return agentDirFor(provider, { settings });
}

test("pi -p exports its run, its requests and its calls, and nothing of their contents", async () => {
	const [provider, collector] = [await startProvider(), await startCollector()];
	provider.reply([toolCall("bash", { command: "echo secret-argument; exit 3" }, "call_a")], "The secret answer.");
	const env = {
		OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.origin}/`,
		OTEL_EXPORTER_OTLP_HEADERS: "x-team=red",
		OTEL_RESOURCE_ATTRIBUTES: "service.name=nightly",
		TRACEPARENT: `00-${TRACE}-${PARENT}-01`,
	};
	const run = await runPi(["-p", "a secret prompt"], { agentDir: agentDir(provider), env });
	expect(run).toMatchObject({ code: 0, stdout: "The secret answer.\n" });
	expect(collector.requests.map(({ path, headers }) => [path, headers["x-team"]])).toEqual([["/v1/traces", "red"]]);
	expect(collector.requests[0]?.body).not.toContain("secret");
	expect(collector.resource()).toMatchObject({ "service.name": "nightly" });
	const spans = collector.spans();
	const [agent] = spans.filter(({ name }) => name.startsWith("invoke_agent"));
	const id = agent?.attributes["gen_ai.conversation.id"];
	const model = { "gen_ai.provider.name": "loopback", "gen_ai.request.model": "scripted" };
	const ofAll = { traceId: TRACE, start: expect.any(BigInt), end: expect.any(BigInt), spanId: expect.any(String) };
	const chat = {
		...ofAll,
		name: "chat scripted",
		parentSpanId: agent?.spanId,
		isError: false,
		attributes: {
			"gen_ai.operation.name": "chat",
			"gen_ai.conversation.id": id,
			...model,
			"gen_ai.response.model": "scripted",
			"gen_ai.usage.input_tokens": 10,
			"gen_ai.usage.output_tokens": 5,
		},
	};
	expect(spans.sort((a, b) => Number(a.end - b.end))).toEqual([
		chat,
		{
			...ofAll,
			name: "execute_tool bash",
			parentSpanId: agent?.spanId,
			isError: true,
			attributes: {
				"gen_ai.operation.name": "execute_tool",
				"gen_ai.conversation.id": id,
				"gen_ai.tool.name": "bash",
				"gen_ai.tool.call.id": "call_a",
				"error.type": "tool_error",
			},
		},
		chat,
		{
			...ofAll,
			name: "invoke_agent pi",
			parentSpanId: PARENT,
			isError: false,
			attributes: {
				"gen_ai.operation.name": "invoke_agent",
				"gen_ai.conversation.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
				"gen_ai.agent.name": "pi",
				...model,
			},
		},
	]);
});

test("a failed request has the kind of its failure", async () => {
	const [provider, collector] = [await startProvider(), await startCollector()];
	provider.reply(httpError(401, {}, "bad secret"));
	const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.origin}/own/path` };
	expect(await runPi(["-p", "go"], { agentDir: agentDir(provider), env })).toMatchObject({ code: 1 });
	expect(collector.requests.map(({ path }) => path)).toEqual(["/own/path"]);
	expect(collector.requests[0]?.body).not.toContain("secret");
	expect(collector.spans().map(({ name, isError, attributes }) => [name, isError, attributes["error.type"]])).toEqual([
		["chat scripted", true, "unauthorized"],
		["invoke_agent pi", true, "unauthorized"],
	]);
});

test("RPC mode exports each run of its sessions", async () => {
	const [provider, collector] = [await startProvider(), await startCollector()];
	provider.reply("One.", "Two.");
	const { env, cwd } = piPlace({
		agentDir: agentDir(provider),
		env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin },
	});
	const args = ["--model", "loopback/scripted", "--offline", "--no-session"];
	const client = RpcClient.spawn({ entry: piProgram(), args, cwd, env, onStderr: () => {} });
	onTestFinished(() => client.close());
	for (const message of ["one", "two"]) {
		const end = client.nextEvent(({ type }) => type === "agent_end");
		await client.call("prompt", { message });
		await end;
	}
	await client.close();
	const names = collector.spans().map(({ name }) => name);
	expect(names).toEqual(["chat scripted", "invoke_agent pi", "chat scripted", "invoke_agent pi"]);
});

test.each([
	["refuses connections", "refused"],
	["never answers", "silent"],
	["refuses the spans", "400"],
] as const)("an endpoint that %s costs a line on stderr, and not the answer", async (_, kind) => {
	const provider = await startProvider();
	provider.reply("Fine.");
	const silent = createServer(() => {});
	onTestFinished(() => void silent.close());
	const origin =
		kind === "400"
			? (await startCollector(400)).origin
			: `http://127.0.0.1:${kind === "silent" ? await listen(silent) : 9}`;
	const env = { OTEL_EXPORTER_OTLP_ENDPOINT: origin };
	const run = await runPi(["-p", "go"], { agentDir: agentDir(provider), env });
	expect(run).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(run.stderr).toMatch(/^Traces cannot be sent to 127\.0\.0\.1:\d+: [^\n]+\n$/);
});

test.each([
	["the setting", {}, true],
	["the variable", ON.settings, false],
])("without %s, no library is loaded and nothing is sent", async (_, settings, hasVariable) => {
	const [provider, collector] = [await startProvider(), await startCollector()];
	provider.reply("Fine.");
	const [cwd, loaded] = [tempDir(), join(tempDir(), "loaded.txt")];
	// A project cannot turn it on.
	writeFiles(cwd, { ".pi/settings.json": ON.settings });
	const preload = join(tempDir(), "loads.cjs");
	writeFiles(join(preload, ".."), {
		"loads.cjs": `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(loaded)}, Object.keys(require.cache).join("\\n")));`,
	});
	const env = {
		NODE_OPTIONS: `--require ${preload}`,
		...(hasVariable && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.origin }),
	};
	const run = await runPi(["-p", "go"], { agentDir: agentDir(provider, settings), cwd, env });
	expect(run).toMatchObject({ code: 0, stdout: "Fine.\n" });
	expect(collector.requests).toEqual([]);
	const files = readFileSync(loaded, "utf8").split("\n");
	expect(files.some((file) => /headless/.test(file))).toBe(true);
	expect(files.filter((file) => /run-spans|opentelemetry/.test(file))).toEqual([]);
});
