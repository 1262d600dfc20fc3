import { describe, expect, test } from "vitest";
import { run } from "../../cli/subcommands/run.js";
import { startSession, type TestSession, type TestSessionOptions } from "../../helpers/session.js";

const SETTINGS = { compaction: { enabled: true, reserveTokens: 900, keepRecentTokens: 15 } };

/** Long enough for a summary to be shorter. */
const FIRST_ANSWER = `first answer${" with its reasons".repeat(20)}`;

/** A session with two questions that was compacted before the second. */
async function compacted(options: TestSessionOptions = {}): Promise<TestSession> {
	const started = await startSession({ userSettings: SETTINGS, modelOptions: { contextWindow: 100_000 }, ...options });
	started.provider.reply(FIRST_ANSWER, "second answer", "SUMMARY");
	await started.session.prompt("first question");
	await started.session.prompt("second question");
	await started.session.prompt("/compact");
	return started;
}

const texts = ({ session }: TestSession) =>
	session.context.messages.map(({ message }) =>
		JSON.stringify(message.role === "bashExecution" ? "" : message.content),
	);

describe("/uncompact", () => {
	test("restores the replaced messages with one more entry and reports it", async () => {
		const started = await compacted();
		const { session, provider } = started;
		expect(texts(started)[0]).toContain("SUMMARY");
		const outcome = await session.prompt("/uncompact");
		expect(outcome).toEqual({
			kind: "command",
			status: expect.stringMatching(/^Undid the compaction in entry 5: \d+ → \d+ tokens$/),
		});
		expect(session.entries.slice(5)).toEqual([
			expect.objectContaining({ type: "compaction", summary: "SUMMARY" }),
			expect.objectContaining({ type: "request_usage", purpose: "compaction" }),
			{ type: "context_undo", timestamp: expect.any(String), entryIndex: 5 },
		]);
		provider.reply("third answer");
		await session.prompt("third question");
		expect(started.sent(4)).toEqual([
			"user: first question",
			`assistant: ${FIRST_ANSWER}`,
			"user: second question",
			"assistant: second answer",
			"user: third question",
		]);
		await expect(session.prompt("/uncompact")).resolves.toEqual({
			kind: "command",
			status: "No compaction to undo",
		});
	});

	test("a later compaction ignores the undone one", async () => {
		const started = await compacted();
		await started.session.prompt("/uncompact");
		started.provider.reply("SECOND SUMMARY");
		await started.session.prompt("/compact");
		expect(JSON.stringify(started.sent(4))).toContain("first question");
		expect(JSON.stringify(started.sent(4))).not.toContain("SUMMARY");
		expect(texts(started)[0]).toContain("SECOND SUMMARY");
	});

	test("asks before the request gets too long; without a user it requires the explicit argument", async () => {
		const started = await compacted({
			ui: {
				confirm: async (_, message) => {
					asked.push(message);
					return false;
				},
			},
		});
		const asked: string[] = [];
		const { session } = started;
		const model = session.model;
		if (!model) throw new Error("no model");
		await session.setModel({ ...model, id: "small", contextWindow: 1200 });
		const outcome = await session.prompt("/uncompact");
		const why =
			/^Without the compaction, the context has about \d+ tokens, more than the auto-compaction threshold of \d+: pi would compact again immediately$/;
		expect(asked).toEqual([expect.stringMatching(why)]);
		expect(outcome).toMatchObject({ status: expect.stringContaining("Nothing was undone") });
		expect(session.entries.some(({ type }) => type === "context_undo")).toBe(false);
		await session.prompt("/uncompact anyway");
		expect(session.entries.at(-1)).toMatchObject({ type: "context_undo", entryIndex: 5 });
	});

	test("every request matches its record: before the compaction, after it and after its undo", async () => {
		const started = await compacted({ session: { kind: "new" } });
		const { session, provider, agentDir, cwd } = started;
		provider.reply("third answer", "fourth answer");
		await session.prompt("third question");
		await session.prompt("/uncompact");
		await session.prompt("fourth question");
		await session.dispose();
		const command = { name: "context", verify: true } as const;
		expect(await run(command, { agentDir, cwd })).toMatchObject({
			code: 0,
			stdout: "All 4 requests match the recorded ones\n",
		});
		const at = await run({ name: "context", verify: false, at: 6 }, { agentDir, cwd });
		expect(at.stdout).toContain("by the compaction in entry 5");
	});

	test("is refused while the agent runs", async () => {
		const started = await compacted();
		const { session, provider } = started;
		const refused: unknown[] = [];
		provider.reply(async () => {
			refused.push(await session.prompt("/uncompact").catch((error: unknown) => error));
			return "third answer";
		});
		await session.prompt("third question");
		expect(refused).toEqual([expect.objectContaining({ code: "session_busy" })]);
	});
});
