import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { offeredTools } from "../../src/context/additions.js";
import { buildContext } from "../../src/context/build-context.js";
import { ContextMemo } from "../../src/context/context-memo.js";
import type { BuiltContext, ContextProblem } from "../../src/context/context-message.js";
import { describeProblem } from "../../src/context/describe-problem.js";
import { factsWithoutModel } from "../../src/context/facts.js";
import { type AppendFacts, messageText, type SessionEntry } from "../../src/log/entry.js";
import { assistant, custom, result, session, user } from "../helpers/entries.js";
import { core } from "./preamble-support.js";

const TAKES_ALL: AppendFacts = { instructions: true, tools: true };
const ENTRIES = session(
	user("one"),
	assistant("", [{ id: "a" }, { id: "b" }]),
	custom("mark"),
	result("a"),
	result("b"),
	user("two"),
);

interface Built {
	built: BuiltContext;
	problems: ContextProblem[];
}

/** The context after one hook, `late`, has given an answer. */
async function build(
	answer: unknown,
	{
		entries = ENTRIES,
		takes = TAKES_ALL,
		memo = new ContextMemo(),
	}: { entries?: readonly SessionEntry[]; takes?: AppendFacts; memo?: ContextMemo } = {},
): Promise<Built> {
	const problems: ContextProblem[] = [];
	const built = await buildContext(entries, [{ hook: "/late.ts", name: "late", transform: async () => answer }], {
		memo,
		preamble: core(["read", "bash", "edit"]),
		facts: () => ({ ...factsWithoutModel(entries), appends: takes }),
		onProblem: (problem) => problems.push(problem),
	});
	return { built, problems };
}

const roles = ({ messages }: BuiltContext) => messages.map(({ message }) => message.role);
const front = ({ preamble }: BuiltContext) => preamble.tools.map(({ name }) => name);

describe("what an answer appends", () => {
	test("comes after the message of its entry and the results of its calls, with its tools", async () => {
		const { built } = await build({ append: [{ after: 3, instructions: "Be quick.", tools: ["edit"] }] });
		expect(roles(built)).toEqual(["user", "assistant", "toolResult", "toolResult", "system", "user"]);
		expect(built.messages[4]?.message).toMatchObject({ content: "Be quick.", toolsAdded: [{ name: "edit" }] });
		expect(front(built)).toEqual(["read", "bash"]);
		expect(built.preamble.systemPrompt).not.toContain("edit");
		expect(offeredTools(built)).toEqual(new Set(["read", "bash", "edit"]));
	});

	test("goes into the system prompt and the list of tools if the model cannot take it there", async () => {
		const append = [
			{ after: 1, instructions: "Be quick.", tools: ["read"] },
			{ after: 6, instructions: "Be kind." },
		];
		const { built } = await build({ append }, { takes: { instructions: false, tools: false } });
		expect(roles(built)).not.toContain("system");
		expect(built.preamble.sections.at(-1)?.section).toEqual({ id: "late:appended", text: "Be quick.\n\nBe kind." });
		expect(front(built)).toEqual(["bash", "edit", "read"]);
		const textOnly = await build({ append }, { takes: { instructions: true, tools: false } });
		expect(roles(textOnly.built).filter((role) => role === "system")).toHaveLength(2);
		expect(front(textOnly.built)).toEqual(["bash", "edit", "read"]);
	});

	test("offers a tool once, and never precedes the first message", async () => {
		const append = [
			{ after: 0, instructions: "first", tools: ["edit"] },
			{ after: 6, tools: ["edit"] },
		];
		const { built } = await build({ append });
		expect(roles(built).slice(0, 2)).toEqual(["user", "system"]);
		expect(roles(built).filter((role) => role === "system")).toHaveLength(1);
	});

	test("changes the messages, so that the reply records them", async () => {
		expect((await build({ append: [{ after: 1, instructions: "x" }] })).built.isChanged).toBe(true);
		expect((await build({ append: [] })).built.isChanged).toBe(false);
	});

	test("is recorded with the facts, because its place depends on the model", async () => {
		expect((await build({ append: [{ after: 1, instructions: "x" }] })).built.facts?.appends).toEqual(TAKES_ALL);
		expect((await build({ append: [] })).built.facts).toBe(null);
	});

	test("keeps its place and is the same object in later requests: each begins like the one before", async () => {
		const additions = fc.array(
			fc.record({ after: fc.nat(6), instructions: fc.constantFrom("x", "y"), tools: fc.subarray(["read", "edit"]) }),
			{ maxLength: 4 },
		);
		await fc.assert(
			fc.asyncProperty(additions, fc.integer({ min: 1, max: 6 }), async (append, end) => {
				const memo = new ContextMemo();
				// A request is sent where all calls have results.
				const length = end >= 3 && end < 6 ? 6 : end + 1;
				const known = append.filter(({ after }) => after < length - 1);
				const before = await build({ append: known }, { entries: ENTRIES.slice(0, length), memo });
				const later = await build({ append: known }, { memo });
				const shared = later.built.messages.slice(0, before.built.messages.length);
				expect(shared.map(({ message }) => message)).toEqual(before.built.messages.map(({ message }) => message));
			}),
		);
	});

	test.each([
		["x", "append is not a list"],
		[[{ instructions: "x" }], "append[0].after is not the index of an entry"],
		[[{ after: 99, instructions: "x" }], "append[0].after is not the index of an entry"],
		[
			[{ after: 1, instructions: "x", foo: 1 }],
			"append[0] has the unknown field foo; an item has after, instructions and tools",
		],
		[[{ after: 1 }], "append[0] has neither instructions as a text nor tools as a list of names"],
		[[{ after: 1, instructions: 5 }], "append[0] has neither instructions as a text nor tools as a list of names"],
		[[{ after: 1, tools: ["read", "no"] }], "append[0].tools has a name that is not that of a tool that is on"],
	])("%j is dropped: %s", async (append, sentence) => {
		const { built, problems } = await build({ append });
		expect(problems.map(describeProblem)).toEqual([sentence]);
		expect(front(built)).toEqual(["read", "bash", "edit"]);
	});
});

test("the text of an addition names its tools, for the screen and exports", async () => {
	const { built } = await build({ append: [{ after: 1, instructions: "Be quick.", tools: ["edit", "read"] }] });
	const texts = built.messages.flatMap(({ message }) => (message.role === "system" ? [messageText(message)] : []));
	expect(texts).toEqual(["Be quick.\n(tools from here on: edit, read)"]);
});
