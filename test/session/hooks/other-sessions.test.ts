import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseSubcommand } from "../../../src/cli/subcommand-args.js";
import type { HookEventContext } from "../../../src/hooks/types.js";
import { sessionDirName } from "../../../src/log/session-paths.js";
import { createAgentSession } from "../../../src/sdk/create-session.js";
import { run } from "../../cli/subcommands/run.js";
import { idleSession } from "../../context-bench/idle-session.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempAgentDir, tempDir, writeFiles } from "../../helpers/temp.js";
import { hook, share } from "../../hooks/support.js";

const USE = hook(`
	pi.command("use", { async handler(ctx) { return { status: JSON.stringify(await globalThis.__use(ctx)) }; } });
	pi.on("context", (_, ctx) => { try { ctx.sessions; } catch (error) { globalThis.__locked?.(error.message); } });`);

/** A session in a project with a saved session, and one of another project. */
async function start(options: TestSessionOptions = {}) {
	const [agentDir, cwd] = [tempAgentDir(), tempDir("pi-project-")];
	const save = (of: string, id: string) => {
		const dir = join(agentDir, "sessions", sessionDirName(of));
		const timestamp = "2026-01-01T00:00:00.000Z";
		mkdirSync(dir, { recursive: true });
		const entries = [
			{ type: "session", version: 1, id, timestamp, cwd: of },
			{ type: "message", timestamp, message: { role: "user", content: `needle of ${id}`, timestamp: 0 } },
		];
		writeFileSync(join(dir, `x_${id}.jsonl`), entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
	};
	save(cwd, "here");
	save("/elsewhere", "there");
	const t = await startSession({ agentDir, cwd, session: { kind: "new" }, ...options, hooks: { "use.ts": USE } });
	t.provider.on(() => "ok");
	const use = async (action: (ctx: HookEventContext) => unknown) => {
		share("__use", action);
		const result = await t.session.prompt("/use");
		if (!("status" in result) || typeof result.status !== "string") throw new Error("no status");
		return JSON.parse(result.status);
	};
	return { ...t, use };
}

const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id);

test("a search finds the sessions of the project, of all projects, and the running one if asked", async () => {
	const { session, use } = await start();
	await session.prompt("a needle");
	expect(await use(async ({ sessions }) => ids(await sessions.search("NEEDLE")))).toEqual(["here"]);
	const all = await use(async ({ sessions }) => ids(await sessions.search("needle", { everywhere: true })));
	expect(all.sort()).toEqual(["here", "there"]);
	const own = await use(async ({ sessions }) => ids(await sessions.search("needle", { includeCurrent: true })));
	expect(own).toEqual([session.sessionId, "here"]);
	expect(
		await use(async ({ sessions }) => ids(await sessions.search("needle", { includeCurrent: true, limit: 1 }))),
	).toEqual([session.sessionId]);
	expect(await use(async ({ sessions }) => (await sessions.read("ther")).entries.length)).toBe(2);
});

test("a sub-session searches the sessions of the project, not those next to it", async () => {
	const { session, use, provider } = await start();
	await session.prompt("hi");
	const found = await use(async (ctx) => {
		const child = await createAgentSession({
			parent: ctx.session,
			hooks: [
				(pi) =>
					pi.command("find", {
						handler: async ({ sessions }) => ({ status: ids(await sessions.search("needle")).join() }),
					}),
			],
		});
		onTestFinished(() => child.dispose());
		await child.start();
		await child.send("a needle here");
		return child.prompt("/find");
	});
	expect(found).toMatchObject({ status: "here" });
	expect(provider.requests).toHaveLength(2);
});

test("malformed arguments are refused by name, and context handlers have no sessions", async () => {
	const locked: string[] = [];
	share("__locked", (message: string) => locked.push(message));
	const { session, use } = await start();
	const refusals = await use(async ({ sessions }) => {
		const { search, read } = sessions as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
		const calls = [
			[search, 7],
			[search, " "],
			[search, "a", 7],
			[search, "a", { limit: 0 }],
			[search, "a", { everywhere: 1 }],
			[search, "a", { signal: 1 }],
			[read],
			[read, "a", { from: -1 }],
			[read, "a", { limit: 1.5 }],
		] as const;
		return Promise.all(
			calls.map(([call, ...args]) => call?.(...args).catch(({ code, message }) => `${code}: ${message}`)),
		);
	});
	expect(refusals).toEqual([
		"bad_arguments: ctx.sessions.search expects a text to find, not 7",
		"bad_arguments: ctx.sessions.search expects a text to find, not  ",
		"bad_arguments: ctx.sessions.search expects options as an object, not 7",
		"bad_arguments: ctx.sessions.search expects a limit of 1 or more, not 0",
		"bad_arguments: ctx.sessions.search expects true or false for everywhere and includeCurrent",
		"bad_arguments: ctx.sessions.search expects an AbortSignal as signal",
		"bad_arguments: ctx.sessions.read expects the id of a session, not undefined",
		"bad_arguments: ctx.sessions.read expects the index of an entry as from, not -1",
		"bad_arguments: ctx.sessions.read expects a limit of 1 or more, not 1.5",
	]);
	await session.prompt("hi");
	expect(locked.at(-1)).toBe("ctx.sessions cannot be used in a context handler: its answer may depend on event alone");
});

test("an abort ends a search", async () => {
	const { use } = await start();
	const signal = AbortSignal.abort(new Error("enough"));
	expect(await use(({ sessions }) => sessions.search("needle", { signal }).catch(({ message }) => message))).toBe(
		"enough",
	);
});

const LOOKS = `export default (pi) => pi.on("turn_end", async (_, ctx) => {
	const found = await ctx.sessions.search("needle");
	await ctx.saveEntry({ type: "looked", found: found.length, read: await ctx.sessions.read("here").catch(({ code }) => code) });
});`;

test("a replay has no other sessions, and the bench counts what it does not play", async () => {
	const cwd = tempDir("pi-project-");
	const lines = idleSession(null).map((entry) => JSON.stringify(entry));
	writeFiles(cwd, { "session.jsonl": `${lines.join("\n")}\n`, "looks.ts": LOOKS });
	const of = async (name: "hooks" | "context", ...args: string[]) => {
		const parsed = parseSubcommand(name, args);
		if (parsed.kind !== "subcommand") throw new Error("expected a command");
		return run(parsed.command, { ...parsed.options, cwd });
	};
	const replayed = await of("hooks", "test", join(cwd, "looks.ts"), "--session", join(cwd, "session.jsonl"));
	expect(replayed.stdout).toContain('would save {"type":"looked","found":0,"read":"log_not_found"}');
	const benched = await of(
		"context",
		"bench",
		"--json",
		"--sessions",
		join(cwd, "session.jsonl"),
		join(cwd, "looks.ts"),
	);
	const [{ results }] = JSON.parse(benched.stdout).sessions;
	expect(results.at(-1).unplayed).toEqual({ "searches and reads of other sessions": 30 });
});
