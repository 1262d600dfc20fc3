import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { isMessageEntry, type SessionEntry } from "../../../src/log/entry.js";
import { SessionLog } from "../../../src/log/session-log.js";
import { user } from "../../helpers/entries.js";
import { text, toolCall } from "../../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../../helpers/session.js";
import { tempAgentDir, tempDir } from "../../helpers/temp.js";
import { replyAt } from "../../helpers/usage.js";

/** A dollar per million tokens in and out: a reply of the provider with this usage costs a dollar. */
/** A window in which requests that cost dollars fit. */
const contextWindow = 1_000_000_000;
const PRICED = { modelOptions: { cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }, contextWindow } };
const DOLLAR = { input: 999_990, output: 10 };

const call = { content: [toolCall("ls", {})], usage: DOLLAR };
const done = { content: [text("done")], usage: DOLLAR };

function roles(entries: readonly SessionEntry[]): string[] {
	return entries.map((entry) => (isMessageEntry(entry) ? entry.message.role : entry.type));
}

/** A session whose user answers with `answers`, in order. */
async function startWithBudget(budget: object, answers: boolean[], more: TestSessionOptions = {}) {
	const asked: string[] = [];
	const ui = {
		confirm: async (title: string, message: string) => {
			expect(title).toBe("Continue over budget?");
			asked.push(message);
			return answers.shift() ?? false;
		},
	};
	const test = await startSession({ ...PRICED, userSettings: { budget, compaction: { enabled: false } }, ui, ...more });
	return { ...test, asked };
}

test("a session that has spent its budget asks before the next request, and again after another step", async () => {
	const { session, provider, asked } = await startWithBudget({ perSession: 2 }, [true, true]);
	provider.reply(call, call, call, call, done);
	const result = await session.prompt("go");
	expect(result).toMatchObject({ kind: "run", outcome: { stopped: null } });
	expect(provider.requests.length).toBe(5);
	expect(asked).toEqual([
		"This session has cost $2.00; the budget is $2.00. pi asks again at $4.00.",
		"This session has cost $4.00; the budget is $2.00. pi asks again at $6.00.",
	]);
});

test("a no stops the run with the reason; tool calls have their results, and the next prompt asks again", async () => {
	const { session, provider, asked, notices } = await startWithBudget({ perSession: 1 }, [false, true]);
	provider.reply(call, done);
	const reason =
		"This session has cost $1.00; the budget is $1.00 · raise budget.perSession in the settings to continue";
	expect(await session.prompt("go")).toMatchObject({ kind: "run", outcome: { stopped: reason } });
	expect(notices()).toEqual([reason]);
	expect(provider.requests.length).toBe(1);
	expect(roles(session.entries)).toEqual(["session", "user", "assistant", "toolResult"]);
	expect(session.isRunning).toBe(false);
	expect(await session.prompt("on")).toMatchObject({ outcome: { stopped: null } });
	expect(asked.length).toBe(2);
});

test("a budget changed in the settings applies to the next request; 0 turns it off", async () => {
	const { session, provider, asked } = await startWithBudget({ perSession: 1 }, [true, true]);
	provider.reply(done, done, done, done);
	await session.prompt("one");
	await session.prompt("two");
	expect(asked.length).toBe(1);
	await session.prompt("/settings budget.perSession 1.5");
	await session.prompt("three");
	expect(asked.at(-1)).toBe("This session has cost $2.00; the budget is $1.50. pi asks again at $3.00.");
	await session.prompt("/settings budget.perSession 0");
	await session.prompt("four");
	expect(asked.length).toBe(2);
});

test("the request for a summary counts, in the log and the statistics too", async () => {
	const { session, provider, asked } = await startWithBudget({ perSession: 3 }, [true]);
	const long = { content: [text(`answer${" with its reasons".repeat(30)}`)], usage: DOLLAR };
	provider.reply(long, done, { content: [text("summary")], usage: DOLLAR }, done);
	await session.prompt("one");
	await session.prompt("two");
	await session.prompt("/settings compaction.keepRecentTokens 1");
	await session.prompt("/compact");
	expect(roles(session.entries).slice(-2)).toEqual(["compaction", "request_usage"]);
	const request = {
		purpose: "compaction",
		provider: "loopback",
		modelId: "scripted",
		usage: { cost: { total: expect.closeTo(1) } },
	};
	expect(session.entries.at(-1)).toMatchObject(request);
	expect(session.stats()).toMatchObject({ cost: expect.closeTo(3), totalMessages: 4, tokens: { total: 3_000_000 } });
	await session.prompt("three");
	expect(asked).toEqual(["This session has cost $3.00; the budget is $3.00. pi asks again at $6.00."]);
});

test("automatic compaction waits until the user has approved the spending", async () => {
	const modelOptions = { ...PRICED.modelOptions, contextWindow: 8192 };
	const userSettings = { budget: { perSession: 1 }, compaction: { keepRecentTokens: 1 } };
	const { session, provider } = await startWithBudget({}, [false], { modelOptions, userSettings });
	provider.reply(call);
	await session.prompt("go");
	expect(provider.requests.length).toBe(1);
});

test("a branch starts with its own budget; replies that it copied belong to the first session", async () => {
	const sessionDir = tempDir();
	const { session, provider, asked } = await startWithBudget({ perSession: 2, perDay: 4 }, [true, true], {
		sessionDir,
		session: { kind: "new" },
	});
	provider.reply(done, done, done, done, done, done);
	await session.prompt("one");
	await session.prompt("two");
	await session.branch(3);
	await session.prompt("again");
	await session.prompt("and again");
	expect(asked).toEqual([]);
	await session.prompt("more");
	expect(asked).toEqual([
		"This session has cost $2.00; the budget is $2.00. pi asks again at $4.00.",
		"Today's sessions have cost $4.00; the budget is $4.00. pi asks again at $8.00.",
	]);
});

test("the budget of a day counts the sessions of all directories, since midnight", async () => {
	vi.useFakeTimers({ now: new Date("2026-03-03T12:00:00.000Z"), toFake: ["Date"] });
	onTestFinished(() => void vi.useRealTimers());
	const agentDir = tempAgentDir();
	const log = SessionLog.create({ dir: join(agentDir, "sessions", "--elsewhere--"), cwd: "/elsewhere" });
	log.appendAll([
		user("go"),
		replyAt("2026-03-02T23:59:59.999Z", { cost: 8 }),
		replyAt("2026-03-03T00:00:00.000Z", { cost: 1 }),
		replyAt("2026-03-03T01:00:00.000Z", { cost: 16, subscription: true }),
	]);
	log.close();
	const { session, provider, asked } = await startWithBudget({ perDay: 2 }, [true], { agentDir });
	provider.reply(call, done);
	await session.prompt("go");
	expect(asked).toEqual(["Today's sessions have cost $2.00; the budget is $2.00. pi asks again at $4.00."]);
	expect(provider.requests.length).toBe(2);
});

test("the sessions of a day are read again after a time, also when the clock is set back", async () => {
	vi.useFakeTimers({ now: new Date("2026-03-03T12:00:00.000Z"), toFake: ["Date", "hrtime"] });
	onTestFinished(() => void vi.useRealTimers());
	const agentDir = tempAgentDir();
	const { session, provider, asked } = await startWithBudget({ perDay: 10 }, [true], { agentDir });
	provider.reply(done, done);
	await session.prompt("go");
	const log = SessionLog.create({ dir: join(agentDir, "sessions", "--elsewhere--"), cwd: "/elsewhere" });
	log.appendAll([user("go"), replyAt("2026-03-03T10:00:00.000Z", { cost: 16 })]);
	log.close();
	vi.setSystemTime(new Date("2026-03-03T11:00:00.000Z"));
	vi.advanceTimersByTime(11_000);
	await session.prompt("on");
	expect(asked).toEqual(["Today's sessions have cost $17.00; the budget is $10.00. pi asks again at $20.00."]);
});

test("without a user the run stops with the reason", async () => {
	const { session, provider } = await startSession({ ...PRICED, userSettings: { budget: { perSession: 1 } } });
	provider.reply(call);
	const { outcome } = Object(await session.prompt("go"));
	expect(outcome.stopped).toMatch(/^This session has cost \$1\.00; the budget is \$1\.00 · raise budget\.perSession/);
});
