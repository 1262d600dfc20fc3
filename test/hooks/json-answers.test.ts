import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession } from "../helpers/session.js";
import { hook } from "./support.js";

const errorsOf = ({ events }: TestSession) =>
	events.flatMap((event) =>
		event.type === "hook_error"
			? [`${event.event}: ${basename(event.file ?? "")}:${event.line}:${event.column}: ${event.error}`]
			: [],
	);

describe("an answer that JSON cannot represent is refused by name, and the run continues", () => {
	test.each([
		["a BigInt", "{ details: 10n }", '"details" is a bigint, which JSON cannot represent'],
		["a nested BigInt", "{ details: { size: 10n } }", '"size" is a bigint, which JSON cannot represent'],
		["a function", "{ details: { run() {} } }", '"run" is a function, which JSON cannot represent'],
		["a cycle", "(() => { const a = {}; a.a = a; return { details: a }; })()", "circular structure"],
		["a toJSON that throws", '{ details: { toJSON() { throw new Error("no"); } } }', "no"],
		["a field of content", '{ content: [{ type: "text", text: "x", size: 10n }] }', '"size" is a bigint'],
	])("tool_result: %s", async (_, answer, reason) => {
		const started = await startSession({
			hooks: { "big.ts": hook(`pi.on("tool_result", () => (${answer}));`) },
		});
		started.provider.reply([toolCall("bash", { command: "echo kept" })], "done");
		expect(await started.session.prompt("go")).toMatchObject({ outcome: { last: { stopReason: "stop" } } });
		expect(started.sent(2).at(-1)).toBe("tool: kept");
		const [error = "", ...others] = errorsOf(started);
		expect(others).toEqual([]);
		expect(error).toMatch(/^tool_result: big\.ts:2:4: /);
		expect(error).toContain(reason);
		expect(error).toMatch(/; the answer was ignored$/);
	});

	test("context: a frozen message with a BigInt", async () => {
		const started = await startSession({
			hooks: {
				"big.ts": hook(`pi.on("context", ({ messages }) => ({
					messages: [Object.freeze({ role: "user", content: "extra", size: 10n }), ...messages],
				}));`),
			},
		});
		started.provider.reply("done");
		await started.session.prompt("go");
		expect(started.sent(1)).toEqual(["user: go"]);
		expect(errorsOf(started)[0]).toMatch(/^context: big\.ts:2:4: message 0 is malformed: .*; its answer was dropped$/);
	});

	test("saveEntry: the hook gets an error with file and line", async () => {
		const started = await startSession({
			hooks: { "big.ts": hook('pi.on("agent_start", (_, ctx) => ctx.saveEntry({ type: "x", size: 10n }));') },
		});
		started.provider.reply("done");
		await started.session.prompt("go");
		expect(errorsOf(started)).toEqual([
			expect.stringMatching(
				/^agent_start: big\.ts:2:\d+: saveEntry of \S+\/big\.ts:2:\d+: "size" is a bigint, which JSON cannot represent/,
			),
		]);
		expect(started.session.entries.map(({ type }) => type)).toEqual(["session", "message", "message"]);
	});

	test.each([
		[
			"a command",
			'pi.command("x", { handler: () => ({ prompt: "p", attachments: [{ type: "image", content: 10n }] }) });',
		],
		["pi.send", 'pi.command("x", { handler: () => pi.send("p", [null]) });'],
	])("attachments of %s", async (_, source) => {
		const started = await startSession({ hooks: { "big.ts": hook(source) } });
		await expect(started.session.prompt("/x")).rejects.toThrow(
			/^Hook big\.ts:2:\d+ failed on \/x: attachment 0 is not/,
		);
		expect(started.session.entries).toHaveLength(1);
	});

	test("a tool's result", async () => {
		const tool = `export default { name: "big", description: "d", parameters: { type: "object", properties: {} },
			run: async () => ({ content: [{ type: "text", text: "x", size: 10n }] }) };`;
		const started = await startSession({ files: { "big.ts": tool } });
		const { agentDir, cwd, provider } = started;
		const next = await startSession({ agentDir, cwd, provider, customTools: [`${cwd}/big.ts`] });
		provider.reply([toolCall("big", {})], "done");
		await next.session.prompt("go");
		expect(next.sent(2).at(-1)).toContain('The tool "big" did not return');
	});
});

describe("a handler that rejects after its timeout", () => {
	const late = (thrown: string) =>
		hook(
			`pi.on("agent_start", (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => setImmediate(() => reject(${thrown})))));`,
		);

	test("is reported once, with the error", async () => {
		const started = await startSession({
			userSettings: { hookTimeout: 50 },
			hooks: { "late.ts": late('new Error("too late")') },
		});
		started.provider.reply("done");
		await started.session.prompt("go");
		await expect.poll(() => errorsOf(started)).toHaveLength(2);
		expect(errorsOf(started)).toEqual([
			"agent_start: late.ts:2:4: timed out after 50 ms",
			"agent_start: late.ts:2:133: failed after its timeout: too late",
		]);
	});

	test("is not reported again when it only reports that it was aborted", async () => {
		const started = await startSession({
			userSettings: { hookTimeout: 50 },
			hooks: {
				"late.ts": hook(
					'pi.on("agent_start", (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))));',
				),
			},
		});
		started.provider.reply("done");
		await started.session.prompt("go");
		await new Promise((resolve) => setImmediate(resolve));
		expect(errorsOf(started)).toEqual(["agent_start: late.ts:2:4: timed out after 50 ms"]);
	});
});
