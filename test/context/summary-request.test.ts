import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { splitConversation, summaryOverhead, summaryRequest } from "../../src/context/summary-request.js";
import { estimateText } from "../../src/context/tokens.js";
import { messageText } from "../../src/log/entry.js";
import { result, user } from "../helpers/entries.js";

const said = (text: string) => user(text).message;

function textOf(request: Partial<Parameters<typeof summaryRequest>[0]>): string {
	const { messages } = summaryRequest({ conversation: "[User]\nhi", maxTokens: 1000, ...request });
	expect(messages).toMatchObject([{ role: "user", timestamp: 0 }]);
	const [message] = messages;
	return typeof message?.content === "string" ? message.content : "";
}

describe("the request for a summary", () => {
	const FORM = /^Write the notes in Markdown[\s\S]* Use at most 600 words\.$/;

	test("has the conversation and the form of the notes", () => {
		expect(summaryRequest({ conversation: "", maxTokens: 1 }).systemPrompt).toMatch(/^You write hand-over notes/);
		const [conversation, ...form] = textOf({}).split("\n\n");
		expect(conversation).toBe("<conversation>\n[User]\nhi\n</conversation>");
		expect(form.join("\n\n")).toMatch(FORM);
	});

	test("has the notes so far before the conversation", () => {
		const [notes, conversation, rule, form] = textOf({ previous: "Tea." }).split("\n\n");
		expect([notes, conversation]).toEqual([
			"<notes-so-far>\nTea.\n</notes-so-far>",
			"<conversation>\n[User]\nhi\n</conversation>",
		]);
		expect(rule).toMatch(/^The notes so far cover .* everything that still matters\.$/);
		expect(form).toMatch(FORM);
	});

	test("ends with the focus that the user gave, and what to do after an answer that was cut off", () => {
		const parts = (request: Parameters<typeof textOf>[0]) => textOf(request).split("\n\n").slice(2);
		expect(parts({ focus: "the tests" })).toEqual([
			"The user asks that the notes pay particular attention to: the tests",
		]);
		expect(parts({ cutOff: { text: "## Goal", isTooLong: true } })).toEqual([
			"An earlier answer was cut off because it was too long. Use at most 300 words.",
		]);
		expect(parts({ focus: "x", cutOff: { text: "## Goal", isTooLong: false } })).toEqual([
			"The user asks that the notes pay particular attention to: x",
			"Your answer was cut off. This is what you wrote:\n<written>\n## Goal\n</written>\nContinue exactly where it stops, without repeating anything.",
		]);
	});

	test("asks for at least 40 words", () => {
		expect(textOf({ maxTokens: 10 })).toContain("Use at most 40 words.");
	});

	test("takes as many tokens as estimated, apart from the conversation", () => {
		const request = { previous: "Tea.", focus: "x", maxTokens: 1000 };
		const { systemPrompt = "" } = summaryRequest({ ...request, conversation: "" });
		expect(summaryOverhead(request)).toBe(estimateText(systemPrompt + textOf({ ...request, conversation: "" })) + 16);
	});
});

describe("a conversation in parts", () => {
	test("has as many messages in each part as fit", () => {
		const messages = ["a", "b", "c"].map((letter) => said(letter.repeat(33))); // 40 characters with the role
		const [a, b, c] = messages.map((message) => `[User]\n${messageText(message)}`);
		expect(splitConversation(messages, 33)).toEqual([`${a}\n\n${b}\n\n${c}`]);
		expect(splitConversation(messages, 32)).toEqual([`${a}\n\n${b}`, c]);
		expect(splitConversation(messages, 21)).toEqual([a, b, c]);
		expect(splitConversation([], 21)).toEqual([]);
	});

	test("divides a message that is too long alone, after closing the part before it", () => {
		const parts = splitConversation([said("short"), said("x".repeat(120)), said("end")], 20);
		expect(parts).toEqual(["[User]\nshort", `[User]\n${"x".repeat(73)}`, "x".repeat(47), "[User]\nend"]);
	});

	test("has short results: as many characters as a part has tokens, from 200 to 2000", () => {
		const lengthFor = (maxTokens: number) =>
			splitConversation([result("a", "x".repeat(9000)).message], maxTokens)
				.join("")
				.replace(/[^x]/g, "").length;
		expect([100, 500, 5000].map(lengthFor)).toEqual([200, 500, 2000]);
	});

	test("loses no text, and no part is larger than allowed", () => {
		const text = fc.string({ unit: fc.constantFrom("a", "é", "日", " "), maxLength: 300 });
		fc.assert(
			fc.property(fc.array(text, { maxLength: 6 }), fc.integer({ min: 5, max: 120 }), (texts, maxTokens) => {
				const parts = splitConversation(texts.map(said), maxTokens);
				expect(Math.max(0, ...parts.map(estimateText))).toBeLessThanOrEqual(maxTokens);
				const expected = texts.map((one) => `[User]\n${one}`).join("");
				expect(parts.join("").replaceAll("\n\n", "")).toBe(expected.replaceAll("\n\n", ""));
			}),
		);
	});
});
