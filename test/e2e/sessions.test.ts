import {
	appendFileSync,
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startProvider, toolCall } from "../helpers/loopback-provider.js";
import { runPi, spawnPi } from "../helpers/run-pi.js";
import { tempDir } from "../helpers/temp.js";
import { agentDirFor, answer, conversation, openPi, submitIdle } from "./support.js";

/** The files of the only directory of sessions. */
function sessionFiles(agentDir: string): string[] {
	const root = join(agentDir, "sessions");
	const dir = join(root, readdirSync(root)[0] ?? "");
	return readdirSync(dir)
		.filter((name) => name.includes(".jsonl"))
		.sort()
		.map((name) => join(dir, name));
}

test("a session whose pi was killed during a tool call is checked, repaired, searched and continued", async () => {
	const provider = await startProvider();
	provider.reply([toolCall("bash", { command: "echo begun > begun; sleep 60" })]);
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const pi = spawnPi(["-p", "release the needle"], { agentDir, cwd });
	pi.end();
	await expect.poll(() => existsSync(join(cwd, "begun")), { timeout: 10_000 }).toBe(true);
	const [path = ""] = sessionFiles(agentDir);
	const busy = await runPi(["sessions", "repair", path], { agentDir, cwd });
	expect(busy).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(`in use by process ${pi.pid}`) });
	const running = await runPi(["sessions", "check"], { agentDir, cwd });
	expect(running).toMatchObject({ code: 0, stdout: expect.stringContaining(`open in process ${pi.pid}`) });
	pi.kill("SIGKILL");
	await pi.exited;

	const check = await runPi(["sessions", "check", "--json"], { agentDir, cwd });
	expect(check.code).toBe(1);
	const [{ id, issues }] = JSON.parse(check.stdout);
	expect(issues).toMatchObject([{ kind: "unanswered_call", toolName: "bash", callId: expect.any(String) }]);
	const old = readFileSync(path);
	const repair = await runPi(["sessions", "repair", id.slice(0, 8)], { agentDir, cwd });
	expect(repair).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining(issues[0].callId) });
	expect(readFileSync(`${path}.bak`)).toEqual(old);
	expect(await runPi(["sessions", "check"], { agentDir, cwd })).toMatchObject({ code: 0, stderr: "" });

	const search = await runPi(["sessions", "search", "NEEDLE", "--all"], { agentDir });
	expect(search.stdout).toMatch(/^ {2}\d+ {2}user {2}release the \*\*needle\*\*$/m);
	provider.reply("Released.");
	expect(await runPi(["-p", "-c", "go on"], { agentDir, cwd })).toMatchObject({ code: 0, stdout: "Released.\n" });
	expect(conversation(provider, 1).at(-2)).toContain("tool: pi stopped before this call ended");
});

test("an imported session is continued, and pi context shows its compaction", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const timestamp = "2026-01-01T10:00:00.000Z";
	const user = (content: string) => ({ type: "message", message: { role: "user", content, timestamp: 1 } });
	const entries = [
		user("early"),
		user("kept"),
		{ type: "compaction", summary: "It began early.", firstKeptEntryId: "e1", tokensBefore: 900 },
		{ type: "branch_summary", fromId: "x", summary: "Left a branch." },
		{ type: "mood", value: "calm" },
	].map((entry, n) => ({ ...entry, id: `e${n}`, parentId: n === 0 ? null : `e${n - 1}`, timestamp }));
	const source = join(cwd, "tree.jsonl");
	const text = [{ type: "session", version: 3, id: "tree", timestamp, cwd }, ...entries].map((line) =>
		JSON.stringify(line),
	);
	writeFileSync(source, `${text.join("\n")}\n`);

	const opened = await runPi(["-p", "--session", "tree.jsonl", "hi"], { agentDir, cwd });
	expect(opened).toMatchObject({
		code: 1,
		stderr: expect.stringContaining("version 3, not 1 · `pi sessions import <file>`"),
	});
	const imported = await runPi(["sessions", "import", "tree.jsonl", "--json"], { agentDir, cwd });
	expect(imported).toMatchObject({ code: 0, stderr: "" });
	const facts = JSON.parse(imported.stdout);
	expect(facts).toMatchObject({ source, entries: 5, leftOut: {}, kept: { mood: 1 } });
	expect(sessionFiles(agentDir)).toEqual([facts.path]);
	expect(statSync(facts.path).mode & 0o777).toBe(0o600);
	expect(readFileSync(source, "utf8")).toBe(`${text.join("\n")}\n`);

	const context = await runPi(["context", "--session", facts.id.slice(0, 8)], { agentDir, cwd });
	expect(context).toMatchObject({ code: 0, stderr: "" });
	expect(context.stdout).toMatch(
		/ compaction +The conversation before this point was replaced[^\n]*\n2 +user +\S+ tok +kept\n4 .* system_item /,
	);
	provider.reply("Understood.");
	expect(await runPi(["-p", "-c", "continue"], { agentDir, cwd })).toMatchObject({ code: 0, stdout: "Understood.\n" });
	const sent = conversation(provider, 0).join("\n");
	for (const words of ["It began early.", "user: kept", "Left a branch.", "user: continue"])
		expect(sent).toContain(words);
	expect(sent).not.toContain("user: early");
});

test("a large session opens again from its index, which a change to the file outdates", async () => {
	const provider = await startProvider();
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	const path = join(cwd, "large.jsonl");
	const timestamp = "2026-01-01T10:00:00.000Z";
	const usage = { input: 1000, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1000 };
	const user = (content: string) => ({ type: "message", timestamp, message: { role: "user", content, timestamp: 1 } });
	const reply = {
		...{
			role: "assistant",
			content: [{ type: "text", text: "x".repeat(20_000) }],
			api: "a",
			provider: "p",
			model: "m",
		},
		...{ usage: { ...usage, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.01 } } },
		...{ stopReason: "stop", timestamp: 1 },
	};
	const entries = [
		{ type: "session", version: 1, id: "large", timestamp, cwd },
		...Array(250).fill({ type: "message", timestamp, message: reply }),
		{ type: "compaction", timestamp, summary: "Much was said.", firstKeptEntryIndex: 250, tokensBefore: 9 },
		user("the last words"),
	];
	const lines = (added: readonly object[]) => added.map((entry) => `${JSON.stringify(entry)}\n`).join("");
	writeFileSync(path, lines(entries));
	const look = async (text: string) => {
		const pi = await openPi({ agentDir, cwd, args: ["--session", path] });
		await pi.waitForText(text);
		const screen = await pi.waitForText("$2.50");
		await submitIdle(pi, "/quit");
		await pi.exited;
		return screen;
	};
	const first = await look("the last words");
	const index = readFileSync(`${path}.index`);
	expect(await look("the last words")).toBe(first);
	expect(readFileSync(`${path}.index`)).toEqual(index);
	appendFileSync(path, lines([user("words of another program")]));
	await look("words of another program");
	provider.reply("Hello.");
	const print = await runPi(["-p", "--session", path, "hi"], { agentDir, cwd });
	expect(print).toMatchObject({ code: 0, stdout: "Hello.\n" });
	expect(conversation(provider, 0).slice(-3)).toEqual([
		"user: the last words",
		"user: words of another program",
		"user: hi",
	]);
	await look("Hello.");
});

test("bad input names the problem and the next step in one line", async () => {
	const cwd = tempDir();
	writeFileSync(join(cwd, "notes.jsonl"), "{}\n");
	const line = async (...args: string[]) => {
		const { code, stdout, stderr } = await runPi(["sessions", ...args], { cwd });
		expect(stdout).toBe("");
		expect(stderr.trimEnd().split("\n")).toHaveLength(1);
		return [code, stderr];
	};
	expect(await line("import", "none.jsonl")).toEqual([1, expect.stringContaining("There is no session file")]);
	expect(await line("import", "notes.jsonl")).toEqual([
		1,
		expect.stringMatching(/holds no session of any program that pi knows · pi sessions import --help/),
	]);
	expect(await line("repair", "notes.jsonl")).toEqual([
		1,
		expect.stringContaining("contains no message that can be read"),
	]);
	expect(await line("check", "0000")).toEqual([1, expect.stringContaining("`pi sessions list` shows all sessions")]);
	expect(await line("search")).toEqual([2, expect.stringContaining("missing text · pi sessions --help")]);
	const help = await runPi(["sessions", "check", "--help"], { cwd });
	expect(help).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^usage: pi sessions /) });
});

/** A directory for PATH with this `gio`, or without any program. */
function pathWith(gio: string | null): string {
	const dir = tempDir();
	mkdirSync(join(dir, "bin"));
	if (gio !== null) writeFileSync(join(dir, "bin", "gio"), `#!/bin/sh\n${gio}\n`);
	if (gio !== null) chmodSync(join(dir, "bin", "gio"), 0o755);
	return join(dir, "bin");
}

test.each([
	["goes to the trash", '/bin/mv "$2" "$2.trashed"', "moved to the trash", [".jsonl.trashed"]],
	["is deleted for good after a second question if there is no trash", null, "deleted", []],
])("a session that is deleted in /resume %s", async (_, gio, done, left) => {
	const provider = await startProvider();
	provider.reply("One.");
	const [agentDir, cwd] = [agentDirFor(provider), tempDir()];
	await runPi(["-p", "first"], { agentDir, cwd });
	const pi = await openPi({ agentDir, cwd, columns: 160, env: { PATH: pathWith(gio) } });
	await submitIdle(pi, "/resume");
	await pi.waitForText("ctrl+t show pi -p");
	await pi.press("ctrl+t");
	await pi.waitForText("1/1");
	await pi.press("ctrl+d");
	await pi.waitForText("Move this session to the trash?");
	await answer(pi, "y");
	if (gio === null) {
		await pi.waitForText("It cannot go to the trash: this system has no trash that pi can use");
		expect(sessionFiles(agentDir).filter((path) => path.endsWith(".jsonl"))).toHaveLength(1);
		await answer(pi, "y");
	}
	await pi.waitForText(done);
	expect(sessionFiles(agentDir).map((path) => path.slice(path.indexOf(".jsonl")))).toEqual(left);
	await pi.press("escape", "ctrl+d");
	await pi.exited;
});
