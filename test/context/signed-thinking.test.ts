import type { AssistantMessage, ThinkingContent } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import type { ContextMessage } from "../../src/context/context-message.js";
import type { SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistantMessage, compaction, custom, result, session, user } from "../helpers/entries.js";
import { propertyRuns } from "../helpers/property-blocks.js";

type Block = AssistantMessage["content"][number];

const signed = (thinking: string, thinkingSignature = `sig ${thinking}`): ThinkingContent => ({
	type: "thinking",
	thinking,
	thinkingSignature,
});
const unsigned = (thinking: string): ThinkingContent => ({ type: "thinking", thinking });
const redacted = (payload: string): ThinkingContent => ({ ...signed("", payload), redacted: true });

/** A reply that thinks, says something and calls tools. */
function reply(thinking: readonly ThinkingContent[], ...calls: string[]): SessionEntry {
	const message = assistantMessage(
		"said",
		calls.map((id) => ({ id })),
	);
	const content = [...thinking, ...message.content];
	return { type: "message", timestamp: "2026-01-01T00:00:00.000Z", message: { ...message, content } };
}

/** Two turns; the second one, from entry 5 on, is in its tool loop. */
const OPEN = freezeDeep(
	session(
		user("one"),
		reply([signed("old"), unsigned("plain"), signed("older")], "a"),
		result("a"),
		reply([signed("done")]),
		user("two"),
		reply([signed("first"), redacted("secret")], "b"),
		result("b"),
		reply([signed("second")], "c"),
		result("c"),
	),
);

type Change = (messages: readonly ContextMessage[]) => unknown[];

async function problemsOf(change: Change, entries: readonly SessionEntry[] = OPEN, before: ContextStage[] = []) {
	const stage = {
		hook: "hook",
		transform: async (messages: readonly ContextMessage[]) => ({ messages: change(messages) }),
	};
	const { problems } = await buildContext(entries, [...before, stage]);
	return problems.map(({ hook, rule, position, detail }) => `${hook}: ${rule} ${position} ${detail ?? ""}`.trim());
}

/** Replaces the content of the reply in an entry. */
function edit(index: number, change: (content: readonly Block[]) => readonly Block[], isBare = false): Change {
	return (messages) =>
		messages.map((item) => {
			if (item.entryIndex !== index || item.message.role !== "assistant") return item;
			const message = { ...item.message, content: change(item.message.content) };
			return isBare ? message : { ...item, message };
		});
}

const withoutThinking = (content: readonly Block[]) => content.filter(({ type }) => type !== "thinking");
const map = (change: (block: ThinkingContent) => ThinkingContent) => (content: readonly Block[]) =>
	content.map((block) => (block.type === "thinking" ? change(block) : block));
const unsign = ({ thinkingSignature: _, redacted: __, ...block }: ThinkingContent): ThinkingContent => block;
const refused = (position: number, entry: number) => [`hook: signed_thinking_unchanged ${position} ${entry}`];

describe("while the tool loop of a reply is open, its signed thinking", () => {
	test.each<[string, Change]>([
		["may remain while the rest changes", edit(6, (content) => content.filter(({ type }) => type !== "text"))],
		[
			"may be copied",
			edit(
				6,
				map((block) => ({ ...block })),
			),
		],
		[
			"may be copied without an index",
			edit(
				6,
				map((block) => ({ ...block })),
				true,
			),
		],
		[
			"may go with its reply and results",
			(messages) => messages.filter(({ entryIndex }) => entryIndex !== 6 && entryIndex !== 7),
		],
		[
			"may go with its reply, which a note replaces",
			(messages) => [...messages.slice(0, 5), { role: "user", content: "gone", timestamp: 0 }, ...messages.slice(7)],
		],
		[
			"may get unsigned thinking next to it",
			edit(8, (content) => [...content.slice(0, 1), unsigned("new"), ...content.slice(1)]),
		],
	])("%s", async (_, change) => {
		expect(await problemsOf(change)).toEqual([]);
	});

	test.each<[string, Change, number, number]>([
		["be removed", edit(6, withoutThinking), 5, 6],
		["be removed in part", edit(6, (content) => content.slice(1)), 5, 6],
		["be removed where it is redacted", edit(6, (content) => content.filter((block) => !("redacted" in block))), 5, 6],
		[
			"be changed",
			edit(
				8,
				map((block) => ({ ...block, thinking: "other" })),
			),
			7,
			8,
		],
		[
			"be replaced",
			edit(
				8,
				map(() => unsigned("other")),
			),
			7,
			8,
		],
		["lose its signature", edit(8, map(unsign)), 7, 8],
		[
			"lose the mark of redaction",
			edit(
				6,
				map(({ redacted: _, ...block }) => block),
			),
			5,
			6,
		],
		[
			"get another signature",
			edit(
				8,
				map((block) => ({ ...block, thinkingSignature: "x" })),
			),
			7,
			8,
		],
		["change its order", edit(6, ([a, b, ...rest]) => [b, a, ...rest] as Block[]), 5, 6],
		["come twice", edit(8, ([a, ...rest]) => [a, a, ...rest] as Block[]), 7, 8],
		["be removed from a copy without an index", edit(6, withoutThinking, true), 5, 6],
		["be changed in a copy without an index", edit(8, map(unsign), true), 7, 8],
	])("may not %s", async (_, change, position, entry) => {
		expect(await problemsOf(change)).toEqual(refused(position, entry));
	});

	test("may go if a note of a hook follows, but not be removed", async () => {
		const note = { role: "user", content: "remember", timestamp: 0 };
		expect(await problemsOf((messages) => [...edit(8, withoutThinking)(messages), note])).toEqual(refused(7, 8));
		expect(await problemsOf((messages) => [...messages.slice(0, 5), note])).toEqual([]);
	});

	test("is that of the entry, also for a hook that gets the reply from another hook", async () => {
		const shorten: ContextStage = {
			hook: "first",
			transform: async (messages) => ({
				messages: edit(6, (content) => content.filter(({ type }) => type !== "text"))(messages),
			}),
		};
		expect(await problemsOf((messages) => [...messages], OPEN, [shorten])).toEqual([]);
		expect(await problemsOf(edit(6, withoutThinking), OPEN, [shorten])).toEqual(refused(5, 6));
	});

	test("remains after a compaction during the run, and in the time before the results", async () => {
		const compacted = [...OPEN, compaction(6, "S")];
		expect(await problemsOf(edit(6, withoutThinking), compacted)).toEqual(refused(1, 6));
		expect(await problemsOf(edit(8, withoutThinking), OPEN.slice(0, 9))).toEqual(refused(7, 8));
	});

	test("may be removed once the turn is over, or a prompt follows", async () => {
		expect(await problemsOf(edit(8, withoutThinking), [...OPEN, reply([], "d"), result("d"), reply([])])).toEqual([]);
		expect(await problemsOf(edit(8, withoutThinking), [...OPEN, custom("mark"), user("three")])).toEqual([]);
	});
});

describe("in earlier turns, signed thinking", () => {
	test.each<[string, Change]>([
		["may be removed", edit(2, withoutThinking)],
		["may be removed in part", edit(2, (content) => content.slice(1))],
		["may be removed without an index", edit(2, withoutThinking, true)],
		[
			"may remain without the unsigned",
			edit(2, (content) => content.filter((block) => !("thinking" in block) || "thinkingSignature" in block)),
		],
		["may go with the turn", (messages) => messages.slice(4)],
	])("%s", async (_, change) => {
		expect(await problemsOf(change)).toEqual([]);
	});

	test.each<[string, Change, number, number]>([
		[
			"be changed",
			edit(
				2,
				map((block) => ({ ...block, thinking: `${block.thinking}!` })),
			),
			1,
			2,
		],
		["lose its signature", edit(4, map(unsign)), 3, 4],
		[
			"get another signature",
			edit(
				4,
				map((block) => ({ ...block, thinkingSignature: "x" })),
			),
			3,
			4,
		],
		[
			"be replaced",
			edit(
				4,
				map(() => unsigned("other")),
			),
			3,
			4,
		],
		[
			"be changed in a copy without an index",
			edit(
				4,
				map((block) => ({ ...block, thinking: "x" })),
				true,
			),
			3,
			4,
		],
	])("may not %s", async (_, change, position, entry) => {
		expect(await problemsOf(change)).toEqual(refused(position, entry));
	});
});

test("other replies of a hook are its own affair", async () => {
	const made = {
		...assistantMessage("made up", [{ id: "z" }]),
		content: [signed("mine"), ...assistantMessage("", [{ id: "z" }]).content],
	};
	expect(
		await problemsOf((messages) => [...messages.slice(0, 4), made, result("z").message, ...messages.slice(4)]),
	).toEqual([]);
	const plain = freezeDeep(session(user("u"), reply([unsigned("plain")], "a"), result("a")));
	expect(await problemsOf(edit(2, withoutThinking), plain)).toEqual([]);
	expect(
		await problemsOf(
			edit(
				2,
				map(() => signed("forged")),
			),
			plain,
		),
	).toEqual(refused(1, 2));
});

test("what a frozen request lacked already is not the fault of a hook that keeps it so", async () => {
	const strip: ContextStage = {
		hook: "strip",
		transform: async (messages) => ({ messages: edit(2, withoutThinking)(messages) }),
	};
	expect(
		await problemsOf(
			edit(2, (content) => content.filter(({ type }) => type !== "text")),
			OPEN,
			[strip],
		),
	).toEqual([]);
});

/** Edits of a reply, each with whether it is valid; null: the reply does not allow it. */
const EDITS: readonly {
	name: string;
	apply(content: readonly Block[]): Block[];
	isValid(reply: Shape): boolean | null;
}[] = [
	{ name: "copy", apply: (content) => content.map((block) => ({ ...block })), isValid: () => true },
	{
		name: "change the text",
		apply: (content) => content.map((block) => (block.type === "text" ? { ...block, text: "x" } : block)),
		isValid: () => true,
	},
	{ name: "remove all thinking", apply: withoutThinking, isValid: ({ isOpen, signs }) => !isOpen || signs === 0 },
	{
		name: "remove unsigned thinking",
		apply: (content) => content.filter((block) => block.type !== "thinking" || isSigned(block)),
		isValid: () => true,
	},
	{
		name: "remove the first signed thinking",
		apply: (content) => content.filter((block) => block !== content.find(isSigned)),
		isValid: ({ isOpen, signs }) => !isOpen || signs === 0,
	},
	{ name: "add unsigned thinking", apply: (content) => [unsigned("added"), ...content], isValid: () => true },
	{ name: "forge thinking", apply: (content) => [signed("forged"), ...content], isValid: () => false },
	{
		name: "change a signed thought",
		apply: changeFirst((block) => ({ ...block, thinking: `${block.thinking}!` })),
		isValid: ({ signs }) => signs === 0,
	},
	{
		name: "change a signature",
		apply: changeFirst((block) => ({ ...block, thinkingSignature: `${block.thinkingSignature}!` })),
		isValid: ({ signs }) => signs === 0,
	},
	{ name: "drop a signature", apply: changeFirst(unsign), isValid: ({ signs }) => signs === 0 },
	{
		name: "reverse the thinking",
		apply: (content) => [...content.filter(({ type }) => type === "thinking").reverse(), ...withoutThinking(content)],
		isValid: ({ signs }) => signs < 2,
	},
];

interface Shape {
	isOpen: boolean;
	/** Number of signed blocks. */
	signs: number;
}

function isSigned(block: Block): block is ThinkingContent {
	return block.type === "thinking" && (block.thinkingSignature !== undefined || block.redacted === true);
}

function changeFirst(change: (block: ThinkingContent) => ThinkingContent) {
	return (content: readonly Block[]) => {
		const first = content.find(isSigned);
		return content.map((block) => (block === first && first ? change(first) : block));
	};
}

test("of random edits of a reply exactly the valid ones are used", async () => {
	const thinking = fc.array(fc.constantFrom("signed", "unsigned", "redacted"), { maxLength: 3 });
	const turn = fc.record({ steps: fc.array(thinking, { maxLength: 3 }), end: thinking });
	const counts = { used: 0, refused: 0 };
	await fc.assert(
		fc.asyncProperty(
			...([
				fc.array(turn, { minLength: 1, maxLength: 3 }),
				fc.boolean(),
				fc.nat(),
				fc.constantFrom(...EDITS),
				fc.boolean(),
			] as const),
			async (turns, isRunning, choice, { apply, isValid }, isBare) => {
				let count = 0;
				const blocks = (kinds: readonly string[]) =>
					kinds.map((kind) => {
						const name = `t${count++}`;
						return kind === "signed" ? signed(name) : kind === "unsigned" ? unsigned(name) : redacted(name);
					});
				const open = new Set<number>();
				const entries = session();
				for (const [at, { steps, end }] of turns.entries()) {
					const isLast = isRunning && at === turns.length - 1;
					entries.push(user(`u${at}`));
					for (const step of steps) {
						if (isLast) open.add(entries.length);
						const id = `c${entries.length}`;
						entries.push(reply(blocks(step), id), result(id));
					}
					if (!isLast) entries.push(reply(blocks(end)));
				}
				if (!isRunning) entries.push(user("next"));
				const log = freezeDeep(entries);
				const replies = log.flatMap((entry, index) => (messageIn(entry)?.role === "assistant" ? [index] : []));
				const index = replies[choice % replies.length];
				if (index === undefined) return;
				const message = messageIn(log[index]);
				const content = message?.role === "assistant" ? message.content : [];
				// Without an index, calls tell which reply a copy is of.
				const withoutIndex = isBare && content.some(({ type }) => type === "toolCall");
				const problems = await problemsOf(edit(index, apply, withoutIndex), log);
				const expected = isValid({ isOpen: open.has(index), signs: content.filter(isSigned).length });
				expect(problems.map((problem) => problem.replace(/ \d+ /, " "))).toEqual(
					expected ? [] : [`hook: signed_thinking_unchanged ${index}`],
				);
				counts[expected ? "used" : "refused"]++;
			},
		),
		propertyRuns(300, 20261126),
	);
	expect(Math.min(counts.used, counts.refused), JSON.stringify(counts)).toBeGreaterThan(30);
});

function messageIn(entry: SessionEntry | undefined) {
	return entry?.type === "message" && "message" in entry
		? (entry.message as AssistantMessage | { role: "user" })
		: null;
}
