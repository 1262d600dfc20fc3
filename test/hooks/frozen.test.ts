import { expect, test } from "vitest";
import { startSession } from "../helpers/session.js";
import { hook, share } from "./support.js";

/** Tries every way to mutate the input of a `context` handler; returns the rejected attempts by message role. */
const EDITS = hook(`pi.on("context", ({ entries, messages }) => {
	const tries = {
		list: (m) => m.push(1),
		item: (m, i) => { m[i].entryIndex = 7; },
		added: (m, i) => { m[i].extra = 1; },
		removed: (m, i) => { delete m[i].message; },
		message: (m, i) => { m[i].message.content = "edited"; },
		content: (m, i) => { m[i].message.content[0].text = "edited"; },
	};
	messages.forEach((_, i) => {
		for (const [name, edit] of Object.entries(tries)) {
			try { edit(messages, i); globalThis.__edits.push("changed " + i + " " + name); }
			catch (error) { globalThis.__edits.push(error.name); }
		}
	});
});`);

test("the input of context handlers is frozen: list, items and messages, whatever their origin", async () => {
	const edits: string[] = [];
	share("__edits", edits);
	const { session, provider, sent } = await startSession({
		userSettings: { compaction: { enabled: false, keepRecentTokens: 1 }, hookGrants: { "a.ts": ["systemItems"] } },
		hooks: {
			"a.ts": hook(`
				pi.on("turn_end", (_, ctx) => ctx.systemItems.append({ kind: "notification", text: "note" }));
				pi.on("context", ({ messages }) => ({ messages: [...messages, Object.freeze({ role: "user", content: [{ type: "text", text: "added" }], timestamp: 0 })] }));`),
			"b.ts": EDITS,
		},
	});
	provider.reply("a1", "a2", "summary", "a3");
	await session.prompt("one");
	await session.prompt("two");
	await session.compact();
	edits.length = 0;
	await session.prompt("three");
	expect(sent(4)).toEqual([
		expect.stringContaining("<summary>"),
		"user: two",
		expect.stringMatching(/^assistant: /),
		"user: three",
		expect.stringContaining("note"),
		"user: added",
	]);
	expect(new Set(edits)).toEqual(new Set(["TypeError"]));
	expect(edits.length).toBe(6 * 6);
});

test("a mutation is an error of the hook, and the request is unchanged", async () => {
	const { session, provider, sent, notices } = await startSession({
		hooks: {
			"a.ts": hook(
				'let done = false; pi.on("context", ({ messages }) => { if (messages.length && !done) { done = true; messages[0].entryIndex = 5; } });',
			),
		},
	});
	provider.reply("ok");
	await session.prompt("go");
	expect(sent(1)).toEqual(["user: go"]);
	expect(notices()).toEqual([expect.stringMatching(/^context: Cannot assign to read only property 'entryIndex'/)]);
});

test("an answer that is not plain data is rejected, and the previous list is used", async () => {
	const { session, provider, sent, notices } = await startSession({
		hooks: {
			"a.ts": hook(`pi.on("context", ({ messages }) => {
				const cycle = { role: "user", content: "round", timestamp: 0 };
				cycle.self = cycle;
				return messages.length > 0 ? { messages: [...messages, cycle] } : undefined;
			});`),
		},
	});
	provider.reply("ok");
	await session.prompt("go");
	expect(sent(1)).toEqual(["user: go"]);
	expect(notices()).toEqual([
		"context: message 1 is malformed: content must be a text or a list of text and image blocks; its answer was dropped",
	]);
});
