import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { parseSubcommand } from "../../../src/cli/subcommand-args.js";
import { startSession, type TestSession } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { example } from "../../hooks-examples/example.js";
import { run } from "./run.js";

const STACK = example("stacking.ts");

async function say({ session }: TestSession, ...prompts: string[]): Promise<void> {
	for (const prompt of prompts) await session.prompt(prompt);
}

interface Place {
	agentDir: string;
	cwd: string;
}

function newPlace(): Place {
	return { agentDir: tempAgentDir(), cwd: tempDir("pi-project-") };
}

/** Writes a session with pops, a compaction, a resume and a branch. @returns the files of the session and its branch */
async function eventfulSession(place: Place): Promise<{ file: string; branch: string }> {
	const options = { ...place, hookFiles: [STACK], userSettings: { compaction: { keepRecentTokens: 1 } } };
	const first = await startSession({ ...options, session: { kind: "new" } });
	first.provider.on(() => "an answer");
	// Long enough for the compaction to shorten the context.
	const u6 = `u6${" and more".repeat(60)}`;
	await say(first, "u1", "u2", "u3", "/pop 2", "u4", "u5", "/pop 4", u6, "/unpop", "u7", "/compact", "u8");
	expect(first.session.entries.map(({ type }) => type)).toContain("compaction");
	const file = first.session.sessionFile ?? "";
	await first.session.dispose();

	const resumed = await startSession({ ...options, session: { kind: "open", target: file } });
	resumed.provider.on(() => "an answer");
	await say(resumed, "u9", "u10");
	const [{ entryIndex: turn } = { entryIndex: 0 }] = resumed.session.branchTargets().slice(-1);
	await resumed.session.branch(turn);
	await say(resumed, "b1", `/pop ${resumed.session.branchTargets().length - 1}`, "b2");
	const branch = resumed.session.sessionFile ?? "";
	await resumed.session.dispose();
	return { file, branch };
}

function verify(place: Place, session: string, hooks: string[], findHooks = true) {
	return run({ name: "context", verify: true }, { ...place, session, hooks, findHooks, json: true });
}

describe("pi context --verify", () => {
	test("recomputes every request of a session with pops, compaction, resume and branch", async () => {
		const place = newPlace();
		const { file, branch } = await eventfulSession(place);
		const [whole, branched] = [await verify(place, file, [STACK]), await verify(place, branch, [STACK])];
		expect(JSON.parse(whole.stdout)).toMatchObject({ requests: 10, mismatch: null });
		expect(JSON.parse(branched.stdout)).toMatchObject({ requests: 11, mismatch: null });
		expect([whole.code, branched.code, whole.stderr, branched.stderr]).toEqual([0, 0, "", ""]);
	});

	test("the bundled hook computes the requests of a session that was recorded with its file", async () => {
		const place = newPlace();
		const { file, branch } = await eventfulSession(place);
		for (const session of [file, branch]) {
			const { code, stdout } = await verify(place, session, []);
			expect(JSON.parse(stdout)).toMatchObject({ mismatch: null, hooks: [{ path: "pi:stacking", scope: "bundled" }] });
			expect(code).toBe(0);
		}
		const without = { name: "context", verify: true, without: ["stacking"] } as const;
		expect((await run(without, { ...place, session: file })).code).toBe(1);
	});

	test("without the hook, names the first request that the hook changed, and the recorded message", async () => {
		const place = newPlace();
		const { file } = await eventfulSession(place);
		const { code, stdout } = await verify(place, file, [], false);
		expect(code).toBe(1);
		// u4, the first prompt after the pop.
		expect(JSON.parse(stdout).mismatch).toMatchObject({
			entryIndex: 10,
			recorded: { messages: 4 },
			computed: { messages: 7 },
			reason: "Entry 8 (stack_pop) belongs to a hook that is not loaded; load its file with --hook",
			message: { position: 2, entryIndex: 3, role: "user", origin: { kind: "entry" }, text: "u2" },
			sent: { position: 2, entryIndex: null, role: "user", origin: { kind: "freeze" }, text: "[Summary]\n\nan answer" },
			hook: null,
		});
		const lines = await run({ name: "context", verify: true }, { ...place, session: file, findHooks: false });
		expect(lines.stdout).toBe(
			[
				"The request answered by entry 10 differs from the recorded one: 4 messages recorded, 7 computed",
				"Entry 8 (stack_pop) belongs to a hook that is not loaded; load its file with --hook",
				"Computed from message 2 on, user from entry 3: u2",
				"Recorded as message 2, user from a hook: [Summary] an answer",
				"",
			].join("\n"),
		);
	});

	test("a session with a message of an extension names it, and matches with -e", async () => {
		const place = newPlace();
		writeFiles(place.cwd, {
			"note.ts": `export default (pi) => pi.on("before_agent_start", () => ({
				message: { customType: "note", content: "a note", display: false } }));`,
			"other.ts": `export default (pi) => pi.on("session_start", () => {});`,
		});
		const [note, other] = [join(place.cwd, "note.ts"), join(place.cwd, "other.ts")];
		const { session, provider } = await startSession({ ...place, extensions: [note], session: { kind: "new" } });
		provider.reply("a1");
		await session.prompt("u1");
		const file = session.sessionFile ?? "";
		await session.dispose();
		const verifyWith = async (args: string[]) => {
			const parsed = parseSubcommand("context", ["--verify", "--json", "--session", file, ...args]);
			if (parsed.kind !== "subcommand") throw new Error("expected a command");
			const { stdout } = await run(parsed.command, { ...place, ...parsed.options });
			return JSON.parse(stdout).mismatch;
		};
		const reason = "Entry 2 (custom_message) belongs to the extension note, which is not loaded; load its file with -e";
		expect([await verifyWith([]), await verifyWith(["-e", other])]).toEqual([
			expect.objectContaining({ reason }),
			expect.objectContaining({ reason }),
		]);
		expect([await verifyWith(["-e", note]), await verifyWith(["--extension", note, "--no-hooks"])]).toEqual([
			null,
			null,
		]);
	});

	test("a package that is not installed is named", async () => {
		const place = newPlace();
		const { session, provider } = await startSession({ ...place, session: { kind: "new" } });
		provider.reply("a1");
		await session.prompt("u1");
		const options = { ...place, session: session.sessionFile ?? "", extensions: ["npm:some-package"] };
		const { stderr } = await run({ name: "context", verify: true }, options);
		expect(stderr).toContain("npm:some-package is not loaded: install the package, or name a file of it");
	});

	test("without a hook that wrote no entries, prints the message it had added", async () => {
		const place = newPlace();
		writeFiles(place.cwd, {
			"brief.ts": `export default (pi) => pi.on("context", ({ messages }) => ({
				messages: [{ role: "user", content: "Be brief.", timestamp: 0 }, ...messages] }));`,
		});
		const brief = join(place.cwd, "brief.ts");
		const { session, provider } = await startSession({ ...place, hookFiles: [brief], session: { kind: "new" } });
		provider.reply("a1");
		await session.prompt("u1");
		const file = session.sessionFile ?? "";
		await session.dispose();
		const { stdout } = await run({ name: "context", verify: true }, { ...place, session: file });
		expect(stdout).toBe(
			[
				"The request answered by entry 2 differs from the recorded one: 2 messages recorded, 1 computed",
				`brief.ts was loaded then: load it with --hook ${brief}`,
				"Computed from message 0 on, user from entry 1: u1",
				"Recorded as message 0, user from a hook: Be brief.",
				"",
			].join("\n"),
		);
	});

	test("names a hook that was not loaded then, and the message it adds", async () => {
		const place = newPlace();
		const { file } = await eventfulSession(place);
		writeFiles(place.cwd, {
			"late.ts": `export default (pi) => pi.on("context", ({ messages }) => messages.length < 3 ? undefined
				: { messages: [...messages, { role: "user", content: "Be brief.", timestamp: 0 }] });`,
		});
		const late = join(place.cwd, "late.ts");
		const json = await verify(place, file, [STACK, late]);
		expect(JSON.parse(json.stdout).mismatch).toMatchObject({
			entryIndex: 4,
			reason: expect.stringContaining(`Without ${late} it matches`),
			message: { position: 3, entryIndex: null, origin: { kind: "hook", hook: late }, text: "Be brief." },
			hook: late,
		});
		const lines = await run({ name: "context", verify: true }, { ...place, session: file, hooks: [STACK, late] });
		expect(lines.stdout).toBe(
			[
				"The request answered by entry 4 differs from the recorded one: 3 messages recorded, 4 computed",
				`Without ${late} it matches: late.ts was not loaded then`,
				`Computed from message 3 on, user from ${late}: Be brief.`,
				"",
			].join("\n"),
		);
	});

	test("narrows an edit of the file down to the messages since the last matching request", async () => {
		const place = newPlace();
		const { file } = await eventfulSession(place);
		writeFileSync(file, readFileSync(file, "utf8").replace('"u2"', '"u2, changed"'));
		const { stdout } = await verify(place, file, [STACK]);
		expect(JSON.parse(stdout).mismatch).toMatchObject({
			entryIndex: 4,
			reason: "No hook has changed since, so the session file was edited, or a hook answers from more than its event",
			message: { position: 1, entryIndex: 2 },
		});
	});
});

describe("pi context --without", () => {
	test("shows the request without a hook given by name or path, and rejects other names", async () => {
		const place = newPlace();
		const { session, provider } = await startSession({ ...place, hookFiles: [STACK], session: { kind: "new" } });
		provider.reply("a1", "a2", "SUM");
		for (const prompt of ["u1", "u2", "/pop 2"]) await session.prompt(prompt);
		const file = session.sessionFile ?? "";
		await session.dispose();
		const texts = async (...without: string[]) => {
			const command = { name: "context", verify: false, without } as const;
			const { stdout } = await run(command, { ...place, session: file, hooks: [STACK], json: true });
			const report: { messages: { text: string }[]; hooks: unknown[] } = JSON.parse(stdout);
			return [report.hooks.length, ...report.messages.map(({ text }) => text)];
		};
		expect(await texts()).toEqual([1, "u1", "a1", "[Summary]\n\nSUM"]);
		expect(await texts("stacking")).toEqual([0, "u1", "a1", "u2", "a2"]);
		expect(await texts(STACK)).toEqual([0, "u1", "a1", "u2", "a2"]);
		expect(await texts(relative(place.cwd, STACK))).toEqual([0, "u1", "a1", "u2", "a2"]);
		await expect(texts("stack")).rejects.toMatchObject({
			code: "bad_arguments",
			message: "--without stack: no such hook is loaded",
			hint: "loaded hooks: fold, pin, stacking",
		});
	});
});
