import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
import { isMessageEntry } from "../../../src/log/entry.js";
import { SessionLog } from "../../../src/log/session-log.js";
import { startSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { run } from "./run.js";

test("the tools of a bundled hook that the session did not have count", async () => {
	const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
	const { session, provider } = await startSession({ ...place, session: { kind: "new" } });
	provider.reply("hello");
	await session.prompt("hi");
	const file = session.sessionFile ?? "";
	await session.dispose();
	const { code, stdout } = await run(
		{ name: "bench", strategies: ["pi:recall"], sessions: [file], failIf: [] },
		{ ...place, json: true },
	);
	expect(code).toBe(0);
	const [{ results }] = JSON.parse(stdout).sessions;
	const [none, recall] = results.map(({ totals }: { totals: { sent: number } }) => totals.sent);
	expect(recall).toBeGreaterThan(none);
});

/** A recorded session with one reply, and where it is. */
async function recorded() {
	const place = { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
	const { session, provider } = await startSession({ ...place, session: { kind: "new" } });
	provider.reply("hello", "again");
	await session.prompt("hi");
	await session.prompt("and again");
	const file = session.sessionFile ?? "";
	await session.dispose();
	return { place, file };
}

test("failures and dropped answers of a strategy are counted, and make the exit code 1", async () => {
	const { place, file } = await recorded();
	writeFiles(place.cwd, {
		"bad.ts": `export default (pi) => { pi.on("context", ({ messages }) => ({ mesages: messages }));
			pi.on("turn_start", (_, ctx) => { ctx.nothing.at; }); }`,
		"clock.ts": `let n = 0; export default (pi) => pi.on("context", ({ messages }) => ({
			messages: [...messages, { role: "user", content: String(n++), timestamp: 0 }] }));`,
	});
	const strategies = ["./bad.ts", "./clock.ts"];
	const { code, stdout } = await run({ name: "bench", strategies, sessions: [file], failIf: [] }, place);
	expect(code).toBe(1);
	expect(stdout).toMatch(/\nproblem: \.\/bad\.ts: 2 times: .*bad\.ts:2:\d+ failed on turn_start: /);
	expect(stdout).toMatch(/\nproblem: \.\/bad\.ts: \d+ times: .*"?mesages"?.*; its answer was dropped\n/);
	expect(stdout).toContain("problem: ./clock.ts: 1 time: it returns different results for the same entries");
});

test.each([
	["pi:claer", "did you mean pi:clear?"],
	["mine", "write ./mine.ts for the file of this directory"],
	["nosuchthing", "with pi come pi:clear"],
])("a strategy %s that does not exist is a usage error with a hint", async (name, hint) => {
	const { place, file } = await recorded();
	writeFiles(place.cwd, { "mine.ts": "export default () => {};" });
	await expect(run({ name: "bench", strategies: [name], sessions: [file], failIf: [] }, place)).rejects.toMatchObject({
		code: "bad_arguments",
		message: `There is no hook ${name}`,
		hint: expect.stringContaining(hint),
	});
});

test("an option that does not exist is named, although its value could be a strategy", async () => {
	const { place, file } = await recorded();
	const parsed = parseArgs(["context", "bench", "--sessions", file, "pi:clear", "--htm", "x.html"]);
	if (parsed.kind !== "subcommand") throw new Error("not a subcommand");
	await expect(run(parsed.command, { ...place, ...parsed.options })).rejects.toThrow("unknown option --htm");
});

test("the page is refused before anything is computed if its directory does not exist, and a file without replies is named", async () => {
	const { place, file } = await recorded();
	const bench = { name: "bench" as const, strategies: [], failIf: [] };
	await expect(run({ ...bench, sessions: [file], html: "/nowhere/x.html" }, place)).rejects.toThrow(
		"--html /nowhere/x.html: there is no directory /nowhere",
	);
	writeFiles(place.cwd, {
		"empty.jsonl": '{"type":"session","version":1,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}\n',
	});
	const { stderr } = await run({ ...bench, sessions: [file, `${place.cwd}/empty.jsonl`] }, place);
	expect(stderr).toContain("empty.jsonl is not played: it has no reply of a model");
});

test("a session that is a branch of another one counts only its own requests, and a copy none", async () => {
	const { place, file } = await recorded();
	const copy = readFileSync(file, "utf8").replace(/"id":"[^"]+"/, '"id":"copied"');
	writeFiles(place.cwd, { "copy.jsonl": copy, "branch.jsonl": copy });
	const { session, provider } = await startSession({
		...place,
		session: { kind: "open", target: `${place.cwd}/branch.jsonl` },
	});
	provider.reply("more");
	await session.prompt("one more");
	await session.dispose();
	const files = [file, `${place.cwd}/copy.jsonl`, `${place.cwd}/branch.jsonl`];
	const bench = { name: "bench" as const, strategies: ["pi:recall"], failIf: [] };
	const { stdout } = await run({ ...bench, sessions: files }, { ...place, json: true });
	const { sessions, shared, total } = JSON.parse(stdout);
	expect(sessions.map(({ requests }: { requests: number }) => requests)).toEqual([2, 1]);
	expect(total.map(({ requests }: { requests: unknown[] }) => requests.length)).toEqual([3, 3]);
	expect(shared).toEqual({ sessions: 3, requests: 4 });
	const text = await run({ ...bench, sessions: files }, place);
	expect(text.stdout).toContain("\n3 sessions share 4 requests, counted once\n");
	const alone = await run({ ...bench, sessions: [file] }, place);
	expect(alone.stdout).not.toContain("share");
});

test("--show prints one request as each strategy would have sent it", async () => {
	const { place, file } = await recorded();
	writeFiles(place.cwd, {
		"save.ts": `export default (pi) => {
			pi.entry("saved");
			pi.on("turn_start", (_, ctx) => ctx.saveEntry({ type: "saved" }));
			pi.on("context", ({ entries, messages }) => ({ messages: [...messages,
				{ role: "user", content: "saved " + entries.filter(({ type }) => type === "saved").length, timestamp: 0 }] }));
		};`,
	});
	const entries = SessionLog.open(file, { readOnly: true }).entries;
	const last = entries.findLastIndex((entry) => isMessageEntry(entry) && entry.message.role === "assistant");
	const show = (index: number, ...strategies: string[]) =>
		run({ name: "bench", strategies, sessions: [file], failIf: [], show: index }, place);
	const { stdout, code } = await show(last, "./save.ts", "none");
	expect(code).toBe(0);
	const [save = "", none = ""] = stdout.split("\n\nunder ");
	expect(save).toContain(`under ./save.ts, the request that entry ${last} of the recording answers:`);
	expect(save).toMatch(/\nhooks: .*save\.ts\n/);
	expect(save).toMatch(/- +user +\d+ tok +save\.ts +saved 2\n|- +user +\d+ tok +.*save\.ts +saved 2/);
	expect(none).toContain("and again");
	expect(none).not.toContain("saved");
	await expect(show(last - 1)).rejects.toMatchObject({
		hint: expect.stringContaining(`the next reply is entry ${last}`),
	});
	const two = run(
		{ name: "bench", strategies: [], sessions: [], failIf: [], show: last },
		{ ...place, cwd: tempDir() },
	);
	await expect(two).rejects.toThrow("No session with a reply");
});
