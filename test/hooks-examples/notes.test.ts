import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { applyEdit } from "../../hooks-examples/notes.js";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import { hookProjectDir } from "../../src/hooks/project-dir.js";
import { run } from "../cli/subcommands/run.js";
import { toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSession, type TestSessionOptions } from "../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../helpers/temp.js";
import { example } from "./example.js";

const HOOK = example("notes.ts");

let place: { agentDir: string; cwd: string };

beforeEach(() => {
	place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
	vi.stubEnv("PI_CODING_AGENT_DIR", place.agentDir);
	return () => vi.unstubAllEnvs();
});

function start(options: TestSessionOptions = {}) {
	return startSession({ ...place, hookFiles: [HOOK], ...options });
}

const note = (edit: Record<string, string>) => toolCall("note", edit);
const notesDir = () => hookProjectDir(place.agentDir, place.cwd, "notes");
const notesPath = () => join(notesDir(), "notes.md");
const file = () => readFileSync(notesPath(), "utf8");

/** The notes in the system prompt of a request; null for none. */
function shown({ provider }: TestSession, number: number): string | null {
	const prompt = provider.requests[number - 1]?.messages.find(({ role }) => role === "system")?.text ?? "";
	return /# Notes\n.*\n\n([\s\S]*)$/.exec(prompt)?.[1] ?? null;
}

test("notes are a file, and in the system prompt of later sessions, whatever becomes of the file", async () => {
	const first = await start({ session: { kind: "new" } });
	first.provider.reply([note({ add: "Tests: npm test" })], [note({ add: "Build: make" })], "noted", "still");
	await first.session.prompt("look around");
	await first.session.prompt("and then");
	expect(file()).toBe("Tests: npm test\nBuild: make\n");
	expect(first.sent(2).at(-1)).toBe("tool: Noted: 15 of 8000 characters.");
	// The model knows what it has just written: the start of the request is unchanged.
	expect([1, 2, 3, 4].map((number) => shown(first, number))).toEqual([null, null, null, null]);
	const rendered = first.session.entries.find(({ type }) => type === "note");
	expect(rendered && first.session.entryRenderer("note")?.(rendered, PLAIN_THEME, { expanded: true })).toBe(
		"◇ noted: Tests: npm test",
	);
	await first.session.dispose();

	const second = await start({ session: { kind: "new" } });
	second.provider.reply([note({ replace: "make", with: "npm run build" })], "changed");
	await second.session.prompt("go");
	expect(file()).toBe("Tests: npm test\nBuild: npm run build\n");
	expect([1, 2].map((number) => shown(second, number))).toEqual(Array(2).fill("Tests: npm test\nBuild: make"));
	const session = second.session.sessionFile ?? "";
	await second.session.dispose();
	writeFiles(notesDir(), { "notes.md": "something else" });
	const verified = await run({ name: "context", verify: true }, { ...place, session, hooks: [HOOK] });
	expect(verified.stdout).toBe("All 2 requests match the recorded ones\n");
});

test("an edit whose call leaves the context appears in the system prompt", async () => {
	const test = await start({ userSettings: { compaction: { keepRecentTokens: 1 } } });
	test.provider.reply([note({ add: "Use tabs" })], "noted", "SUMMARY", "on it");
	await test.session.prompt(`look around ${"and on ".repeat(100)}`);
	await test.session.prompt("/compact anyway");
	await test.session.prompt("go on");
	expect([2, 4].map((number) => shown(test, number))).toEqual([null, "Use tabs"]);
});

test("edits appear in the system prompt when the provider has forgotten the last request anyway", async () => {
	vi.useFakeTimers({ toFake: ["Date"] });
	const test = await start();
	test.provider.reply([note({ add: "Use tabs" })], "noted", "ok");
	await test.session.prompt("go");
	vi.setSystemTime(Date.now() + 301_000);
	await test.session.prompt("go on");
	vi.useRealTimers();
	expect([1, 2, 3].map((number) => shown(test, number))).toEqual([null, null, "Use tabs"]);
});

test("/notes undo takes edits back, one after another, and refuses once the notes have changed", async () => {
	const test = await start();
	const { session, provider } = test;
	expect(await session.prompt("/notes undo")).toMatchObject({
		status: "This session has no edit of the notes to undo",
	});
	provider.reply([note({ add: "one" })], [note({ add: "two" }), note({ remove: "one" })], "noted", "so");
	await session.prompt("go");
	expect(file()).toBe("two\n");
	expect(await session.prompt("/notes undo")).toMatchObject({ status: "Undid: removed from the notes: one" });
	expect(await session.prompt("/notes undo")).toMatchObject({ status: "Undid: noted: two" });
	expect(file()).toBe("one\n");
	await session.prompt("well");
	expect(shown(test, 4)).toBe("one");
	writeFiles(notesDir(), { "notes.md": "mine" });
	expect(await session.prompt("/notes undo")).toMatchObject({
		status: "The notes have changed since that edit: /notes opens them",
	});
	expect(file()).toBe("mine");
});

test("/notes opens the notes in the editor, and the model sees the change at once", async () => {
	const editor = vi.fn(async () => "Use spaces\n");
	const test = await start({ ui: { editor } });
	test.provider.reply([note({ add: "Use tabs" })], "noted", "ok");
	await test.session.prompt("go");
	await test.session.prompt("/notes");
	expect(editor).toHaveBeenCalledWith(expect.stringContaining(notesPath()), "Use tabs", expect.anything());
	expect(file()).toBe("Use spaces\n");
	await test.session.prompt("go on");
	expect(shown(test, 3)).toBe("Use spaces");
});

test("without a screen, /notes prints the path and the notes", async () => {
	const { session } = await start();
	expect(await session.prompt("/notes")).toMatchObject({ status: `There are no notes: ${notesPath()}` });
	writeFiles(notesDir(), { "notes.md": "mine\n" });
	expect(await session.prompt("/notes")).toMatchObject({ status: `${notesPath()}\nmine` });
});

describe("an edit", () => {
	test.each([
		[{ add: "c" }, { after: "a b a\nc" }],
		[{ replace: "b", with: "$&" }, { after: "a $& a" }],
		[{ remove: " b" }, { after: "a a" }],
		[{ remove: "a" }, "This text occurs 2 times in the notes, not once. The notes are:\na b a"],
		[{ replace: "x", with: "" }, "This text occurs 0 times in the notes, not once. The notes are:\na b a"],
		[{ replace: "b" }, "Pass add, or replace and with, or remove."],
		[{ add: "c", remove: "b" }, "Pass add, or replace and with, or remove."],
		[{}, "Pass add, or replace and with, or remove."],
		[
			{ add: "x".repeat(8000) },
			"The notes would have 8006 characters, and at most 8000 fit. Remove or shorten some first.",
		],
	])("%j", (edit, result) => {
		expect(applyEdit("a b a", edit)).toEqual(result);
	});

	test("to replace text and back leaves the notes as they were", () => {
		const words = fc.stringMatching(/^[a-z ]{1,20}$/);
		fc.assert(
			fc.property(words, words, words, (start, middle, end) => {
				const before = `${start}<${middle}>${end}`.trim();
				const there = applyEdit(before, { replace: `<${middle}>`, with: "[$1]" });
				const back =
					typeof there === "string" ? there : applyEdit(there.after, { replace: "[$1]", with: `<${middle}>` });
				expect(back).toEqual({ after: before });
			}),
		);
	});
});
