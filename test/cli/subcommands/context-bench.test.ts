import { expect, test } from "vitest";
import { parseArgs } from "../../../src/cli/args.js";
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
	expect(stdout).toContain("problem: ./clock.ts: 1 times: it returns different results for the same entries");
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
