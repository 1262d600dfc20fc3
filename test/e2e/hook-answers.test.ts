import { describe, expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { startPi } from "../helpers/pty.js";
import { runPi } from "../helpers/run-pi.js";
import { agentDirFor, openPi, submit } from "./support.js";

test("a hook that answers with a BigInt is named with its line, and the prompt is still answered", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "echo kept" })]).reply("Done.");
	const source = `export default function (pi) {
	pi.on("tool_result", () => ({ details: 10n }));
}
`;
	const run = await runPi(["-p", "go"], { agentDir: agentDirFor(provider, { hooks: { "big.ts": source } }) });
	expect(run).toMatchObject({ code: 0, stdout: "Done.\n" });
	expect(run.stderr.split("\n")).toEqual([
		"bash echo kept",
		expect.stringMatching(
			/^Hook big\.ts:2:5 failed on tool_result: "details" is a bigint, which JSON cannot represent; the answer was ignored$/,
		),
		"",
	]);
	expect(provider.requests[1]?.messages.at(-1)?.text).toBe("kept");
});

/** How often a text contains another one. */
function count(text: string, part: string): number {
	return text.split(part).length - 1;
}

describe("a failure is shown once", () => {
	const source = `export default function (pi) {
	pi.command("bad", { handler: () => ({ stats: "x" }) });
	pi.command("torn", { handler: () => { throw new Error("torn-command"); } });
	pi.shortcut("alt+5", { description: "bad", handler: () => ({ stats: "x" }) });
	pi.shortcut("alt+6", { description: "torn", handler: () => { throw new Error("torn-shortcut"); } });
}
`;
	const ignored = "the answer was ignored";

	test("of a command's answer in print mode", async () => {
		const agentDir = agentDirFor(await startProvider(), { hooks: { "a.ts": source } });
		const bad = await runPi(["-p", "/bad"], { agentDir });
		expect(bad).toMatchObject({ code: 0, stdout: "" });
		expect(bad.stderr).toMatch(/^Hook a\.ts:2:5 failed on \/bad result: .*unknown "stats"; the answer was ignored\n$/);
		const torn = await runPi(["-p", "/torn"], { agentDir });
		expect({ code: torn.code, count: count(torn.stderr, "torn-command") }).toEqual({ code: 1, count: 1 });
	});

	test("of a context handler in print mode, although it runs before each request", async () => {
		const provider = await startProvider();
		provider.reply([toolCall("ls", {})]).reply("Done.");
		const failing = "export default (pi) => pi.on('context', () => { throw new Error('no context'); });";
		const { stdout, stderr } = await runPi(["-p", "go"], {
			agentDir: agentDirFor(provider, { hooks: { "a.ts": failing } }),
		});
		expect({ stdout, count: count(stderr, "no context") }).toEqual({ stdout: "Done.\n", count: 1 });
	});

	test.each([
		["on the screen", []],
		["in plain mode", ["--plain"]],
	])("of a context handler %s, and again after a reload", async (_, args) => {
		const provider = await startProvider();
		provider
			.reply([toolCall("ls", {})])
			.reply("One.")
			.reply("Two.")
			.reply("Three.");
		const failing = "export default (pi) => pi.on('context', () => { throw new Error('no context'); });";
		const agentDir = agentDirFor(provider, { hooks: { "a.ts": failing } });
		const pi = startPi({ agentDir, args, columns: 100 });
		await pi.waitForText("no context");
		for (const [prompt, reply] of [
			["first", "One."],
			["second", "Two."],
		] as const) {
			await submit(pi, prompt);
			await pi.waitForText(reply);
		}
		expect(count(await pi.scrollback(), "no context")).toBe(1);
		await submit(pi, "/reload");
		await pi.waitForText("1 hook loaded", { scrollback: true });
		await submit(pi, "third");
		await pi.waitForText("Three.");
		expect(count(await pi.scrollback(), "no context")).toBe(2);
	});

	test.each([
		["on the screen", []],
		["in plain mode", ["--plain"]],
	])("of commands %s", async (_, args) => {
		const agentDir = agentDirFor(await startProvider(), { hooks: { "a.ts": source } });
		const pi = args.length > 0 ? startPi({ agentDir, args, columns: 200 }) : await openPi({ agentDir, columns: 200 });
		await pi.waitForText(args.length > 0 ? /^>$/m : "0%");
		await submit(pi, "/bad");
		await pi.waitForText(ignored, { scrollback: true });
		await submit(pi, "/torn");
		await pi.waitForText("torn-command", { scrollback: true });
		if (args.length === 0) {
			await pi.press("alt+5");
			await pi.waitForText("failed on shortcut alt+5 result");
			await pi.press("alt+6");
			await pi.waitForText("torn-shortcut");
			// The line of the command that failed is in the editor.
			await pi.press("ctrl+c");
		}
		// Comes after everything that the commands show.
		await submit(pi, "/session");
		await pi.waitForText(/0 messages|no messages|Messages/i, { scrollback: true });
		const text = await pi.scrollback();
		expect([ignored, "torn-command", "torn-shortcut"].map((part) => count(text, part))).toEqual(
			args.length === 0 ? [2, 1, 1] : [1, 1, 0],
		);
	});
});
