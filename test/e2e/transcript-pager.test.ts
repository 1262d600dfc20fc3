import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeEntry } from "../../src/log/codec.js";
import { assistant, header, result, user } from "../helpers/entries.js";
import { startProvider, text } from "../helpers/loopback-provider.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, answer, openPi, submit } from "./support.js";

/** A session file with `count` turns: a prompt, a command with output, an answer. */
function longSession(count: number): string {
	const turns = Array.from({ length: count }, (_, turn) => [
		user(`question ${turn} ends`),
		assistant("", [{ id: `c${turn}`, name: "bash", arguments: { command: `echo ${turn}` } }]),
		result(`c${turn}`, `output of ${turn}\nsecond line`, "bash"),
		assistant(`answer ${turn} ends`),
	]).flat();
	const path = join(tempDir(), "session.jsonl");
	writeFileSync(path, [header(), ...turns].map(encodeEntry).join(""));
	return path;
}

test("the pager shows, searches and expands a resumed session, and leaves screen and scrollback as they were", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), args: ["--session", longSession(300)], rows: 20 });
	await pi.waitForText("answer 299 ends");
	await pi.waitForText(/% of/);
	const before = { screen: await pi.screen(), scrollback: await pi.scrollback(), cursor: await pi.cursor() };
	expect(before.scrollback).not.toContain("question 7 ends");
	await pi.press("ctrl+o");
	await pi.waitForText("Transcript · 1200 entries");
	await pi.press("home");
	await pi.waitForText("question 0 ends");
	await submit(pi, "/output of 7");
	// 7 and 70 to 79.
	await pi.waitForText("1 of 11");
	await pi.waitForText("output of 7\n");
	pi.type("n");
	await pi.waitForText("2 of 11");
	await pi.waitForText("output of 70");
	await pi.press("enter");
	await pi.waitForGone("output of 70");
	await pi.press("ctrl+o");
	await pi.waitForText("answer 299 ends");
	expect({ screen: await pi.screen(), scrollback: await pi.scrollback(), cursor: await pi.cursor() }).toEqual(before);
	expect(pi.output().match(/\x1b\[\?1049[hl]/g)).toEqual(["\x1b[?1049h", "\x1b[?1049l"]);
	await pi.press("ctrl+d");
	expect((await pi.exited).code).toBe(0);
});

test("a kill while the pager is open returns to the main screen", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), args: ["--session", longSession(20)], rows: 20 });
	await pi.waitForText(/% of/);
	await pi.press("ctrl+o");
	await pi.waitForText("Transcript");
	pi.kill("SIGTERM");
	await pi.exited;
	expect(await pi.screen()).not.toContain("Transcript");
	expect(await pi.screen()).toContain("answer 19 ends");
});

const SIZES: [columns: number, rows: number][] = [
	[100, 30],
	[70, 18],
	[90, 24],
];

/** The largest number of copies of one line in the scrollback and on the screen. */
function copies(lines: string): number {
	const words = lines.match(/\bw\d+w\b/g) ?? [];
	const counts = new Map<string, number>();
	for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
	return Math.max(...counts.values());
}

test.each([
	["in one burst", false],
	["one by one", true],
])("resizes while a reply streams, %s, lose no line and leave at most one further copy", async (_, isOneByOne) => {
	const provider = await startProvider();
	const lines = Array.from({ length: 120 }, (_, line) => `w${line}w\n\n`).join("");
	provider.reply({ content: [text(lines)], chunkSize: 8, delayMs: 15 });
	const pi = await openPi({ agentDir: agentDirFor(provider), columns: 80, rows: 24 });
	await pi.waitForText(/% of/);
	await submit(pi, "go");
	await pi.waitForText("w30w", { scrollback: true });
	const from = pi.output().length;
	for (const [columns, rows] of SIZES) {
		const before = pi.output().length;
		pi.resize(columns, rows);
		const border = new RegExp(`(?<!─)─{${columns}}(?!─)`);
		if (isOneByOne) await expect.poll(() => pi.output().slice(before)).toMatch(border);
	}
	await pi.waitForText("w119w");
	await pi.waitForGone("esc stops");
	expect(copies(await pi.scrollback())).toBeLessThanOrEqual(2);
	for (let line = 0; line < 120; line++) expect(await pi.scrollback()).toContain(`w${line}w`);
	// Before it draws a new size, pi asks where the cursor is.
	const asked = pi.output().slice(from).split("\x1b[6n").length - 1;
	expect(asked).toBe(isOneByOne ? SIZES.length : 1);
});

test("quitting while a reply streams leaves no status line", async () => {
	const provider = await startProvider();
	provider.reply({ content: [text("word ".repeat(400))], chunkSize: 8, delayMs: 20 });
	const pi = await openPi({ agentDir: agentDirFor(provider) });
	await pi.waitForText(/% of/);
	await submit(pi, "go");
	await pi.waitForText("word word");
	await submit(pi, "/quit");
	await pi.waitForText("Quit pi?");
	await answer(pi, "y");
	await pi.exited;
	expect(await pi.scrollback()).not.toContain("esc stops");
});

test("a closed panel gives its rows back", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), args: ["--session", longSession(20)], rows: 24 });
	await pi.waitForText(/% of/);
	const before = await pi.screen();
	for (let round = 0; round < 2; round++) {
		await submit(pi, "/settings");
		await pi.waitForText("Settings");
		await pi.press("escape");
		await pi.waitForGone("Settings");
		await expect.poll(() => pi.screen()).toBe(before);
	}
});

test("an open transcript takes on the colors of the theme when the terminal turns from dark to light", async () => {
	const provider = await startProvider();
	const pi = await openPi({ agentDir: agentDirFor(provider), args: ["--session", longSession(1)], rows: 20 });
	await pi.waitForText(/% of/);
	await expect.poll(() => pi.output()).toContain("\x1b[?2031h");
	await pi.press("ctrl+o");
	await pi.waitForText("Transcript · 4 entries");
	const { length } = pi.output();
	pi.type("\x1b[?997;2n");
	// The band of a prompt in the theme light.
	await expect.poll(() => pi.output().slice(length)).toContain("\x1b[48;5;255m");
	await pi.press("escape");
	await submit(pi, "/quit");
	expect((await pi.exited).code).toBe(0);
});
