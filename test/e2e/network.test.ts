import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type LoopbackProvider, startProvider, text, toolCall } from "../helpers/loopback-provider.js";
import { type PiOptions, piProgram } from "../helpers/pi-environment.js";
import { skipLine } from "../helpers/programs.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor, openPi, submit, submitIdle } from "./support.js";

const PRELOAD = `--require=${fileURLToPath(new URL("../helpers/record-sockets.cjs", import.meta.url))}`;
const UNDER_STRACE = fileURLToPath(new URL("../helpers/under-strace.js", import.meta.url));
const HAS_STRACE = spawnSync("strace", ["-f", "--seccomp-bpf", "-o", "/dev/null", "true"]).status === 0;
if (!HAS_STRACE) skipLine("system calls", "strace is missing (package strace) or may not trace");

/** How a mode is started, so that its sockets are recorded. */
type Start = Pick<PiOptions, "agentDir" | "cwd" | "env" | "entry">;

interface Mode {
	/** Whether it sends requests to the provider or to local model servers; the others make no connection. */
	connects: boolean;
	run(provider: LoopbackProvider, start: Start): Promise<void>;
}

/** Scripts a turn with a tool call. */
function replies(provider: LoopbackProvider): void {
	provider.reply([text("Let me see."), toolCall("bash", { command: "echo a tool" })]).reply("The end.");
}

/** A command that queries local model servers. */
const query = (...args: string[]): Mode => ({
	connects: true,
	async run(_, start) {
		expect(await runPi(args, start)).toMatchObject({ code: 0 });
	},
});

/** A command that reads a saved session. `<file>` in its arguments is the path of the session. */
const read = (...args: string[]): Mode => ({
	connects: false,
	async run(provider, start) {
		const { agentDir = "", cwd } = start;
		provider.reply("Saved.");
		expect(await runPi(["-p", "hello"], { agentDir, cwd })).toMatchObject({ code: 0 });
		const sessions = join(agentDir, "sessions");
		const files = readdirSync(sessions, { recursive: true, encoding: "utf8" });
		const file = join(sessions, files.find((name) => name.endsWith(".jsonl")) ?? "");
		const run = await runPi(
			args.map((word) => (word === "<file>" ? file : word)),
			start,
		);
		expect(run).toMatchObject({ code: 0, stderr: "" });
	},
});

/** Sends lines of JSON, each when the output contains the previous answer. */
async function converse(args: string[], start: Start, steps: [line: (output: string) => object, answer: RegExp][]) {
	const pi = spawnPi(args, start);
	for (const [line, answer] of steps) {
		pi.write(`${JSON.stringify(line(pi.stdout()))}\n`);
		await pi.waitFor(({ stdout }) => answer.test(stdout));
	}
	pi.end();
	expect(await pi.exited).toMatchObject({ code: 0 });
}

const MODES: Record<string, Mode> = {
	interactive: {
		connects: true,
		async run(provider, start) {
			replies(provider);
			const pi = await openPi(start);
			await submit(pi, "look around");
			await pi.waitForText("The end.");
			await submitIdle(pi, "/quit");
			expect(await pi.exited).toMatchObject({ code: 0 });
		},
	},
	print: {
		connects: true,
		async run(provider, start) {
			replies(provider);
			expect(await runPi(["-p", "look around"], start)).toMatchObject({ code: 0, stdout: "The end.\n" });
		},
	},
	JSON: {
		connects: true,
		async run(provider, start) {
			replies(provider);
			expect(await runPi(["--mode", "json", "look around"], start)).toMatchObject({ code: 0 });
		},
	},
	RPC: {
		connects: true,
		async run(provider, start) {
			replies(provider);
			await converse(["--mode", "rpc"], start, [
				[() => ({ id: 1, type: "prompt", message: "look around" }), /"type":"agent_end"/],
			]);
		},
	},
	acp: {
		connects: true,
		async run(provider, start) {
			replies(provider);
			const initialize = { protocolVersion: 1, clientCapabilities: {} };
			const call = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });
			await converse(["acp"], start, [
				[() => call(1, "initialize", initialize), /"id":1,/],
				[() => call(2, "session/new", { cwd: start.cwd, mcpServers: [] }), /"id":2,/],
				[
					(output) => {
						const [, sessionId] = /"sessionId":"([^"]+)"/.exec(output) ?? [];
						return call(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "look around" }] });
					},
					/"stopReason":"end_turn"/,
				],
			]);
		},
	},
	"--list-models": query("--list-models"),
	doctor: query("doctor"),
	sessions: read("sessions", "list"),
	usage: read("usage"),
	context: read("context"),
	export: read("--export", "<file>"),
};

test.each(Object.entries(MODES))(
	"%s connects to the provider only, and never listens",
	async (_, { connects, run }) => {
		const provider = await startProvider();
		const { host } = new URL(provider.origin);
		const dir = tempDir();
		const files = { calls: join(dir, "calls"), strace: join(dir, "strace") };
		// pi looks for local model servers on these addresses.
		const servers = { OLLAMA_HOST: host, LMSTUDIO_HOST: host, LLAMACPP_HOST: host, VLLM_HOST: host };
		const env: Record<string, string> = { PI_TEST_SOCKETS: files.calls, ...servers };
		const strace = { PI_TEST_PROGRAM: piProgram(), PI_TEST_STRACE: files.strace, PI_TEST_NODE_OPTIONS: PRELOAD };
		await run(provider, {
			agentDir: agentDirFor(provider),
			cwd: tempDir(),
			...(HAS_STRACE
				? { entry: UNDER_STRACE, env: { ...env, ...strace } }
				: { env: { ...env, NODE_OPTIONS: PRELOAD } }),
		});
		const records = [linesOf(files.calls), ...(HAS_STRACE ? [socketCalls(files.strace)] : [])];
		for (const record of records) {
			const allowed = record.filter((line) => line === `connect ${host}`);
			expect(record.filter((line) => !allowed.includes(line))).toEqual([]);
			expect(allowed.length > 0).toBe(connects);
		}
	},
);

/** Sockets of every kind, without a packet that leaves the machine. */
const SOCKETS = `
	require("node:net").connect(9, "127.0.0.1").on("error", () => {});
	require("node:http").get("http://127.0.0.1:10").on("error", () => {});
	require("node:tls").connect(11, "127.0.0.1").on("error", () => {});
	fetch("http://127.0.0.1:12").catch(() => {});
	new (require("node:worker_threads").Worker)("require('node:net').connect(13, '127.0.0.1').on('error', () => {})", { eval: true });
	require("node:dns").promises.lookup("localhost").catch(() => {});
	const server = require("node:net").createServer().listen(0, "127.0.0.1", () => server.close());
	const socket = require("node:dgram").createSocket("udp4").on("error", () => {});
	socket.send("x", 9, "127.0.0.1", () => socket.close());`;

test("the recorder sees a socket of every kind", async () => {
	const dir = tempDir();
	writeFiles(dir, { "sockets.cjs": SOCKETS });
	const env = { NODE_OPTIONS: PRELOAD, PI_TEST_SOCKETS: join(dir, "calls") };
	expect(await runPi([], { entry: join(dir, "sockets.cjs"), env })).toMatchObject({ code: 0, stderr: "" });
	const ports = [9, 10, 11, 12, 13].map((port) => `connect 127.0.0.1:${port}`);
	const others = ["listen", "lookup localhost", "datagram send"];
	expect(linesOf(env.PI_TEST_SOCKETS)).toEqual(expect.arrayContaining([...ports, ...others]));
});

test.skipIf(!HAS_STRACE)("strace is installed, so that the modes above are checked by system calls too", async () => {
	const dir = tempDir();
	writeFiles(dir, { "sockets.cjs": SOCKETS });
	const env = { PI_TEST_PROGRAM: join(dir, "sockets.cjs"), PI_TEST_STRACE: join(dir, "strace") };
	expect(await runPi([], { entry: UNDER_STRACE, env })).toMatchObject({ code: 0, stderr: "" });
	const ports = [9, 10, 11, 12, 13].map((port) => `connect 127.0.0.1:${port}`);
	expect(socketCalls(env.PI_TEST_STRACE)).toEqual(
		expect.arrayContaining([...ports, "listen", "bind 127.0.0.1:0", "sendmsg 127.0.0.1:9"]),
	);
});

function linesOf(file: string): string[] {
	return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

/** The calls of a trace that open a way to other machines; those to sockets of the kernel and in the file system do not. */
function socketCalls(file: string): string[] {
	const call =
		/^\d+ +(?:(listen)\(|(\w+)\(.*?sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)")/;
	return linesOf(file).flatMap((line) => {
		const [found, listen, name, port, address] = call.exec(line) ?? [];
		return found ? [listen ?? `${name} ${address}:${port}`] : [];
	});
}
