import type { JsonObject } from "./json.js";

/** A message of a request in a common format for both APIs. An Anthropic user message with results becomes several. */
export interface WireMessage {
	role: "system" | "user" | "assistant" | "tool";
	/** Text blocks joined by newlines. */
	text: string;
	/** Number of images. */
	images: number;
	/** Text of thinking blocks that were sent back to the model. */
	thinking?: string;
	toolCalls?: { id: string; name: string; arguments: JsonObject }[];
	/** For a system message: it adds tools in the middle of a conversation, as only some models accept. */
	isAddition?: boolean;
	/** For a tool message: the call that it answers, and whether it reports a failure (Anthropic only). */
	toolCallId?: string;
	isError?: boolean;
}

/** A parsed request and its format errors. */
export interface ReadRequest {
	messages: WireMessage[];
	issues: string[];
}

/**
 * Checks a conversation against the rules of providers: first and last role, no empty content, and each
 * tool call answered exactly once, right after its message.
 * @returns one sentence per broken rule, in order
 */
export function judgeConversation(messages: readonly WireMessage[]): string[] {
	const issues: string[] = [];
	const seen = new Set<string>();
	let open = new Set<string>();
	let spoken = false;
	messages.forEach((message, index) => {
		const where = `message ${index} (${message.role})`;
		if (message.role === "system") {
			if (spoken && !message.isAddition) issues.push(`${where} comes after the conversation began`);
			if (message.text.trim() === "" && !message.isAddition) issues.push(`${where} is empty`);
			if (open.size > 0) issues.push(`${where} comes before the results of tool calls`);
			return;
		}
		if (!spoken && message.role !== "user") issues.push(`${where} opens the conversation, a user must`);
		spoken = true;
		if (message.role === "tool") {
			const id = message.toolCallId ?? "";
			if (!open.delete(id)) issues.push(`${where} answers ${id || "nothing"}, which is no open tool call`);
			if (message.text === "" && message.images === 0) issues.push(`${where} is empty`);
			return;
		}
		for (const id of open) issues.push(`${where} comes before the result of tool call ${id}`);
		open = new Set();
		const calls = message.toolCalls ?? [];
		if (message.text.trim() === "" && message.images === 0 && calls.length === 0 && !message.thinking) {
			issues.push(`${where} is empty`);
		}
		for (const call of calls) {
			if (seen.has(call.id)) issues.push(`${where} uses the tool call id ${call.id} again`);
			seen.add(call.id);
			open.add(call.id);
		}
	});
	for (const id of open) issues.push(`the request ends before the result of tool call ${id}`);
	const last = messages.at(-1)?.role;
	if (!spoken) issues.push("the request has no messages");
	else if (last === "assistant") issues.push("the request ends with an assistant message");
	return issues;
}

/** Names and ids that both APIs allow. */
export function judgeCall(where: string, id: string, name: string): string[] {
	const issues: string[] = [];
	if (!/^[a-zA-Z0-9_-]{1,64}$/.test(id)) issues.push(`${where} has the tool call id ${JSON.stringify(id)}`);
	if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) issues.push(`${where} has the tool name ${JSON.stringify(name)}`);
	return issues;
}

/** Checks tool definitions: valid and unique names, and an object as schema. */
export function judgeTools(tools: readonly { name: string; schema: unknown }[]): string[] {
	const issues: string[] = [];
	const names = new Set<string>();
	for (const { name, schema } of tools) {
		if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) issues.push(`a tool is named ${JSON.stringify(name)}`);
		if (names.has(name)) issues.push(`the tool ${name} is defined twice`);
		names.add(name);
		if (typeof schema !== "object" || schema === null || !("type" in schema) || schema.type !== "object") {
			issues.push(`the parameters of the tool ${name} are no object schema`);
		}
	}
	return issues;
}
