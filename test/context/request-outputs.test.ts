import type { Message } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildContext, type ContextStage } from "../../src/context/build-context.js";
import type { BuiltContext } from "../../src/context/context-message.js";
import { coreOfReply, PreambleRecorder, readRecordedPreamble } from "../../src/context/recorded-preamble.js";
import { RequestMemo } from "../../src/context/request-memo.js";
import type { MessageEntry, SessionEntry } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { readEntry } from "../../src/log/read-entry.js";
import { sectionsForTools } from "../../src/resources/system-prompt.js";
import { assistant, result, session, user } from "../helpers/entries.js";
import { judgeConversation, type WireMessage } from "../helpers/wire-message.js";
import { hookOutput } from "./hook-outputs.js";
import { core } from "./preamble-support.js";

const CHAIN = 8;
/** Number of answers; the suite uses a part of them. */
const RUNS = Math.ceil(Number(process.env.PI_TEST_RUNS ?? 2400) / CHAIN);

const ENTRIES = freezeDeep(
	session(
		user("u1"),
		assistant("", [{ id: "a" }]),
		result("a", "read"),
		assistant("done"),
		user("u2"),
		assistant("", [{ id: "b" }]),
		result("b"),
		user("u3"),
	),
);
const CORE = core(["read", "bash", "edit", "write"]);

const id = fc.constantFrom(
	"base",
	"tools",
	"context-files",
	"skills",
	"environment",
	"0:a",
	"1:b",
	"7:c",
	"3:",
	"odd",
	"",
	"__proto__",
);
const text = fc.oneof(
	fc.constantFrom("", "  \n", "Be kind.", "\ud800 half", "\u0000", "x".repeat(9000)),
	fc.string({ maxLength: 20 }),
);
const anySection = fc.oneof(
	{ weight: 8, arbitrary: fc.record({ id, text }) },
	{
		weight: 1,
		arbitrary: fc.constantFrom<unknown>(null, "base", { id: "base" }, { text: "x" }, { id: 1, text: "x" }, []),
	},
);
/** An edit of the sections that a handler gets, or a list of its own. */
const systemPrompt = fc.oneof(
	{ weight: 5, arbitrary: fc.constant("keep" as const) },
	{ weight: 4, arbitrary: fc.record({ drop: fc.nat(6), add: fc.array(anySection, { maxLength: 2 }) }) },
	{ weight: 2, arbitrary: fc.array(anySection, { maxLength: 5 }) },
	{ weight: 1, arbitrary: fc.constantFrom<unknown>("text", {}, 7, null) },
);
const tools = fc.oneof(
	{ weight: 4, arbitrary: fc.constant(undefined) },
	{ weight: 5, arbitrary: fc.shuffledSubarray(["read", "bash", "edit", "write"]) },
	{
		weight: 1,
		arbitrary: fc.constantFrom<unknown>(
			["read", "read"],
			["fly"],
			"read",
			[null],
			{},
			new Proxy([], {
				get() {
					throw new Error("no");
				},
			}),
		),
	},
);
/** Without answers whose fields differ from read to read: nothing can compute those again. */
const steady = hookOutput.filter(({ outcome }) => outcome !== "open");
const output = fc.record({ messages: fc.option(steady, { freq: 2 }), systemPrompt, tools });
type Output = typeof output extends fc.Arbitrary<infer T> ? T : never;

function stageOf({ messages: change, systemPrompt: prompt, tools: names }: Output, place: number): ContextStage {
	return {
		hook: `/hooks/${place}.ts`,
		name: String(place),
		async transform(messages, given) {
			const fields = { systemPrompt: sectionsOf(prompt, given.systemPrompt), tools: names };
			try {
				const changed: unknown = await change?.answer(messages);
				if (typeof changed !== "object" || changed === null || !("messages" in changed)) return fields;
				// Some lists cannot be read.
				return Object.defineProperty(fields, "messages", { enumerable: true, get: () => changed.messages });
			} catch {
				return undefined; // the runner reports a handler that throws
			}
		},
	};
}

function sectionsOf(prompt: Output["systemPrompt"], given: readonly { id: string; text: string }[]): unknown {
	if (prompt === "keep") return undefined;
	if (typeof prompt !== "object" || prompt === null || !("drop" in prompt)) return prompt;
	const { drop, add } = prompt as { drop: number; add: unknown[] };
	return [...given.filter((_, at) => at !== drop), ...add];
}

function onTheWire(message: Message): WireMessage {
	const blocks =
		typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
	const thinking = blocks.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join("");
	const toolCalls = blocks.flatMap((block) => (block.type === "toolCall" ? [block] : []));
	return {
		role: message.role === "toolResult" ? "tool" : message.role,
		text: blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
		images: blocks.filter(({ type }) => type === "image").length,
		...(thinking && { thinking }),
		...(message.role === "toolResult" && { toolCallId: message.toolCallId }),
		...(toolCalls.length > 0 && { toolCalls }),
	};
}

/** What is wrong with a request, one sentence each. */
function judge({ messages, preamble }: BuiltContext): string[] {
	const faults = judgeConversation(new RequestMemo().request(messages).messages.map(onTheWire));
	const { promptSections, tools: offered, systemPrompt: sent } = preamble;
	const names = offered.map(({ name }) => name);
	const ids = promptSections.map((section) => section.id);
	if (sent.trim() === "") faults.push("the system prompt is empty");
	if (promptSections.some((section) => section.text.trim() === "")) faults.push("a section is empty");
	if (new Set(ids).size < ids.length) faults.push("two sections have one id");
	if (new Set(names).size < names.length) faults.push("a tool is offered twice");
	if (!offered.every((tool) => CORE.tools.includes(tool))) faults.push("an unknown tool is offered");
	return faults;
}

/** An entry as it is read from the file. */
function throughFile(entry: MessageEntry): SessionEntry {
	return freezeDeep(readEntry(JSON.parse(JSON.stringify(entry))));
}

test(`of ${RUNS * CHAIN} random answers that change messages, prompt and tools at once, no illegal request results, and the record reproduces each`, async () => {
	const recorder = new PreambleRecorder();
	const entries: SessionEntry[] = [...ENTRIES];
	const counts = { answers: 0, used: 0, dropped: 0, changed: 0 };
	await fc.assert(
		fc.asyncProperty(fc.array(output, { minLength: CHAIN, maxLength: CHAIN }), async (outputs) => {
			const stages = outputs.map(stageOf);
			const context = await buildContext(ENTRIES, stages, { preamble: CORE });
			counts.answers += outputs.length;
			counts.dropped += context.problems.length;
			counts.used += outputs.length - context.problems.length;
			if (context.preamble.isChanged) counts.changed++;
			expect(judge(context)).toEqual([]);
			const { systemDigest: system, toolsDigest } = context.preamble;
			const preamble = recorder.describe(context.preamble, entries);
			const reply = {
				...assistant("ok"),
				context: { digest: "", messages: 0, tokens: 0, system, tools: toolsDigest, preamble },
			};
			entries.push(throughFile(reply));
			recorder.recorded(entries.length - 1);
			const recorded = coreOfReply(entries, entries.length - 1, sectionsForTools);
			expect(recorded).not.toBeNull();
			if (!recorded) return;
			const again = await buildContext(ENTRIES, stages, { preamble: recorded });
			expect([again.preamble.systemDigest, again.preamble.toolsDigest]).toEqual([system, toolsDigest]);
			const sent = readRecordedPreamble(entries, entries.length - 1)?.sent;
			expect(sent?.sections).toEqual(JSON.parse(JSON.stringify(context.preamble.promptSections)));
			expect(sent?.tools).toEqual(JSON.parse(JSON.stringify(context.preamble.tools)));
		}),
		{ seed: 20261122, numRuns: RUNS },
	);
	expect(counts.answers).toBe(RUNS * CHAIN);
	// Each must be common, or the property would prove little.
	expect(Math.min(counts.used, counts.dropped, counts.changed * 4), JSON.stringify(counts)).toBeGreaterThan(RUNS);
	if (process.env.PI_TEST_RUNS) console.log(JSON.stringify(counts));
}, 600_000);
