import { expect, test } from "vitest";
import { isMessageEntry, messageText } from "../../src/log/entry.js";
import { startSession, type TestSession } from "../helpers/session.js";

/** The messages of the log as `role: text`, with the stop reason of replies. */
function messages({ session }: TestSession): string[] {
	return session.entries.flatMap((entry) => {
		if (!isMessageEntry(entry)) return [];
		const { message } = entry;
		const role = message.role === "assistant" ? `assistant(${message.stopReason})` : message.role;
		return [`${role}: ${messageText(message)}`];
	});
}

test.each(["prompt", "send"] as const)("an abort right after %s stops the run", async (method) => {
	const started = await startSession();
	const { session, provider } = started;
	const run = session[method]("go");
	await session.abort();
	expect(session.activity.state).toBe("idle");
	expect(await run).toMatchObject({ kind: "run", outcome: { last: { stopReason: "aborted" } } });
	expect(provider.requests).toHaveLength(0);
	expect(messages(started)).toEqual(["user: go", "assistant(aborted): "]);
});

test("an abort stops only what was called before it", async () => {
	const started = await startSession();
	const { session, provider } = started;
	provider.reply("fine");
	const first = session.prompt("one");
	const stopped = session.abort();
	await stopped;
	await Promise.all([first, session.prompt("two")]);
	expect(messages(started).slice(-2)).toEqual(["user: two", "assistant(stop): fine"]);
});

test("an abort right after compact stops it", async () => {
	const { session, provider } = await startSession({ userSettings: { compaction: { keepRecentTokens: 10 } } });
	provider.reply("x".repeat(4000), "y".repeat(4000));
	await session.prompt("one");
	await session.prompt("two");
	const compaction = session.compact();
	const failed = expect(compaction).rejects.toMatchObject({ message: "The compaction was canceled" });
	await session.abort();
	await failed;
	expect(provider.requests).toHaveLength(2);
});

test("an abort right after a template stops its prompt", async () => {
	const { session, provider } = await startSession({ files: { ".pi/prompts/ask.md": "Ask $1" } });
	const run = session.prompt("/ask this");
	await session.abort();
	expect(await run).toEqual({ kind: "command", status: null });
	expect(provider.requests).toHaveLength(0);
});

test("a follow-up right after a prompt comes after it", async () => {
	const started = await startSession();
	started.provider.reply("first", "second");
	const run = started.session.prompt("one");
	const followUp = started.session.followUp("two");
	await Promise.all([run, followUp]);
	expect(messages(started)).toEqual(["user: one", "assistant(stop): first", "user: two", "assistant(stop): second"]);
});
