import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { type GuardedOptions, startGuarded } from "./guarded.js";

/** Runs one bash command of the model. @returns the questions, and the tool result */
async function runCommand(command: string, answers: GuardedOptions["answers"]) {
	const { bash, asked, cwd } = await startGuarded({ presets: ["permission-gate"], answers });
	const result = await bash(command);
	return { asked: asked.map(({ text }) => text), result, ran: (name: string) => existsSync(join(cwd, name)) };
}

test.each(["ls", "ls -la src", "  pwd", "cat 'a file.txt'", "echo hello", "head -n 5 a.txt"])(
	"lets %j run without a question",
	async (command) => {
		const { asked, result } = await runCommand(command, []);
		expect(asked).toEqual([]);
		expect(result).not.toContain("refused");
	},
);

test.each([
	"touch made",
	"ls; touch made",
	"ls && touch made",
	"ls & touch made",
	"true | touch made",
	"ls > made",
	"echo `touch made`",
	"echo $(touch made)",
	'echo "$(touch made)"',
	"echo\ntouch made",
	"(touch made)",
	"cat <(touch made)",
	"A=1 touch made",
	"git status",
	"/bin/touch made",
	"ls\\\n; touch made",
])("does not run %j without a yes", async (command) => {
	const { asked, result, ran } = await runCommand(command, []);
	expect(asked).toEqual([`bash: ${command}`]);
	expect(result).toContain("The user refused this call when hook permission-gate asked: Run this command?");
	expect(ran("made")).toBe(false);
});

test("a command runs after a yes, and other tools run without a question", async () => {
	const { asked, ran } = await runCommand("echo hi > made", ["once"]);
	expect(asked).toEqual(["bash: echo hi > made"]);
	expect(ran("made")).toBe(true);
	const { call, asked: others, cwd } = await startGuarded({ presets: ["permission-gate"] });
	expect(await call("write", { path: "made", content: "x" })).toContain("Created");
	expect(others).toEqual([]);
	expect(existsSync(join(cwd, "made"))).toBe(true);
});

test("without a screen the command is blocked and the model receives the reason", async () => {
	const { result, ran } = await runCommand("touch made", null);
	expect(result).toContain("asks the user before this call, and nobody can answer");
	expect(ran("made")).toBe(false);
});

test("an abort while the question is open blocks the command", async () => {
	let opened = () => {};
	const open = new Promise<void>((resolve) => {
		opened = resolve;
	});
	const test = await startSession({
		hookFiles: ["pi:permission-gate"],
		ui: {
			approve: (_, dialog) =>
				new Promise((resolve) => {
					dialog?.signal?.addEventListener("abort", () => resolve({ allowed: false }));
					opened();
				}),
		},
	});
	test.provider.reply([toolCall("bash", { command: "touch made" })]);
	const run = test.session.prompt("go");
	await open;
	await test.session.abort();
	await run;
	expect(existsSync(join(test.cwd, "made"))).toBe(false);
});

test("any character that could start a second command causes a question, whatever surrounds it", async () => {
	const { calls, asked } = await startGuarded({ presets: ["permission-gate"] });
	const around = fc.string({ maxLength: 12 }).map((text) => text.replaceAll("\0", ""));
	const commands = fc.sample(fc.tuple(around, fc.constantFrom(..."; & | < > $ ` \n ( )".split(" ")), around), {
		numRuns: 50,
		seed: 7,
	});
	const texts = commands.map(([before, special, after]) => `ls ${before}${special}${after}`);
	await calls(...texts.map((command): [string, Record<string, unknown>] => ["bash", { command }]));
	expect(asked.map(({ text }) => text)).toEqual(texts.map((text) => `bash: ${text}`));
});
