import { Hash } from "node:crypto";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ContextMessage, TracedMessage } from "../../src/context/context-message.js";
import { digestContext, RunningDigest } from "../../src/context/digest.js";
import { RequestMemo, TokenSum } from "../../src/context/request-memo.js";
import { estimateTokens } from "../../src/context/tokens.js";
import type { AppMessage } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistant, assistantMessage, result, user } from "../helpers/entries.js";

const items = (count: number, first = 0): ContextMessage[] =>
	Array.from({ length: count }, (_, at) => freezeDeep({ message: user(`u${first + at}`).message, entryIndex: at }));
const traced = (...messages: AppMessage[]): TracedMessage[] =>
	messages.map((message, entryIndex) => ({ message: freezeDeep(message), entryIndex, origin: { kind: "entry" } }));
const digestOf = (list: readonly ContextMessage[]) => digestContext(list.map(({ message }) => message));

test("a digest covers what is sent, and nothing else", () => {
	const { message } = result("c1", "text");
	if (message.role !== "toolResult") throw new Error("not a result");
	const digest = digestContext([message]);
	expect(digest).toMatch(/^[0-9a-f]{64}$/);
	for (const change of [{ toolCallId: "c2" }, { toolName: "bash" }, { isError: true }, { content: [] }]) {
		expect(digestContext([{ ...message, ...change }])).not.toBe(digest);
	}
	expect(digestContext([{ ...message, timestamp: 9, details: { a: 1 } }])).toBe(digest);
	const [asked, replied] = [user("a").message, assistantMessage("a")];
	expect(digestContext([asked])).not.toBe(digestContext([replied]));
	expect(digestContext([{ ...replied, usage: { ...replied.usage, input: 9 }, timestamp: 8 }])).toBe(
		digestContext([replied]),
	);
	expect(digestContext([asked, replied])).not.toBe(digestContext([replied, asked]));
});

test("a message that may change is hashed again, a frozen one is hashed once", () => {
	const message = { role: "user" as const, content: "a", timestamp: 0 };
	const before = digestContext([message]);
	message.content = "b";
	expect(digestContext([message])).not.toBe(before);
	const frozen = freezeDeep(user("once").message);
	const spy = vi.spyOn(JSON, "stringify");
	onTestFinished(() => spy.mockRestore());
	const calls = () => {
		spy.mockClear();
		digestContext([frozen]);
		return spy.mock.calls.length;
	};
	expect([calls(), calls()]).toEqual([1, 0]);
});

test("a context that grows is hashed from the last saved state, also after many small additions", () => {
	const all = items(1200);
	const running = new RunningDigest();
	const spy = vi.spyOn(Hash.prototype, "update");
	onTestFinished(() => spy.mockRestore());
	/** Characters that the next digest hashes, without those of new messages. */
	const hashed = (list: readonly ContextMessage[]) => {
		const expected = digestOf(list);
		spy.mockClear();
		expect(running.update(list)).toBe(expected);
		return spy.mock.calls.reduce((sum, [data]) => sum + String(data).length, 0);
	};
	const one = 44; // base64 of a SHA-256
	expect(hashed(all.slice(0, 1))).toBe(one);
	hashed(all.slice(0, 1000));
	expect(hashed(all.slice(0, 1000))).toBe(0);
	for (let length = 1001; length <= 1100; length++) expect(hashed(all.slice(0, length))).toBe(one);
	// A change near the end starts at a state close to it; one at the start hashes everything.
	expect(hashed([...all.slice(0, 1090), ...items(3, 5000)])).toBeLessThanOrEqual(one * 2 * 256);
	expect(hashed(items(300, 9000))).toBe(300 * one);
	expect(hashed([])).toBe(0);
	expect(hashed(all.slice(0, 512))).toBe(512 * one);
});

test("tokens are counted for the part that changed", () => {
	const sum = new TokenSum();
	const lists = [
		traced(user("a").message, assistantMessage("b"), user("c".repeat(400)).message),
		traced(user("a").message),
		[],
		traced(user("d").message, assistantMessage("e")),
	];
	for (const list of lists) {
		const expected = list.reduce((total, { message }) => total + estimateTokens(message), 0);
		expect([sum.update(list), sum.update(list)]).toEqual([expected, expected]);
	}
});

test("a request is the caller's own list, and groups that depend on each other are repaired together", () => {
	const memo = new RequestMemo();
	const [call, answer] = [assistant("", [{ id: "c1" }]).message, result("c1").message];
	const good = traced(user("a").message, call, answer, user("b").message);
	const first = memo.request(good);
	first.messages.length = 0;
	expect(memo.request(good).messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "user"]);
	// A result without its call is dropped; a second use of an id gets another one; a missing result is made.
	const orphan = memo.request(traced(user("a").message, answer, user("b").message));
	expect(orphan.messages.map(({ role }) => role)).toEqual(["user", "user"]);
	const stray = memo.request(traced(user("a").message, call, result("other").message, user("b").message));
	expect(stray.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "user"]);
	expect(stray.messages[2]).toMatchObject({ toolCallId: "c1", isError: true });
	const twice = memo.request(traced(user("a").message, call, answer, call, answer)).messages;
	const ids = twice.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
	expect(new Set(ids).size).toBe(2);
	const double = assistant("", [{ id: "x" }, { id: "x" }]).message;
	const within = memo.request(traced(user("a").message, double, result("x").message, result("x").message)).messages;
	expect(new Set(within.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []))).size).toBe(
		2,
	);
	const late = memo.request(traced(user("a").message, call, user("b").message, answer)).messages;
	expect(late.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "user"]);
});
