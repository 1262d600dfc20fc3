import { describe, expect, test } from "vitest";
import { LOOPBACK_PROVIDERS, text, thinking, toolCall } from "../../helpers/loopback-provider.js";
import { startSession } from "../../helpers/session.js";

/** A session whose hook answers the `context` event with this expression. */
function startWith(answer: string) {
	return startSession({
		hooks: { "bad.ts": `export default (pi) => pi.on("context", ({ entries, messages }) => (${answer}));` },
		model: `${LOOPBACK_PROVIDERS["anthropic-messages"]}/scripted`,
		modelOptions: { apis: ["anthropic-messages"], reasoning: true },
		files: { "a.txt": "a\n" },
	});
}

async function errorsOf(answer: string) {
	const { session, provider, events } = await startWith(answer);
	session.setThinkingLevel("low");
	provider.reply(
		[thinking("look first"), toolCall("read", { path: "a.txt" })],
		[thinking("look again"), toolCall("ls", {})],
		[thinking("done"), text("It says a")],
		[text("bye")],
	);
	await session.prompt("read it");
	await session.prompt("thanks");
	expect(provider.violations).toEqual([]);
	const errors = events.flatMap((event) => (event.type === "hook_error" ? [[event.rule, event.error]] : []));
	return { errors, requests: provider.requests.map(({ messages }) => messages) };
}

const STRIP = `{
	messages: messages.map((item) => item.message.role !== "assistant" ? item : {
		...item,
		message: { ...item.message, content: item.message.content.filter(({ type }) => type !== "thinking") },
	}),
}`;

describe("an answer that removes thinking", () => {
	test("is dropped while the model works on a turn, and used when the next turn begins", async () => {
		const { errors, requests } = await errorsOf(STRIP);
		expect(errors[0]).toEqual([
			"signed_thinking_unchanged",
			expect.stringMatching(
				/the signed thinking of entry \d was changed; keep the reply as it is or drop it together with its results; its answer was dropped$/,
			),
		]);
		expect(new Set(errors.map(([rule]) => rule))).toEqual(new Set(["signed_thinking_unchanged"]));
		const thoughts = requests.map((messages) => messages.flatMap(({ thinking: thought }) => thought ?? []));
		expect(thoughts).toEqual([[], ["look first"], ["look first", "look again"], []]);
	});
});

test.each([
	["entry_has_message", `[{ message: { role: "user", content: "x" }, entryIndex: 99 }, ...messages]`],
	["entry_index_is_own", "[{ ...messages[0], entryIndex: messages[1].entryIndex }, ...messages.slice(1)]"],
	["one_message_per_entry", "[{ ...messages[0], message: { ...messages[0].message } }, ...messages]"],
	["one_use_per_message", "[messages[0], ...messages]"],
])("an answer that breaks %s is dropped by name, and the request is sent without it", async (rule, answer) => {
	const { errors, requests } = await errorsOf(`messages.length < 3 ? undefined : { messages: ${answer} }`);
	expect(new Set(errors.map(([broken]) => broken))).toEqual(new Set([rule]));
	expect(requests.map((messages) => messages.filter(({ role }) => role === "user").length)).toEqual([1, 1, 1, 2]);
});
