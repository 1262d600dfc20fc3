import fc from "fast-check";
import type { ContextMessage } from "../../src/context/context-message.js";
import { isRecord } from "../../src/util/is-record.js";
import { assistantMessage, result, user } from "../helpers/entries.js";

/** A handler of a `context` event, and its expected result. */
export interface HookOutput {
	name: string;
	answer(messages: readonly ContextMessage[]): unknown;
	/**
	 * `judged`: valid or not, as the oracle decides. `refused`: never used. `failed`: the handler threw. `passed`:
	 * no change. `open`: each read may differ; the answer is used or refused, and never sent if invalid.
	 */
	outcome: "judged" | "refused" | "failed" | "passed" | "open";
}

type Edit = (list: unknown[], at: number) => void;

const said = (content: unknown) => ({ role: "user", content, timestamp: 0 });
const place = (length: number, at: number) => (length === 0 ? 0 : at % length);

/** Items that a hook may put into a list, well formed or not. */
const PIECES: readonly unknown[] = [
	said("a note"),
	said([{ type: "text", text: "blocks" }]),
	said(""),
	said("  \n"),
	said([]),
	said([{ type: "image", data: "aGk=", mimeType: "image/png" }]),
	said("x".repeat(5_000)),
	{ message: said("wrapped"), entryIndex: null },
	{ message: said("in place of an entry"), entryIndex: 2 },
	{ message: said("index"), entryIndex: 99 },
	{ message: said("index of the header"), entryIndex: 0 },
	{ message: said("index"), entryIndex: -1 },
	{ message: said("index"), entryIndex: 1.5 },
	{ message: said("index"), entryIndex: Number.NaN },
	{ message: said("index"), entryIndex: "1" },
	{ message: null, entryIndex: 1 },
	assistantMessage("an answer"),
	assistantMessage("", [], "stop"),
	assistantMessage("half", [{ id: "n1" }], "aborted"),
	assistantMessage("", [{ id: "n1" }]),
	assistantMessage("twice", [{ id: "n1" }, { id: "n1" }]),
	assistantMessage("", [{ id: "" }]),
	{ role: "assistant", content: [{ type: "thinking", thinking: "" }], stopReason: "stop", timestamp: 0 },
	{ role: "assistant", content: "a string" },
	{ role: "assistant", content: [{ type: "toolCall", id: "n1", name: "ls", arguments: null }] },
	result("n1").message,
	result("a").message,
	result("nowhere").message,
	result("b", "").message,
	{ role: "toolResult", toolCallId: 7, toolName: "ls", content: [] },
	{ role: "toolResult", toolCallId: "a", toolName: "ls", content: "text" },
	{ role: "bashExecution", command: "ls", output: "", exitCode: 0, cancelled: false, truncated: false, timestamp: 0 },
	{ role: "bashExecution", command: "ls", output: "", excludeFromContext: true, timestamp: 0 },
	{ role: "bashExecution", command: 1 },
	{ role: "system", content: "obey" },
	{ role: "user" },
	{ role: "user", content: { text: "no list" } },
	{ role: "user", content: [{ type: "video" }] },
	{ role: "user", content: [null] },
	user("an entry, not its message"),
	null,
	undefined,
	7,
	"text",
	[],
	() => "function",
	Symbol("symbol"),
	10n,
];

/** Replaces an item that is a wrapped message. */
function change(list: unknown[], at: number, by: (item: ContextMessage) => unknown): void {
	const position = place(list.length, at);
	const item = list[position];
	if (isRecord(item) && isRecord(item.message)) list[position] = by(item as unknown as ContextMessage);
}

const EDITS: readonly Edit[] = [
	(list, at) => list.splice(place(list.length, at), 1),
	(list, at) => list.splice(0, place(list.length, at)),
	(list, at) => list.splice(place(list.length, at)),
	(list, at) => list.push(...list.splice(place(list.length, at), 1)),
	(list, at) => list.splice(place(list.length, at), 0, list[place(list.length, at * 7)]),
	(list) => list.reverse(),
	// A new object in place of one of the list; an object of the list with another index, or without one.
	(list, at) => change(list, at, ({ message, entryIndex }) => ({ message: { ...message }, entryIndex })),
	(list, at) =>
		change(list, at, ({ message, entryIndex }) => ({ message, entryIndex: (entryIndex ?? 0) + (at % 3) - 1 })),
	(list, at) => change(list, at, ({ message }) => ({ message, entryIndex: null })),
	(list, at) => list.splice(0, list.length, ...list.slice(place(list.length, at)), ...list.slice(0, at % 3)),
];

const edit: fc.Arbitrary<Edit> = fc.oneof(
	{ weight: 3, arbitrary: fc.constantFrom(...EDITS) },
	{
		weight: 2,
		arbitrary: fc.constantFrom(...PIECES).map(
			(piece): Edit =>
				(list, at) =>
					list.splice(at % (list.length + 1), 0, piece),
		),
	},
);

/** Random edits of the list, with wrapped or bare messages. */
const edited: fc.Arbitrary<HookOutput> = fc
	.tuple(fc.array(fc.tuple(edit, fc.nat(40)), { maxLength: 3 }), fc.boolean())
	.map(([edits, isBare]) => ({
		name: "edits",
		outcome: "judged",
		answer(messages) {
			const list: unknown[] = isBare ? messages.map(({ message }) => message) : [...messages];
			for (const [change, at] of edits) change(list, at);
			return { messages: list };
		},
	}));

const failing = (): never => {
	throw new Error("read me not");
};
const unreadable = (target: object) => new Proxy(target, { get: failing, ownKeys: failing });
let reads = 0;
/** A message whose role differs on each read. */
const unsteady = () => ({
	get role() {
		return ["user", "assistant", "system"][reads++ % 3];
	},
	content: "unsteady",
	timestamp: 0,
});

function output(name: string, outcome: HookOutput["outcome"], answer: HookOutput["answer"]): HookOutput {
	return { name, outcome, answer };
}

/** Answers that are not a list of messages, and failing handlers. */
const ODD: readonly HookOutput[] = [
	output("passes", "passed", () => undefined),
	output("passes later", "passed", async () => undefined),
	output("answers null", "passed", () => null),
	output("answers false", "passed", () => false),
	...[
		7,
		"text",
		true,
		[],
		{},
		{ messages: null },
		{ messages: "text" },
		{ messages: { length: 1 } },
		{ message: [] },
		{ messages: [], system: "text" },
		() => {},
	].map((value) => output(`answers ${typeof value}`, "refused", () => value)),
	output("an unreadable answer", "refused", () => new Proxy({}, { has: failing, getPrototypeOf: failing })),
	output("an unreadable list", "refused", () => ({
		get messages() {
			return failing();
		},
	})),
	output("a list that is a proxy", "refused", () => ({ messages: unreadable([1]) })),
	output("an unreadable item", "refused", (messages) => ({ messages: [...messages, unreadable({})] })),
	output("an unreadable message", "refused", (messages) => ({
		messages: [...messages, { message: unreadable({ role: "user" }), entryIndex: null }],
	})),
	output("a list of a billion", "refused", () => ({ messages: new Array(1_000_000_000) })),
	output("a cycle", "refused", (messages) => {
		const knot: Record<string, unknown> = said([]);
		knot.content = [{ type: "text", text: "x", knot }];
		return { messages: [...messages, knot] };
	}),
	output("an unsteady message", "open", (messages) => ({ messages: [...messages, unsteady()] })),
	output("throws", "failed", () => failing()),
	output("throws what is no error", "failed", () => {
		throw undefined;
	}),
	output("rejects", "failed", () => Promise.reject(new Error("no"))),
	output("changes the list", "failed", (messages) => ({ messages: (messages as unknown[]).push(said("slipped in")) })),
	output("changes an item", "failed", (messages) => Object.assign(messages[0] ?? {}, { entryIndex: 7 })),
	output("changes a message", "failed", (messages) => Object.assign(messages[0]?.message ?? {}, { role: "system" })),
];

/** Answers of a hook: mostly edits of its input, some invalid values. */
export const hookOutput: fc.Arbitrary<HookOutput> = fc.oneof(
	{ weight: 4, arbitrary: edited },
	{ weight: 1, arbitrary: fc.constantFrom(...ODD) },
);
