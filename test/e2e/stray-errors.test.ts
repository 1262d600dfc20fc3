import { describe, expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { runPi } from "../helpers/run-pi.js";
import { tempAgentDir } from "../helpers/temp.js";

/** Runs the built program in print mode with a hook. The model answers after the callbacks that the hook has scheduled. */
async function runWithHook(source: string) {
	const provider = await startProvider();
	provider.on(async () => {
		await new Promise((resolve) => setTimeout(resolve, 150));
		return "the answer";
	});
	const agentDir = tempAgentDir({ models: provider.modelsJson(), hooks: { "careless.ts": source } });
	return runPi(["--model", "loopback/scripted", "--no-session", "-p", "hi"], { agentDir });
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
		const { code, stdout, stderr } = await runWithHook(`export default async (pi) => {\n${body}\n};`);
		expect({ code, stdout }).toEqual({ code: 0, stdout: "the answer\n" });
		expect(stderr).toMatch(expected);
	});

	test("a hook's output does not mix with the answer", async () => {
		const { stdout, stderr } = await runWithHook(
			"export default () => { console.log('chatter'); console.error({ a: 1 }); };",
		);
		expect(stdout).toBe("the answer\n");
		expect(stderr).toContain("chatter");
	});
});
