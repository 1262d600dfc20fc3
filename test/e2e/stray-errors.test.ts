import { describe, expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { agentDirFor } from "./support.js";

/** Runs the built program in print mode with a hook. The model answers once the program has said something on stderr. */
async function runWithHook(source: string, said: RegExp) {
	const provider = await startProvider();
	const agentDir = tempAgentDir({ models: provider.modelsJson(), hooks: { "careless.ts": source } });
	const pi = spawnPi(["--model", "loopback/scripted", "--no-session", "-p", "hi"], { agentDir });
	provider.on(async () => {
		await pi.waitFor(({ stderr }) => said.test(stderr));
		return "the answer";
	});
	pi.end();
	return pi.exited;
}

describe("a hook's error outside a handler", () => {
	test.each([
		[
			"a timer that throws",
			"setTimeout(() => { throw new Error('late'); }, 20);",
			/careless\.ts:2:26 failed on a timer or promise: late/,
		],
		[
			"an unhandled rejection",
			"Promise.reject(new Error('late'));",
			/careless\.ts:2:16 failed on a timer or promise: late/,
		],
		[
			"an error event whose stack does not name the hook",
			"(await import('node:net')).connect(1, '127.0.0.1');",
			/careless\.ts failed on a timer or promise: .*ECONNREFUSED/,
		],
		[
			"a request that nothing waits for",
			"void fetch('http://127.0.0.1:1/');",
			/careless\.ts:2:6 failed on a timer or promise: fetch failed/,
		],
		[
			"a call of the context object that nothing waits for",
			"pi.on('session', (event, ctx) => { void ctx.compact(); });",
			/careless\.ts:2:45 failed on a timer or promise: The session is being switched/,
		],
	])("%s is reported with the hook's path, and the run continues", async (_, body, expected) => {
		const { code, stdout, stderr } = await runWithHook(`export default async (pi) => {\n${body}\n};`, expected);
		expect({ code, stdout }).toEqual({ code: 0, stdout: "the answer\n" });
		expect(stderr).toMatch(expected);
	});

	test("a hook's output does not mix with the answer", async () => {
		const { stdout, stderr } = await runWithHook(
			"export default () => { console.log('chatter'); console.error({ a: 1 }); };",
			/chatter/,
		);
		expect(stdout).toBe("the answer\n");
		expect(stderr).toContain("chatter");
	});
});

/** A hook that runs code in its `shutdown` handler, in line 2. */
const atEnd = (code: string) =>
	`export default (pi) => pi.on('session', ({ reason }) => { if (reason !== 'shutdown') return;\n${code}\n});`;

describe("a hook's error at the end of the program", () => {
	test.each([
		["a rejection during the shutdown", "Promise.reject(new Error('late'));", "a timer or promise"],
		["a timer that outlives the session", "setTimeout(() => { throw new Error('late'); }, 60);", "a timer or promise"],
		["a shutdown handler that throws", "throw new Error('late');", "session"],
	])("%s is one line on stderr, with --mode json also an event, or an event of RPC mode", async (_, body, where) => {
		const provider = await startProvider();
		provider.on(async () => "the answer");
		const agentDir = tempAgentDir({ models: provider.modelsJson(), hooks: { "careless.ts": atEnd(body) } });
		const common = ["--model", "loopback/scripted", "--no-session"];
		const line = expect.stringMatching(new RegExp(`careless\\.ts:2:\\d+ failed on ${where}: late$`));
		for (const args of [
			["-p", "hi"],
			["-p", "--mode", "json", "hi"],
			["--mode", "rpc"],
		]) {
			const { code, stdout, stderr } = await runPi([...common, ...args], { agentDir });
			const events = stdout.split("\n").filter((text) => text.includes('"error":"late"'));
			const lines = stderr.split("\n").filter((text) => text !== "");
			const isJson = args.includes("json");
			const reports = [...events, ...lines];
			expect({ args, code, reports }).toEqual({ args, code: 0, reports: isJson ? [events[0], line] : [reports[0]] });
			if (lines.length > 0 || !args.includes("rpc")) expect(lines).toEqual([line]);
			if (isJson) expect(events).toHaveLength(1);
			if (args[1] === "hi") expect(stdout).toBe("the answer\n");
		}
	});

	test("a rejection in a factory is a problem for pi hooks check", async () => {
		const cwd = tempDir();
		writeFiles(cwd, { "hook.ts": "export default (pi) => {\nPromise.reject(new Error('late'));\n};" });
		const { code, stderr, stdout } = await runPi(["hooks", "check", "hook.ts"], { cwd });
		expect(stderr).toMatch(/^Hook hook\.ts:2:\d+ failed on a timer or promise: late\n$/);
		expect(stdout).toContain("loads, but has 1 problem");
		expect(code).toBe(1);
	});

	test.each([
		[
			"that --run starts",
			"pi.command('late', { handler() { Promise.reject(new Error('late')); return { status: 'ok' }; } });",
		],
		["in its factory", "Promise.reject(new Error('late')); pi.command('late', { handler() {} });"],
	])("a rejection %s is a failure of pi hooks test", async (_, body) => {
		const cwd = tempDir();
		writeFiles(cwd, { "hook.ts": `export default (pi) => {\n${body}\n};` });
		const { code, stderr, stdout } = await runPi(["hooks", "test", "hook.ts", "--run", "/late"], { cwd });
		expect(stderr).toMatch(/^Hook hook\.ts:2:\d+ failed on a timer or promise: late\n$/);
		expect(stdout).toContain("1 failure");
		expect(code).toBe(1);
	});
});

describe("a hook's error at the end of a terminal mode", () => {
	test.each([
		[
			"a shutdown handler that throws",
			[],
			"throw new Error('late');",
			/✗ Hook careless\.ts:2:7 failed on session: late$/m,
		],
		[
			"a rejection during the shutdown",
			[],
			"Promise.reject(new Error('late'));",
			/✗ Hook careless\.ts:2:16 failed on a timer or promise: late$/m,
		],
		[
			"a shutdown handler that throws in plain mode",
			["--plain"],
			"throw new Error('late');",
			/Hook careless\.ts:2:7 failed on session: late$/m,
		],
	])("%s is a line below the screen, once", async (_, args, body, expected) => {
		const agentDir = agentDirFor(await startProvider(), { hooks: { "careless.ts": atEnd(body) } });
		const pi = startPi({ agentDir, args });
		await pi.waitForText(/1 hook/);
		await pi.press("ctrl+d");
		await pi.exited;
		const text = await pi.screen();
		expect(text).toMatch(expected);
		expect(text.match(/late/g)).toHaveLength(1);
	});
});
