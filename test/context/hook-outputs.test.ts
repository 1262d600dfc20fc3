import { isDeepStrictEqual } from "node:util";
import type { Message } from "@mariozechner/pi-ai";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildContext } from "../../src/context/build-context.js";
import type { ContextMessage, ContextProblem } from "../../src/context/context-message.js";
import { RequestMemo } from "../../src/context/request-memo.js";
import { createLoadedHook, HookRegistry, type LoadedHook } from "../../src/hooks/hook-registry.js";
import { HookRunner } from "../../src/hooks/runner.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { createReadOnlySession } from "../../src/replay/replay-session.js";
import { assistant, result, session, user } from "../helpers/entries.js";
import { PROPERTY_TIMEOUT_MS, propertyRuns } from "../helpers/property-blocks.js";
import { judgeConversation, type WireMessage } from "../helpers/wire-message.js";
import { type HookOutput, hookOutput } from "./hook-outputs.js";
import { isAcceptable, isRecord } from "./list-oracle.js";

const CHAIN = 20;
const RUNS = propertyRuns(100, 20260103);

const ENTRIES = freezeDeep(
	session(
		user("first"),
		assistant("", [{ id: "a" }]),
		result("a", "read"),
		assistant("done"),
		user("second"),
		assistant("both", [{ id: "b" }, { id: "c" }]),
		result("b"),
		result("c", ""),
		assistant("done again"),
		user("third"),
	),
);

/** Input and answer of a handler. */
interface Call {
	given: readonly ContextMessage[];
	answer: unknown;
}

/** Runs a chain of handlers through the hook runner and builds the request. */
async function runChain(outputs: readonly HookOutput[]) {
	const calls: Call[] = [];
	const errors: string[] = [];
	const hooks = outputs.map(
		({ answer }, place): LoadedHook => ({
			...createLoadedHook({
				path: `/hooks/${place}.ts`,
				realPath: `/hooks/${place}.ts`,
				name: String(place),
				scope: "flag",
			}),
			handlers: {
				context: [
					({ messages }) => {
						const call: Call = { given: messages, answer: undefined };
						calls.push(call);
						call.answer = answer(messages);
						return call.answer as undefined;
					},
				],
			},
		}),
	);
	const runner = new HookRunner({
		registry: new HookRegistry(hooks, new Set()),
		host: createReadOnlySession({ cwd: "/", sessionFile: null, entries: ENTRIES, messages: () => [], flags: {} }),
		hookTimeoutMs: () => 30_000,
		onError: ({ hookPath }) => errors.push(hookPath),
	});
	const stages = runner.contextStages(() => ENTRIES, new AbortController().signal);
	const context = await buildContext(ENTRIES, stages);
	return { calls, errors, context, sent: new RequestMemo().request(context.messages).messages };
}

/** A provider message as the loopback provider reads it from the wire. */
function onTheWire(message: Message): WireMessage {
	const blocks =
		typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
	const wire: WireMessage = {
		role: message.role === "toolResult" ? "tool" : message.role,
		text: blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
		images: blocks.filter(({ type }) => type === "image").length,
	};
	const thinking = blocks.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join("");
	if (thinking) wire.thinking = thinking;
	if (message.role === "toolResult") wire.toolCallId = message.toolCallId;
	const toolCalls = blocks.flatMap((block) => (block.type === "toolCall" ? [block] : []));
	if (toolCalls.length > 0) wire.toolCalls = toolCalls;
	return wire;
}

function isPlaced({ rule, position }: ContextProblem): boolean {
	return /^[a-z_]+$/.test(rule) && position >= 0;
}

/** The messages of an answer after a JSON round trip. */
function messagesOf(answer: unknown): unknown[] {
	const list: unknown = isRecord(answer) ? answer.messages : [];
	if (!Array.isArray(list)) return [];
	return list.map((item: unknown) =>
		JSON.parse(JSON.stringify(isRecord(item) && "entryIndex" in item ? item.message : item)),
	);
}

test(
	`of ${CHAIN * RUNS.numRuns} hook answers no invalid one is sent, each is attributed to its hook, and every valid one is used`,
	async () => {
		let seen = 0;
		const counts = { taken: 0, refused: 0, failed: 0 };
		await fc.assert(
			fc.asyncProperty(fc.array(hookOutput, { minLength: CHAIN, maxLength: CHAIN }), async (outputs) => {
				const { calls, errors, context, sent } = await runChain(outputs);
				const faults = judgeConversation(sent.map(onTheWire));
				outputs.forEach(({ name, outcome }, place) => {
					seen++;
					const hook = `/hooks/${place}.ts`;
					const { given, answer } = calls[place] ?? { given: [], answer: undefined };
					const after: readonly ContextMessage[] = calls[place + 1]?.given ?? context.messages;
					const problems = context.problems.filter((problem) => problem.hook === hook);
					const blamed = problems.length + errors.filter((path) => path === hook).length;
					const isGood = outcome === "judged" ? isAcceptable(answer, given, ENTRIES) : outcome === "passed";
					const expected = outcome === "open" ? blamed : isGood ? 0 : 1;
					if (blamed !== expected) faults.push(`${name} in place ${place} is blamed ${blamed} times, not ${expected}`);
					if (!problems.every(isPlaced)) faults.push(`${name} in place ${place}: ${JSON.stringify(problems)}`);
					const messages = isGood && outcome === "judged" ? messagesOf(answer) : given.map(({ message }) => message);
					const isTaken =
						outcome === "open" ||
						isDeepStrictEqual(
							after.map(({ message }) => message),
							messages,
						);
					if (!isTaken) faults.push(`${name} in place ${place}: what comes after it is not what should`);
					counts[blamed === 0 ? "taken" : problems.length > 0 ? "refused" : "failed"]++;
				});
				expect(faults).toEqual([]);
			}),
			RUNS,
		);
		expect(seen).toBe(CHAIN * RUNS.numRuns);
		// Each of the three must be common, or the property would prove little.
		expect(Math.min(counts.taken, counts.refused, counts.failed), JSON.stringify(counts)).toBeGreaterThan(seen / 40);
	},
	PROPERTY_TIMEOUT_MS,
);
