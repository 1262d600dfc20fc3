import { expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import { cacheBreakpoints, sentTail, stableEnd } from "../../src/context/cache-breakpoints.js";
import type { ContextMessage } from "../../src/context/context-message.js";
import type { AppMessage } from "../../src/log/entry.js";
import { assistant, assistantMessage, bashExecution, session, user } from "../helpers/entries.js";

const ENTRIES = session(user("u1"), assistant("a1"), user("u2"));
const said = (content: string): AppMessage => ({ role: "user", content, timestamp: 0 });
type Answer = (messages: readonly ContextMessage[]) => unknown[];

/** The context with the answer of a hook. */
const built = (answer: Answer) =>
	buildContext({ length: ENTRIES.length, at: (index) => ENTRIES[index] }, [
		{ hook: "a.ts", transform: async (messages) => ({ messages: answer(messages) }) },
	]);

test.each<[string, Answer, { stable: number; tail: number; after: number[] }]>([
	["nothing of hooks", (all) => [...all], { stable: 3, tail: 0, after: [3] }],
	["a reminder at the end", (all) => [...all, said("r")], { stable: 3, tail: 1, after: [3, 4] }],
	["two at the end", (all) => [...all, said("r"), said("s")], { stable: 3, tail: 2, after: [3, 5] }],
	["one at the start", (all) => [said("r"), ...all], { stable: 4, tail: 0, after: [4] }],
	["one at both ends", (all) => [said("r"), ...all, said("s")], { stable: 4, tail: 1, after: [4, 5] }],
	[
		"one before the prompt",
		(all) => [...all.slice(0, 2), said("r"), ...all.slice(2)],
		{ stable: 4, tail: 0, after: [4] },
	],
	[
		"a prompt that a hook replaced",
		(all) => [...all.slice(0, 2), { message: said("u2, changed"), entryIndex: 3 }],
		{ stable: 3, tail: 0, after: [3] },
	],
	["nothing but messages of hooks", () => [said("r"), said("s")], { stable: 0, tail: 0, after: [2] }],
	[
		"one that is not sent",
		(all) => [...all, { ...bashExecution, excludeFromContext: true }],
		{ stable: 3, tail: 0, after: [4] },
	],
	["a reply", (all) => [...all, assistantMessage("r"), said("s")], { stable: 3, tail: 0, after: [5] }],
])("the stable part of a request with %s", async (_, answer, { stable, tail, after }) => {
	const context = await built(answer);
	expect(context.problems).toEqual([]);
	expect([stableEnd(context), sentTail(context)]).toEqual([stable, tail]);
	expect(cacheBreakpoints(context)).toEqual({ tools: false, systemPrompt: false, messages: after });
});
