import { expect, test } from "vitest";
import {
	entryTimestamp,
	isEmptyReply,
	isUserMessageEntry,
	messageText,
	type SessionEntry,
} from "../../src/log/entry.js";

const entry = (message: object) => ({ type: "message", timestamp: "", message }) as unknown as SessionEntry;
const user = { role: "user", content: "hi" };
const shell = { role: "bashExecution", command: "ls", output: "a\nb" };
const reply = (content: object[], stopReason = "stop") =>
	({ role: "assistant", content, stopReason }) as unknown as Parameters<typeof isEmptyReply>[0];
const text = (value: string) => ({ type: "text", text: value });

test("isUserMessageEntry is true for messages of the user only", () => {
	const others = [undefined, entry(shell), { type: "custom", timestamp: "" } as unknown as SessionEntry];
	expect([entry(user), ...others].map(isUserMessageEntry)).toEqual([true, false, false, false]);
});

test("messageText joins the texts of a message, and is the output of a command", () => {
	const image = { type: "image", data: "d", mimeType: "m" };
	const messages = [user, shell, { role: "user", content: [text("a"), image, text("b")] }];
	expect(messages.map((message) => messageText(message as unknown as Parameters<typeof messageText>[0]))).toEqual([
		...["hi", "a\nb", "a\nb"],
	]);
});

test("isEmptyReply is true for a finished reply without text and calls", () => {
	const call = { type: "toolCall", id: "c", name: "ls", arguments: {} };
	const replies = [reply([]), reply([text(" \n")]), reply([{ type: "thinking", thinking: "t" }])];
	expect(replies.map(isEmptyReply)).toEqual([true, true, true]);
	const others = [
		reply([text("a")]),
		reply([call]),
		reply([{ type: "thinking", thinking: "t" }, call]),
		reply([], "aborted"),
	];
	expect(others.map(isEmptyReply)).toEqual([false, false, false, false]);
});

test("the timestamp of a new entry is the current time, ISO 8601", () => {
	const before = Date.now();
	const timestamp = entryTimestamp();
	expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
	expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(before);
	expect(Date.parse(timestamp)).toBeLessThanOrEqual(Date.now());
});
