import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider } from "../helpers/loopback-provider.js";
import { type PiTerminal, startPi } from "../helpers/pty.js";
import { agentDirFor, answer, answerLine, openPi, submit, submitIdle } from "./support.js";

/** A command that leaves pi, as hooks do. */
const LEAVING = `export default (pi) => pi.command("bye", { handler: (ctx) => void ctx.quit() });`;

/** What is not saved in a terminal of any width: lines of a dialog are wrapped. */
const LOSS = /This session is not saved and would be lost/;

/** Puts a file in the way of the session's directory, because no permission stops the superuser. @returns a function that removes it */
function obstruct(agentDir: string): () => void {
	const sessions = join(agentDir, "sessions");
	if (existsSync(sessions)) renameSync(sessions, `${sessions}.away`);
	writeFileSync(sessions, "in the way");
	return () => renameSync(sessions, join(agentDir, "moved"));
}

/** A pi whose session cannot be saved, after its first turn. */
async function openUnsaved(columns: number) {
	const provider = await startProvider();
	provider.reply("One.");
	const agentDir = agentDirFor(provider, { hooks: { "leaving.ts": LEAVING } });
	const free = obstruct(agentDir);
	const pi = await openPi({ agentDir, columns, rows: 30 });
	await submit(pi, "first");
	await pi.waitForText("One.");
	await pi.waitForGone("esc stops");
	return { pi, provider, agentDir, free };
}

const ends: [string, (pi: PiTerminal) => unknown][] = [
	["Ctrl+D", (pi) => pi.press("ctrl+d")],
	["/quit", (pi) => submit(pi, "/quit")],
	[
		"Ctrl+C twice",
		async (pi) => {
			await pi.press("ctrl+c");
			await pi.waitForText("again to quit");
			await pi.press("ctrl+c");
		},
	],
	["a hook", (pi) => submit(pi, "/bye")],
];

test.each(ends)("%s asks before entries are lost that cannot be saved, and the exit code says so", async (_, end) => {
	const { pi } = await openUnsaved(80);
	await end(pi);
	const question = await pi.waitForText("Quit pi?");
	expect(question).toMatch(LOSS);
	expect(question).toContain("/export <file>");
	await pi.press("escape");
	await pi.waitForGone("Quit pi?");
	await end(pi);
	await pi.waitForText("Quit pi?");
	await answer(pi, "y");
	expect(await pi.exited).toEqual({ code: 1, signal: 0 });
	expect((await pi.scrollback()).replace(/\s+/g, " ")).toContain("This session was not saved: ");
});

test.each([20, 40, 80, 120])(
	"the footer says that entries are not saved until they are, %i columns wide",
	async (columns) => {
		const { pi, provider, agentDir, free } = await openUnsaved(columns);
		expect(await pi.waitForText(/ not saved|^not saved/m)).not.toContain("saved again");
		free();
		provider.reply("Two.");
		await submit(pi, "second");
		await pi.waitForText("Two.");
		await pi.waitForGone(/ not saved|^not saved/m);
		expect((await pi.scrollback()).replace(/\s+/g, " ")).toContain("The session is saved again");
		await pi.waitForGone("esc stops");
		await pi.press("ctrl+d");
		expect(await pi.exited).toEqual({ code: 0, signal: 0 });
		expect(savedText(agentDir)).toContain("One.");
	},
);

test("what was lost for lack of space is saved when the user quits after there is space again", async () => {
	const { pi, agentDir, free } = await openUnsaved(80);
	await pi.press("ctrl+d");
	await pi.waitForText("Quit pi?");
	await pi.press("escape");
	await pi.waitForGone("Quit pi?");
	free();
	await pi.press("ctrl+d");
	expect(await pi.exited).toEqual({ code: 0, signal: 0 });
	expect(savedText(agentDir)).toContain("One.");
});

test("/new asks, too, before it leaves a session that is not saved", async () => {
	const { pi } = await openUnsaved(80);
	await submitIdle(pi, "/new");
	expect(await pi.waitForText("Start a new session?")).toMatch(LOSS);
	await answer(pi, "n");
	await pi.waitForGone("Start a new session?");
	expect(await pi.screen()).toContain("One.");
});

test("a signal asks nothing", async () => {
	const { pi } = await openUnsaved(80);
	pi.kill("SIGTERM");
	expect(await pi.exited).toEqual({ code: 143, signal: 0 });
});

test.each<[string, (pi: PiTerminal) => unknown]>([
	["Ctrl+D", (pi) => pi.press("ctrl+d")],
	["/quit", (pi) => submit(pi, "/quit")],
])("plain mode asks after %s, and goes on", async (_, end) => {
	const provider = await startProvider();
	provider.reply("One.", "Two.");
	const agentDir = agentDirFor(provider);
	const free = obstruct(agentDir);
	const pi = startPi({ agentDir, args: ["--plain"], columns: 160 });
	await pi.waitForText(/^>$/m);
	await submit(pi, "first");
	await pi.waitForText(/tokens\)\n>$/);
	await end(pi);
	expect(await pi.waitForText("yes or no, empty is no:")).toMatch(LOSS);
	await answerLine(pi, "n");
	await pi.waitForText(/empty is no: n\n>$/);
	await submit(pi, "second");
	await pi.waitForText("pi: Two.");
	await pi.waitForText(/tokens\)\n>$/);
	await end(pi);
	await pi.waitForText(/yes or no, empty is no:$/);
	await answerLine(pi, "yes");
	expect(await pi.exited).toEqual({ code: 1, signal: 0 });
	expect(pi.output()).toContain("This session was not saved: ");
	free();
});

function savedText(agentDir: string): string {
	const sessions = join(agentDir, "sessions");
	const files = readdirSync(sessions, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
	return files.map((name) => readFileSync(join(sessions, name), "utf8")).join("");
}
