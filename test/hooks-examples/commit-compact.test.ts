import { expect, test } from "vitest";
import { isCompactionEntry } from "../../src/log/entry.js";
import { text, toolCall } from "../helpers/loopback-provider.js";
import { startSession, type TestSessionOptions } from "../helpers/session.js";
import { example } from "./example.js";

const COMMIT = [toolCall("bash", { command: "echo git && true git commit -m x" })];

async function start(percentOfWindow: number, options: TestSessionOptions = {}) {
	const started = await startSession({
		hookFiles: [example("commit-compact.ts")],
		modelOptions: { contextWindow: 100_000 },
		userSettings: { compaction: { enabled: false, keepRecentTokens: 1 } },
		...options,
	});
	const { session, provider } = started;
	provider.reply({ content: [text("explained")], usage: { input: percentOfWindow * 1000, output: 1 } });
	await session.prompt("explain");
	return { ...started, compactions: () => session.entries.filter(isCompactionEntry).length };
}

test("after a commit, a large context is compacted at the end of the turn, before the next request", async () => {
	const { session, provider, sent, compactions, notices } = await start(60);
	provider.reply({ content: COMMIT, usage: { input: 60_000, output: 1 } }, "SUMMARY OF IT", "done");
	await session.prompt("commit it");
	expect(compactions()).toBe(1);
	expect(sent(3).join()).toContain("what remains to be done after the commit");
	expect(sent(4).join()).toContain("SUMMARY OF IT");
	expect(notices()).toEqual([]);
});

test.each([
	["a context below the share", 40, COMMIT],
	["another command", 60, [toolCall("bash", { command: "git status || true" })]],
	["a commit that failed", 60, [toolCall("bash", { command: "true git commit; false" })]],
])("%s is not compacted", async (_, percent, calls) => {
	const { session, provider, compactions } = await start(percent);
	provider.reply({ content: calls, usage: { input: percent * 1000, output: 1 } }, "done");
	await session.prompt("go");
	expect(compactions()).toBe(0);
});

test("the flag --commit-compact chooses the share", async () => {
	const { session, provider, compactions } = await start(40, {
		readFlags: () => ({ values: { "commit-compact": "30" }, problem: null }),
	});
	provider.reply({ content: COMMIT, usage: { input: 40_000, output: 1 } }, "SUMMARY", "done");
	await session.prompt("go");
	expect(compactions()).toBe(1);
});
