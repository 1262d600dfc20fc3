import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run } from "../../cli/subcommands/run.js";
import { startSession, type TestSession } from "../../helpers/session.js";

/** `/tail` replaces all messages so far with one line. */
const TAIL = `
export default (pi) => {
	pi.on("context", ({ entries, messages }) => {
		const mark = entries.findLastIndex(({ type }) => type === "tail_mark");
		if (mark < 0) return;
		const kept = messages.filter(({ entryIndex }) => entryIndex !== null && entryIndex > mark);
		return { messages: [{ role: "user", content: "[Earlier: SIZE]", timestamp: 0 }, ...kept] };
	});
	pi.command("tail", { handler: async (ctx) => { await ctx.saveEntry({ type: "tail_mark" }); await ctx.rebuildContext(); } });
};`;
const NOTES = `export default (pi) => pi.command("note", { handler: async (ctx) => { await ctx.saveEntry({ type: "note" }); } });`;

/** A session whose context a hook changed: messages 1 and 2, the mark 3, messages 4 and 5. The hook's file is deleted. */
/** A window in which even a message of 2 MB fits. */
const LARGE = { contextWindow: 10_000_000 };

async function orphan(hook = TAIL.replace("SIZE", "sums")): Promise<TestSession & { file: string }> {
	const made = await startSession({ session: { kind: "new" }, hooks: { "tail.ts": hook }, modelOptions: LARGE });
	made.provider.reply("2", "4");
	await made.session.prompt("what is 1 + 1?");
	await made.session.prompt(hook === NOTES ? "/note" : "/tail");
	await made.session.prompt("and 2 + 2?");
	const file = made.session.sessionFile ?? "";
	await made.session.dispose();
	rmSync(join(made.agentDir, "hooks", "tail.ts"));
	return { ...made, file };
}

const reopen = ({ agentDir, cwd, provider, file }: TestSession & { file: string }) =>
	startSession({ agentDir, cwd, provider, session: { kind: "open", target: file }, modelOptions: LARGE });

describe("a session whose hook is not loaded", () => {
	test("reports how the last request would differ, and continues without the hook unless frozen", async () => {
		const left = await orphan();
		const again = await reopen(left);
		expect(again.notices()).toEqual([
			"No loaded hook knows these entries of the session: tail_mark (1); pi keeps and ignores them · " +
				"the last request had 2 messages, about 15 tokens; without their hooks it would have 3 messages, about 20 tokens",
		]);
		expect(again.session.missingHooks).toEqual({
			types: new Map([["tail_mark", 1]]),
			turnedOff: [],
			damagedLines: 0,
			difference: {
				isPreambleDifferent: false,
				reply: 5,
				sent: { messages: 2, tokens: 15 },
				now: { messages: 3, tokens: 20 },
				canFreeze: true,
			},
		});
		again.provider.reply("6");
		await again.session.prompt("and 3 + 3?");
		expect(again.sent(3)).toHaveLength(5);
		await again.session.dispose();
		// The last request now equals the context of the entries, so there is no difference to report.
		const third = await reopen(left);
		expect(third.notices()).toEqual([expect.stringMatching(/; pi keeps and ignores them$/)]);
		expect(third.session.missingHooks?.difference).toBeNull();
	});

	test("reports damaged lines as damaged, with and without entries of missing hooks", async () => {
		const left = await orphan();
		const lines = readFileSync(left.file, "utf8").split("\n");
		// The first question.
		lines[1] = "garbage";
		writeFileSync(left.file, lines.join("\n"));
		const again = await reopen(left);
		expect(again.notices()).toEqual([
			"No loaded hook knows these entries of the session: tail_mark (1); pi keeps and ignores them · " +
				"1 line of the session file is damaged and ignored; details: pi sessions check · " +
				"the last request had 2 messages, about 15 tokens; without them, it would have 2 messages, about 12 tokens",
		]);
		await again.session.dispose();
	});

	test("can be frozen with one entry, so that the next request starts like the last one", async () => {
		const left = await orphan();
		const again = await reopen(left);
		await again.session.freezeContext();
		expect(again.session.entries.slice(6)).toEqual([
			{ type: "context_freeze", timestamp: expect.any(String), entryIndex: 5 },
		]);
		again.provider.reply("6");
		await again.session.prompt("and 3 + 3?");
		expect(again.sent(3)).toEqual([...left.sent(2), "assistant: 4", "user: and 3 + 3?"]);
		await again.session.dispose();
		const third = await reopen(left);
		expect(third.session.missingHooks?.difference).toBeNull();
		await third.session.prompt("/uncompact");
		expect(third.session.context.messages.map(({ entryIndex }) => entryIndex)).toEqual([1, 2, 4, 5, 7, 8]);
	});

	test("has exact requests in pi context: with the hook before the freeze, without it afterwards", async () => {
		const left = await orphan();
		const again = await reopen(left);
		await again.session.freezeContext();
		again.provider.reply("6");
		await again.session.prompt("and 3 + 3?");
		await again.session.dispose();
		const place = { agentDir: left.agentDir, cwd: left.cwd };
		const shown = await run({ name: "context", verify: false }, place);
		expect(shown.stdout).toMatch(/-\s+user\s+\d+ tok\s+cached\s+freeze\s+\[Earlier: sums\]/);
		expect(shown.stdout).toContain("by the freeze in entry 6");
		const verified = await run({ name: "context", verify: true }, place);
		// Only the request of the missing hook cannot be recomputed.
		expect(verified.stdout).toContain("The request answered by entry 5 differs from the recorded one");
	});

	test("asks no question when the entries did not affect the context", async () => {
		const again = await reopen(await orphan(NOTES));
		expect(again.session.missingHooks?.difference).toBeNull();
		expect(again.notices()).toEqual([
			"No loaded hook knows these entries of the session: note (1); pi keeps and ignores them",
		]);
	});

	test("cannot be frozen when the hook's messages were too large to be recorded", async () => {
		const again = await reopen(await orphan(TAIL.replace("SIZE", "x".repeat(2_000_001))));
		expect(again.session.missingHooks?.difference).toMatchObject({ reply: 5, canFreeze: false });
		await expect(again.session.freezeContext()).rejects.toMatchObject({ code: "command_failed" });
		expect(again.session.entries).toHaveLength(6);
	});

	test("is checked again when the user switches to it", async () => {
		const left = await orphan();
		const other = await startSession({
			agentDir: left.agentDir,
			cwd: left.cwd,
			provider: left.provider,
			session: { kind: "new" },
		});
		expect(other.session.missingHooks).toBeNull();
		await other.session.switchSession(left.file);
		expect(other.session.missingHooks?.difference).toMatchObject({ reply: 5, canFreeze: true });
		await other.session.newSession();
		expect(other.session.missingHooks).toBeNull();
	});
});

describe("a session with damaged lines", () => {
	test("reports them, and how the last request would differ without them", async () => {
		const made = await startSession({ session: { kind: "new" }, modelOptions: LARGE });
		made.provider.reply("2", "4");
		await made.session.prompt("what is 1 + 1?");
		await made.session.prompt("and 2 + 2?");
		const file = made.session.sessionFile ?? "";
		await made.session.dispose();
		const lines = readFileSync(file, "utf8").split("\n");
		lines[1] = "garbage";
		writeFileSync(file, lines.join("\n"));
		const again = await reopen({ ...made, file });
		expect(again.notices()).toEqual([
			"1 line of the session file is damaged and ignored; details: pi sessions check · " +
				"the last request had 3 messages, about 20 tokens; without it, it would have 2 messages, about 12 tokens",
		]);
		expect(again.session.missingHooks).toMatchObject({ types: new Map(), damagedLines: 1 });
		await again.session.dispose();
	});
});
