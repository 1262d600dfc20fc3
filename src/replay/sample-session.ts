import type { AssistantMessage, ToolCall, ToolResultMessage } from "@mariozechner/pi-ai";
import type { AppMessage, SessionEntry } from "../log/entry.js";
import { freezeDeep } from "../log/freeze.js";

/** Fixed start of the sample session, so that the same hook always prints the same lines. */
const STARTED_AT = Date.UTC(2025, 0, 1, 12);
const MS_BETWEEN_ENTRIES = 60_000;

type Call = Pick<ToolCall, "id" | "name" | "arguments">;

/**
 * A short session to test hooks on: two prompts; calls of read, bash, edit and write, including a failed call and a
 * push; and an output with a secret.
 */
export function sampleSession(cwd: string): readonly SessionEntry[] {
	const messages = CONVERSATION.map((make, index) => make(STARTED_AT + (index + 1) * MS_BETWEEN_ENTRIES));
	return freezeDeep([
		{ type: "session", version: 1, id: "sample", timestamp: new Date(STARTED_AT).toISOString(), cwd },
		...messages.map((message) => ({
			type: "message" as const,
			timestamp: new Date(message.timestamp).toISOString(),
			message,
		})),
	]);
}

const CONVERSATION: readonly ((timestamp: number) => AppMessage)[] = [
	prompt("The total of an order is wrong. Find out why and fix it."),
	reply("I run the tests and read the code.", [
		{ id: "call_1", name: "bash", arguments: { command: "npm test" } },
		{ id: "call_2", name: "read", arguments: { path: "src/total.ts" } },
	]),
	result("call_1", "bash", "total › adds the tax\nexpected 11.9, received 10\n\nCommand exited with code 1", true),
	result("call_2", "read", "export const total = (net: number, tax: number) => net;\n"),
	reply("The tax is not added.", [
		{
			id: "call_3",
			name: "edit",
			arguments: { path: "src/total.ts", oldText: "=> net;", newText: "=> net * (1 + tax);" },
		},
	]),
	result("call_3", "edit", "Edited src/total.ts"),
	reply("Fixed: total() now adds the tax."),
	prompt("Write that into NOTES.md and push it. The token is in .env."),
	reply("", [
		{ id: "call_4", name: "write", arguments: { path: "NOTES.md", content: "total() adds the tax.\n" } },
		{ id: "call_5", name: "bash", arguments: { command: "cat .env" } },
		{ id: "call_6", name: "bash", arguments: { command: "git push origin main" } },
	]),
	result("call_4", "write", "Wrote NOTES.md"),
	result("call_5", "bash", "API_TOKEN=sample-secret-0123456789abcdef"),
	result("call_6", "bash", "main -> main"),
	reply("NOTES.md is written and pushed."),
];

function prompt(text: string): (timestamp: number) => AppMessage {
	return (timestamp) => ({ role: "user", content: [{ type: "text", text }], timestamp });
}

function reply(text: string, calls: readonly Call[] = []): (timestamp: number) => AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return (timestamp) => ({
		role: "assistant",
		content: [
			...(text === "" ? [] : [{ type: "text" as const, text }]),
			...calls.map((call) => ({ type: "toolCall" as const, ...call })),
		],
		api: "sample",
		provider: "sample",
		model: "sample",
		usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
		stopReason: calls.length > 0 ? "toolUse" : "stop",
		timestamp,
	});
}

function result(
	toolCallId: string,
	toolName: string,
	text: string,
	isError = false,
): (timestamp: number) => ToolResultMessage {
	return (timestamp) => ({
		role: "toolResult",
		toolCallId,
		toolName,
		content: [{ type: "text", text }],
		isError,
		timestamp,
	});
}
