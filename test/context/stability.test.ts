import { expect, test } from "vitest";
import type { ContextStage, TransformInput } from "../../src/context/build-context.js";
import type { ContextMessage } from "../../src/context/context-message.js";
import { FactsOffer, factsWithoutModel } from "../../src/context/facts.js";
import { StabilityWatch } from "../../src/context/stability.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { user } from "../helpers/entries.js";
import { tool } from "./preamble-support.js";

const message = (content: string): ContextMessage => freezeDeep({ message: user(content).message, entryIndex: 1 });
const text = (content: unknown, fields = {}) => ({ role: "user", content, timestamp: 0, ...fields });
const section = (id: string, content: string) => ({ id, text: content });
const INPUT = [message("one"), message("two")];
const PREAMBLE: TransformInput = {
	systemPrompt: [section("base", "Be kind.")],
	tools: [tool("read"), tool("bash")],
	facts: new FactsOffer(() => factsWithoutModel([])),
};

/** One call of a hook: its answer, and what differs from the usual input. */
interface Call {
	answer: unknown;
	entries?: number;
	input?: readonly ContextMessage[];
	preamble?: TransformInput;
}

/** The hooks that are reported when one hook gives these answers. */
async function unstable(...calls: Call[]): Promise<string[]> {
	const found: string[] = [];
	const watch = new StabilityWatch((hook) => found.push(hook));
	for (const { answer, entries = 2, input = INPUT, preamble = PREAMBLE } of calls) {
		const stage: ContextStage = { hook: "/h.ts", transform: async () => answer };
		const [watched] = watch.watch([stage], entries);
		expect(await watched?.transform(input, preamble)).toBe(answer);
	}
	return found;
}

const throwing = {
	get message(): never {
		throw new Error("no");
	},
};

test.each<[string, unknown, unknown]>([
	["equal messages that are other objects", { messages: [text("a")] }, { messages: [text("a")] }],
	["messages that differ in what is not sent", { messages: [text("a")] }, { messages: [text("a", { timestamp: 9 })] }],
	["a message and an item with it", { messages: [text("a")] }, { messages: [{ message: text("a"), entryIndex: 3 }] }],
	["no answers", undefined, undefined],
	["answers that are dropped, and differ", 7, { nothing: 1 }],
	["an answer that cannot be read", { messages: [throwing] }, { messages: [text("a")] }],
	[
		"equal sections and tools",
		{ systemPrompt: [section("a", "x")], tools: ["read"] },
		{ systemPrompt: [section("a", "x")], tools: ["read"] },
	],
])("a hook is stable with %s", async (_, first, second) => {
	expect(await unstable({ answer: first }, { answer: second })).toEqual([]);
});

test.each<[string, unknown, unknown]>([
	["another text", { messages: [text("a")] }, { messages: [text("b")] }],
	["another text at the end", { messages: [text("a"), text("b")] }, { messages: [text("a"), text("c")] }],
	["one message more", { messages: [text("a")] }, { messages: [text("a"), text("b")] }],
	["one message less", { messages: [text("a"), text("b")] }, { messages: [text("a")] }],
	["another section", { systemPrompt: [section("a", "x")] }, { systemPrompt: [section("b", "x")] }],
	["another text of a section", { systemPrompt: [section("a", "x")] }, { systemPrompt: [section("a", "y")] }],
	["other tools", { tools: ["read"] }, { tools: ["bash"] }],
	["an answer after none", undefined, { tools: ["bash"] }],
])("a hook is unstable with %s, and named once", async (_, first, second) => {
	expect(await unstable({ answer: first }, { answer: second }, { answer: first })).toEqual(["/h.ts"]);
});

test.each<[string, Omit<Call, "answer">]>([
	["entries", { entries: 3 }],
	["messages", { input: [message("one"), message("other")] }],
	["number of messages", { input: INPUT.slice(0, 1) }],
	["more messages", { input: [...INPUT, message("three")] }],
	["system prompt", { preamble: { ...PREAMBLE, systemPrompt: [section("base", "Be quick.")] } }],
	["number of sections", { preamble: { ...PREAMBLE, systemPrompt: [...PREAMBLE.systemPrompt, section("b", "")] } }],
	["tools", { preamble: { ...PREAMBLE, tools: PREAMBLE.tools.slice(0, 1) } }],
])("other answers to other %s are stable", async (_, change) => {
	const [a, b] = [{ messages: [text("a")] }, { messages: [text("b")] }];
	expect(await unstable({ answer: a }, { answer: b, ...change })).toEqual([]);
	// The last call counts, not the first.
	expect(await unstable({ answer: a }, { answer: b, ...change }, { answer: a, ...change })).toEqual(["/h.ts"]);
});

test("each stage of a hook is compared with itself", async () => {
	const found: string[] = [];
	const watch = new StabilityWatch((hook) => found.push(hook));
	const stages = ["a", "b"].map(
		(content): ContextStage => ({ hook: "/h.ts", transform: async () => ({ messages: [text(content)] }) }),
	);
	for (let run = 0; run < 2; run++) for (const stage of watch.watch(stages, 2)) await stage.transform(INPUT, PREAMBLE);
	expect(found).toEqual([]);
});

test("a watch without a listener watches", async () => {
	const [stage] = new StabilityWatch().watch(
		[{ hook: "/h.ts", name: "h", transform: async () => ({ tools: [`${Math.random()}`] }) }],
		1,
	);
	expect(stage).toMatchObject({ hook: "/h.ts", name: "h" });
	for (let run = 0; run < 2; run++)
		expect(await stage?.transform(INPUT, PREAMBLE)).toEqual({ tools: [expect.any(String)] });
});
