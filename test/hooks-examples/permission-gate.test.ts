import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession } from "../helpers/session.js";
import { example } from "./example.js";

const HOOK = example("permission-gate.ts");

/** Runs one bash command of the model. @returns the questions, and the tool result */
async function runCommand(command: string, answer: boolean | null) {
	const asked: string[] = [];
	const confirm = async (_: string, message: string) => {
		asked.push(message.replace(/^bash: /, ""));
		return answer === true;
	};
	const test = await startSession({ hookFiles: [HOOK], ...(answer === null ? {} : { ui: { confirm } }) });
	test.provider.reply([toolCall("bash", { command })], "ok");
	await test.session.prompt("go");
	const result = test.provider.requests[1]?.messages.at(-1)?.text ?? "";
	return { asked, result, ran: (name: string) => existsSync(join(test.cwd, name)) };
}

test.each(["ls", "ls -la src", "  pwd", "cat 'a file.txt'", "echo hello", "head -n 5 a.txt"])(
	"lets %j run without a question",
	async (command) => {
		const { asked, result } = await runCommand(command, false);
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
	const { asked, result, ran } = await runCommand(command, false);
	expect(asked).toEqual([command]);
	expect(result).toContain("The user refused this call when hook permission-gate asked: Run this command?");
	expect(ran("made")).toBe(false);
});

test("a command runs after a yes", async () => {
	const { asked, ran } = await runCommand("echo hi > made", true);
	expect(asked).toEqual(["echo hi > made"]);
	expect(ran("made")).toBe(true);
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
		hookFiles: [HOOK],
		ui: {
			confirm: (_, __, dialog) =>
				new Promise((resolve) => {
					dialog?.signal?.addEventListener("abort", () => resolve(false));
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
	const asked: string[] = [];
	const test = await startSession({
		hookFiles: [HOOK],
		ui: {
			confirm: async (_, message) => {
				asked.push(message.replace(/^bash: /, ""));
				return false;
			},
		},
	});
	const around = fc.string({ maxLength: 12 }).map((text) => text.replaceAll("\0", ""));
	const commands = fc.sample(fc.tuple(around, fc.constantFrom(..."; & | < > $ ` \n ( )".split(" ")), around), {
		numRuns: 50,
		seed: 7,
	});
	const texts = commands.map(([before, special, after]) => `ls ${before}${special}${after}`);
	test.provider.reply(
		texts.map((command) => toolCall("bash", { command })),
		"ok",
	);
	await test.session.prompt("go");
	expect(asked).toEqual(texts);
});
