import { expect, test } from "vitest";
import { run } from "../cli/subcommands/run.js";
import { startSession } from "../helpers/session.js";
import { hook, share } from "./support.js";

/** Reports `event.trial` and the type of the last entry, and makes the first message of it. */
const REPORT = hook(`
	pi.on("context", ({ entries, messages, trial }) => {
		globalThis.__seen([entries.at(-1).type, trial]);
		return { messages: [{ role: "user", content: "trial: " + trial, timestamp: 0 }, ...messages] };
	});`);
const OTHER = hook('pi.on("context", () => undefined);');

async function start() {
	let seen: [string, boolean][] = [];
	share("__seen", (call: [string, boolean]) => void seen.push(call));
	const started = await startSession({
		hooks: { "report.ts": REPORT, "other.ts": OTHER },
		session: { kind: "new" },
		userSettings: { compaction: { keepRecentTokens: 20 } },
	});
	const { session, provider } = started;
	provider.reply("a long answer. ".repeat(100), "short");
	await session.prompt("first");
	await session.prompt("second");
	/** The calls since the last call of this function, each once. */
	const calls = () => {
		const found = [...new Map(seen.map((call) => [String(call), call])).values()];
		seen = [];
		return found;
	};
	return { ...started, calls };
}

test("a context that is sent or inspected is no trial, and neither is one that pi computes again", async () => {
	const { session, sent, calls, agentDir, cwd } = await start();
	expect(calls().filter(([, trial]) => trial !== false)).toEqual([]);
	expect(sent(2)[0]).toBe("user: trial: false");
	await session.inspector.inspectContext();
	await session.inspector.inspectContext({ at: 2 });
	expect(calls()).toEqual([["message", false]]);
	const { stdout } = await run(
		{ name: "context", verify: true },
		{ agentDir, cwd, session: session.sessionFile ?? "" },
	);
	expect(stdout.trim()).toBe("All 2 requests match the recorded ones");
	expect(calls().filter(([, trial]) => trial !== false)).toEqual([]);
});

test("a compaction that is planned and shown, and one that may be undone, are trials", async () => {
	const { session, provider, calls } = await start();
	calls();
	provider.reply("## Goal\nThe summary.");
	await session.compact();
	expect(calls()).toEqual([
		["message", false],
		["compaction", true],
		["compaction", false],
	]);
	await session.prompt("/uncompact");
	expect(calls()).toEqual([
		["context_undo", true],
		["context_undo", false],
	]);
});

test("a context without a hook, in /context, is a trial", async () => {
	const { session, calls, agentDir } = await start();
	calls();
	await session.inspector.inspectContext({ without: new Set([`${agentDir}/hooks/other.ts`]) });
	expect(calls()).toContainEqual(["message", true]);
});
