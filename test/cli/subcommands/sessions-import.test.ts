import { mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { latestSession } from "../../../src/log/catalog.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { claudeLines, said, typed, write } from "../../imports/support.js";
import { run } from "./run.js";

const chat = (day: number, prompt: string) =>
	`# aider chat started at 2025-01-0${day} 10:00:00\n\n#### ${prompt}\n\nDone.\n\n`;
const HISTORY = chat(1, "Add a test") + chat(2, "Rename it") + chat(3, "Fix it");

function project(): { agentDir: string; cwd: string } {
	const cwd = tempDir("pi-project-");
	writeFileSync(join(cwd, ".aider.chat.history.md"), HISTORY);
	return { agentDir: tempAgentDir(), cwd };
}

const importing = (target?: string, more: { list?: boolean; again?: boolean; from?: string } = {}) => ({
	...({ name: "sessions", action: "import", list: false, again: false } as const),
	...(target === undefined ? {} : { target }),
	...more,
});

test("without a file, the sessions of this directory are listed, newest first, with those imported before", async () => {
	const at = project();
	const { stdout, stderr } = await run(importing(), at);
	expect(stdout).toMatch(/^program +id +modified \(UTC\) +imported +name or text\n/);
	expect(stdout).toMatch(/Fix it[\s\S]*Rename it[\s\S]*Add a test/);
	expect(stderr).toContain("pi sessions import <id>");
	await run(importing("2025-01-02"), at);
	const listed = JSON.parse((await run(importing(), { ...at, json: true })).stdout);
	expect(listed.map(({ importedBefore }: { importedBefore: unknown }) => importedBefore !== null)).toEqual([
		...[false, true, false],
	]);
});

test("of a file with several sessions the newest is imported, of a directory all", async () => {
	const at = project();
	const one = await run(importing(".aider.chat.history.md"), at);
	expect(one.stdout).toContain("of aider\n");
	expect(one.stderr).toContain("the file has 2 earlier sessions");
	expect(one.stdout).toMatch(/\nopen it with pi --session [0-9a-f]{8,}\n$/);
	expect((await run({ name: "sessions", action: "list" }, at)).stdout).toMatch(/Fix it\n$/);
	const again = await run(importing(".aider.chat.history.md"), at);
	expect(again.stdout).toMatch(/^imported before: /);
	expect((await run(importing(".aider.chat.history.md", { again: true }), at)).stdout).toMatch(/^file /);

	const other = join(at.cwd, "other", ".aider.chat.history.md");
	mkdirSync(dirname(other));
	writeFileSync(other, chat(4, "Elsewhere"));
	const all = JSON.parse((await run(importing(".", { from: "aider" }), { ...at, json: true })).stdout);
	expect(all).toHaveLength(4);
});

test("an id that no session has, a program that pi does not know and a file of no program are refused", async () => {
	const at = project();
	await expect(run(importing("0123"), at)).rejects.toMatchObject({
		...{ code: "log_not_found", message: 'There is no session "0123" of another program in this directory' },
	});
	await expect(run(importing("2025"), at)).rejects.toMatchObject({
		message: '3 sessions of other programs in this directory have ids that begin with "2025"',
		hint: "use more characters of the id: 2025-01-03T10:00:00, 2025-01-02T10:00:00, 2025-01-01T10:00:00",
	});
	await expect(run(importing(undefined, { from: "cursor" }), at)).rejects.toMatchObject({ code: "bad_arguments" });
	await expect(run(importing(".", { from: "codex" }), at)).rejects.toThrow("holds no session of Codex");
	const none = await run(importing(), { agentDir: tempAgentDir(), cwd: tempDir() });
	expect(none).toMatchObject({ code: 0, stderr: expect.stringContaining("No sessions of other programs") });
});

/** A session of Claude Code, last changed on this day. */
function claudeSession(dir: string, id: string, day: number, prompt = `Prompt of ${id}`): string {
	const at = `2026-01-0${day}T10:00:00.000Z`;
	const own = { sessionId: id, timestamp: at };
	const path = write(
		join(dir, `${id}.jsonl`),
		claudeLines(typed(prompt, own), said("m1", { type: "text", text: "Done." }, own)),
	);
	changeAt(path, Date.parse(at));
	return path;
}

function changeAt(path: string, ms: number): void {
	utimesSync(path, ms / 1000, ms / 1000);
}

test("a session that cannot be imported does not stop a directory, and is named at the end", async () => {
	const at = project();
	const dir = tempDir();
	claudeSession(dir, "c-1", 1);
	const broken = write(join(dir, "c-2.jsonl"), claudeLines({ type: "system", subtype: "info", sessionId: "c-2" }));
	changeAt(broken, Date.parse("2026-01-02T10:00:00.000Z"));
	claudeSession(dir, "c-3", 3);
	write(join(dir, "agent-77.jsonl"), claudeLines(typed("Look into it", { isSidechain: true })));
	write(join(dir, "package.json"), "{}");

	const listed = JSON.parse((await run(importing(dir, { list: true }), { ...at, json: true })).stdout);
	expect(listed.map(({ id }: { id: string }) => id)).toEqual(["c-3", "c-2", "c-1"]);

	const all = await run(importing(dir), at);
	expect(all.code).toBe(1);
	expect(all.stdout.match(/^imported {2}2 entries of Claude Code$/gm)).toHaveLength(2);
	expect(all.stdout.match(/open /g)).toHaveLength(1);
	expect(all.stdout).toMatch(/\n\nopen one with pi --session <id>\n$/);
	expect(all.stderr).toBe(
		[
			"2 other files with no session of any program that pi knows",
			"1 of 3 sessions could not be imported:",
			`  Cannot import ${broken}: it has no entries`,
			"",
		].join("\n"),
	);

	const again = await run(importing(dir), { ...at, json: true });
	expect(again.code).toBe(1);
	expect(JSON.parse(again.stdout)).toMatchObject([
		{ importedBefore: expect.any(String), changedSince: false },
		{ program: "claude", source: broken, id: "c-2", error: `Cannot import ${broken}: it has no entries` },
		{ importedBefore: expect.any(String), changedSince: false },
	]);
});

test("a directory is imported completely, also if one file has all its sessions", async () => {
	const at = project();
	const { code, stdout } = await run(importing("."), { ...at, json: true });
	expect(code).toBe(0);
	expect(JSON.parse(stdout)).toHaveLength(3);
});

test("imported sessions are listed by the time of their last entry", async () => {
	const at = project();
	const dir = tempDir();
	for (const [id, day] of [["c-2", 2] as const, ["c-1", 1] as const, ["c-3", 3] as const]) claudeSession(dir, id, day);
	const made = JSON.parse((await run(importing(dir), { ...at, json: true })).stdout);
	expect(made.map(({ source }: { source: string }) => source)).toEqual(
		["c-1", "c-2", "c-3"].map((id) => join(dir, `${id}.jsonl`)),
	);
	expect(statSync(made[0].path).mtimeMs).toBe(Date.parse("2026-01-01T10:00:00.000Z"));
	expect(latestSession(dirname(made[0].path))).toBe(made[2].path);
	const { stdout } = await run({ name: "sessions", action: "list" }, at);
	expect(stdout).toMatch(/2026-01-03 10:00 .*c-3\n.*2026-01-02 10:00 .*c-2\n.*2026-01-01 10:00 .*c-1\n/);
});

test("a session that was continued in its program after the import is named, until it is imported again", async () => {
	const at = project();
	const dir = tempDir();
	const path = claudeSession(dir, "c-1", 1);
	await run(importing(path), at);
	const states = async () => (await run(importing(dir, { list: true }), at)).stdout;
	expect(await states()).toMatch(/ yes +Prompt of c-1/);
	changeAt(path, Date.now() + 60_000);
	expect(await states()).toMatch(/ changed since +Prompt of c-1/);
	const before = await run(importing(path), at);
	expect(before.stdout).toMatch(/^imported before, and continued since: .*c-1\.jsonl\n/);
	expect(before.stdout).toContain("--again imports it as it is now");
	const listed = JSON.parse((await run(importing(dir, { list: true }), { ...at, json: true })).stdout);
	expect(listed).toMatchObject([{ importedBefore: expect.any(String), changedSince: true }]);

	changeAt(path, Date.parse("2026-01-02T10:00:00.000Z"));
	const again = JSON.parse((await run(importing(path, { again: true }), { ...at, json: true })).stdout);
	const last = JSON.parse((await run(importing(path), { ...at, json: true })).stdout);
	expect(last).toMatchObject({ importedBefore: again.path, changedSince: false });
});

test("of a history of aider, only the last chat can have been continued", async () => {
	const at = project();
	const path = join(at.cwd, ".aider.chat.history.md");
	await run(importing(at.cwd), at);
	changeAt(path, Date.now() + 60_000);
	const listed = JSON.parse((await run(importing(), { ...at, json: true })).stdout);
	expect(listed.map(({ changedSince }: { changedSince: boolean }) => changedSince)).toEqual([true, false, false]);
});

test("an id that is the start of another one can be imported; one in two files needs its file", async () => {
	const at = project();
	writeFileSync(join(at.cwd, ".aider.chat.history.md"), chat(1, "Add a test") + chat(1, "Rename it"));
	const { stdout } = await run(importing("2025-01-01T10:00:00"), { ...at, json: true });
	expect(JSON.parse(stdout)).toMatchObject({ program: "aider" });
	const home = tempDir();
	const place = { ...at, cwd: "/home/ada/shop", env: { CLAUDE_CONFIG_DIR: home } };
	const projects = join(home, "projects", "-home-ada-shop");
	const first = claudeSession(projects, "c-1", 1);
	const copy = write(join(projects, "copy.jsonl"), claudeLines(typed("Other", { sessionId: "c-1" })));
	await expect(run(importing("c-1"), place)).rejects.toMatchObject({
		message: '2 sessions of other programs in this directory have the id "c-1"',
		hint: `name the file: ${copy}, ${first}`,
	});
});

test.each([
	["empty.jsonl", "", /^Cannot import .*: it is empty$/],
	["notes.jsonl", "no JSON\n", /^Cannot import .*: it holds no session of any program that pi knows$/],
	["agent-1.jsonl", claudeLines(typed("x", { isSidechain: true })), /: it holds no session of any program/],
	["old.jsonl", '{"type":"session","version":9}\n', /: it has format version 9, not 2 or 3$/],
])("the error for %s says what is wrong", async (name, text, message) => {
	const at = project();
	await expect(run(importing(write(join(at.cwd, name), text)), at)).rejects.toThrow(
		expect.objectContaining({ code: "log_not_a_session", message: expect.stringMatching(message) }),
	);
});
