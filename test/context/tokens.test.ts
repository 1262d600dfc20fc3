import { expect, test } from "vitest";
import { estimateAll, estimateText, estimateTokens } from "../../src/context/tokens.js";
import type { AppMessage } from "../../src/log/entry.js";
import { freezeDeep } from "../../src/log/freeze.js";
import { assistantMessage, bashExecution as bash, result, user } from "../helpers/entries.js";

const OVERHEAD = 4;
const image = { type: "image" as const, data: "a".repeat(9000), mimeType: "image/png" };

test.each<[string, AppMessage, number]>([
	["no text", user("").message, 0],
	["text", user("12345678").message, 2],
	["text that does not fill a token", user("123456789").message, 3],
	["text of other scripts by its bytes", user("日本語字").message, 3],
	["an image", user([image]).message, 1200],
	["blocks", user([{ type: "text", text: "12" }, image, { type: "text", text: "12" }]).message, 1201],
	["a result", result("a", "1234").message, 1],
	["a call by its name and arguments", assistantMessage("", [{ id: "a", name: "ls", arguments: { p: 1 } }]), 3],
	["thinking", { ...assistantMessage("1234"), content: [{ type: "thinking", thinking: "12345678" }] }, 2],
	["a command as it is sent", bash, Math.ceil("Ran `ls`\n```\na\n```".length / 4)],
	["a command that is not sent", { ...bash, excludeFromContext: true }, 0],
])("the tokens of a message with %s are estimated", (_, message, tokens) => {
	expect(estimateTokens(message)).toBe(tokens + OVERHEAD);
	expect(estimateTokens(freezeDeep(message))).toBe(tokens + OVERHEAD);
});

test("a message that can change is estimated each time, one that cannot is estimated once", () => {
	const message = { role: "user" as const, content: "1234", timestamp: 0 };
	expect(estimateTokens(message)).toBe(1 + OVERHEAD);
	message.content = "12345678";
	expect(estimateTokens(message)).toBe(2 + OVERHEAD);
	let reads = 0;
	const frozen = Object.freeze(
		Object.defineProperty({ ...message }, "content", {
			get() {
				reads++;
				return "1234";
			},
		}),
	);
	const first = estimateTokens(frozen);
	reads = 0;
	expect([estimateTokens(frozen), reads]).toEqual([first, 0]);
});

test("the tokens of messages add up, and those of a text have no overhead", () => {
	expect(estimateAll([user("1234").message, bash, user("").message])).toBe(1 + 5 + 3 * OVERHEAD);
	expect([estimateAll([]), estimateText(""), estimateText("12345")]).toEqual([0, 0, 2]);
});
