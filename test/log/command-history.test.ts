import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { earlierCommands, rememberCommand } from "../../src/log/command-history.js";
import { earlierPrompts } from "../../src/log/earlier-prompts.js";
import { tempDir, writeFiles } from "../helpers/temp.js";

const MORNING = Date.parse("2026-01-02T08:00:00.000Z");
const fileIn = (dir: string) => join(dir, "commands.history");

test("commands are read newest first from a file that only the user can read", async () => {
	const dir = join(tempDir(), "sessions");
	await rememberCommand(dir, { text: "/pop 1", at: MORNING });
	await rememberCommand(dir, { text: "/name a\nb", at: MORNING + 1 });
	expect(earlierCommands(dir)).toEqual([
		{ text: "/name a\nb", at: MORNING + 1 },
		{ text: "/pop 1", at: MORNING },
	]);
	expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
});

test("a missing file has no commands, and lines that are not commands are skipped", async () => {
	const dir = tempDir();
	expect(earlierCommands(dir)).toEqual([]);
	await rememberCommand(dir, { text: "/pop", at: MORNING });
	appendFileSync(fileIn(dir), '{"text":"rm -rf","timestamp":"2026-01-02T08:00:00.000Z"}\n[]\n{"text":"/to');
	expect(earlierCommands(dir)).toEqual([{ text: "/pop", at: MORNING }]);
});

test("a history over the size limit keeps its newest half", async () => {
	const dir = tempDir();
	const line = (at: number) =>
		JSON.stringify({ timestamp: new Date(at).toISOString(), text: `/name ${"x".repeat(90)}` });
	writeFiles(dir, { "commands.history": Array.from({ length: 1000 }, (_, at) => `${line(MORNING + at)}\n`).join("") });
	await rememberCommand(dir, { text: "/pop", at: MORNING + 5000 });
	const commands = earlierCommands(dir);
	expect(commands).toHaveLength(501);
	expect(commands[0]).toEqual({ text: "/pop", at: MORNING + 5000 });
	expect(readFileSync(fileIn(dir), "utf8").length).toBeLessThan(80_000);
});

test("commands are inserted by time between the prompts of earlier sessions", async () => {
	const dir = tempDir();
	const prompt = (text: string, minutes: number) => ({
		type: "message",
		timestamp: new Date(MORNING + minutes * 60_000).toISOString(),
		message: { role: "user", content: text, timestamp: 0 },
	});
	const header = { type: "session", version: 1, id: "a", timestamp: new Date(MORNING).toISOString(), cwd: "/" };
	const lines = [header, prompt("one", 0), prompt("two", 10)].map((entry) => JSON.stringify(entry));
	writeFiles(dir, { "a.jsonl": lines.join("\n") });
	await rememberCommand(dir, { text: "/before", at: MORNING - 60_000 });
	await rememberCommand(dir, { text: "/between", at: MORNING + 60_000 });
	await rememberCommand(dir, { text: "/after", at: MORNING + 3_600_000 });
	expect(await earlierPrompts(dir)).toEqual(["/after", "two", "/between", "one", "/before"]);
	expect(await earlierPrompts(dir, { maxPrompts: 2 })).toEqual(["/after", "two"]);
});

test("a command of more than 2000 characters is not saved", async () => {
	const dir = join(tempDir(), "sessions");
	await rememberCommand(dir, { text: `/${"x".repeat(2000)}`, at: MORNING });
	expect(earlierCommands(dir)).toEqual([]);
	const longest = { text: `/${"x".repeat(1999)}`, at: MORNING };
	await rememberCommand(dir, longest);
	expect(earlierCommands(dir)).toEqual([longest]);
});

test.each([
	'{"text":"/a"}',
	'{"text":"/a","timestamp":7}',
	'{"text":"/a","timestamp":"?"}',
	'{"text":7,"timestamp":"2026-01-02T08:00:00.000Z"}',
	'{"timestamp":"2026-01-02T08:00:00.000Z"}',
	'{"text":"a /b","timestamp":"2026-01-02T08:00:00.000Z"}',
	"null",
])("the line %s is no command", (line) => {
	const dir = tempDir();
	writeFiles(dir, { "commands.history": `${line}\n\n` });
	expect(earlierCommands(dir)).toEqual([]);
});

test("a history below the size limit is kept, and one over it remains private", async () => {
	const dir = tempDir();
	const line = `${JSON.stringify({ timestamp: new Date(MORNING).toISOString(), text: `/${"x".repeat(1000)}` })}\n`;
	writeFiles(dir, { "commands.history": line.repeat(120) });
	await rememberCommand(dir, { text: "/pop", at: MORNING });
	expect(earlierCommands(dir)).toHaveLength(121);
	writeFiles(dir, { "commands.history": line.repeat(126) });
	await rememberCommand(dir, { text: "/pop", at: MORNING });
	expect(earlierCommands(dir)).toHaveLength(64);
	expect(statSync(fileIn(dir)).mode & 0o777).toBe(0o600);
});
