import type { IncomingHttpHeaders } from "node:http";
import { isObject, type JsonObject, objects, stringOr } from "./json.js";
import { judgeThinking, knownModel } from "./judge-thinking.js";
import { judgeCall, judgeTools, type ReadRequest, type WireMessage } from "./wire-message.js";

/** Reads a messages request. */
export function readAnthropicRequest(body: JsonObject, headers: IncomingHttpHeaders): ReadRequest {
	const issues: string[] = [];
	if (!headers["anthropic-version"]) issues.push("the request has no anthropic-version header");
	if (stringOr(body.model, "") === "") issues.push("the request names no model");
	if (body.stream !== true) issues.push("the request does not ask for a stream");
	if (typeof body.max_tokens !== "number" || body.max_tokens < 1) issues.push("max_tokens is missing");
	const model = knownModel("anthropic-messages", stringOr(body.model, ""));
	// An unknown model is like the older ones.
	const older = { id: stringOr(body.model, ""), api: "anthropic-messages", reasoning: true };
	issues.push(...judgeThinking("anthropic-messages", body, headers, model ?? older));
	const tools = objects(body.tools).filter(({ type }) => type !== "web_search_20250305");
	issues.push(...judgeTools(tools.map((tool) => ({ name: stringOr(tool.name, ""), schema: tool.input_schema }))));
	const markers = JSON.stringify(body).split('"cache_control":').length - 1;
	if (markers > 4) issues.push(`the request sets ${markers} cache markers, 4 are allowed`);

	const messages: WireMessage[] = [];
	if (body.system !== undefined) {
		messages.push({ role: "system", ...readBlocks(blocksOf(body.system), "the system prompt", issues) });
	}
	const list = objects(body.messages);
	list.forEach((raw, index) => {
		const where = `message ${index} (${String(raw.role)})`;
		const blocks = blocksOf(raw.content);
		if (raw.role === "assistant") {
			messages.push({
				role: "assistant",
				...readBlocks(blocks, where, issues),
				...assistantParts(blocks, where, issues),
			});
		} else if (raw.role === "user") messages.push(...readUser(blocks, where, issues));
		else if (raw.role === "system") {
			// Whether the model accepts it is judged with its thinking.
			const isOpen = blocksOf(list[index - 1]?.content).some(({ type }) => type === "tool_use");
			if (isOpen) issues.push(`${where} comes before the results of tool calls`);
			readBlocks(blocks, where, issues);
		} else issues.push(`${where} has an unknown role`);
	});
	return { messages, issues };
}

function blocksOf(content: unknown): JsonObject[] {
	return typeof content === "string" ? [{ type: "text", text: content }] : objects(content);
}

const KNOWN = new Set(["text", "image", "tool_use", "tool_result", "thinking", "redacted_thinking"]);

function readBlocks(blocks: JsonObject[], where: string, issues: string[]): { text: string; images: number } {
	const texts: string[] = [];
	let images = 0;
	for (const block of blocks) {
		if (block.type === "text") {
			texts.push(stringOr(block.text, ""));
			if (stringOr(block.text, "").trim() === "") issues.push(`${where} has a text block without text`);
		} else if (block.type === "image") images += 1;
		else if (!KNOWN.has(String(block.type))) issues.push(`${where} has a block of type ${String(block.type)}`);
	}
	return { text: texts.join("\n"), images };
}

function assistantParts(blocks: JsonObject[], where: string, issues: string[]): Partial<WireMessage> {
	const thinking = blocks.filter((block) => block.type === "thinking");
	for (const block of thinking) {
		if (stringOr(block.signature, "") === "") issues.push(`${where} has thinking without a signature`);
	}
	const last = blocks.at(-1)?.type;
	if (last === "thinking" || last === "redacted_thinking")
		issues.push(`${where} ends with thinking: "The final block in an assistant message cannot be \`thinking\`"`);
	const calls = blocks.filter((block) => block.type === "tool_use");
	for (const call of calls) {
		issues.push(...judgeCall(where, stringOr(call.id, ""), stringOr(call.name, "")));
		if (!isObject(call.input)) issues.push(`${where} has a tool call whose input is no object`);
	}
	return {
		...(thinking.length > 0 ? { thinking: thinking.map((block) => stringOr(block.thinking, "")).join("\n") } : {}),
		...(calls.length > 0
			? {
					toolCalls: calls.map((call) => ({
						id: stringOr(call.id, ""),
						name: stringOr(call.name, ""),
						arguments: isObject(call.input) ? call.input : {},
					})),
				}
			: {}),
	};
}

/** In a user message tool results come first; the rest is the user's content. */
function readUser(blocks: JsonObject[], where: string, issues: string[]): WireMessage[] {
	const messages: WireMessage[] = [];
	const rest = blocks.filter((block) => block.type !== "tool_result");
	blocks.forEach((block, position) => {
		if (block.type !== "tool_result") return;
		if (blocks.slice(0, position).some((earlier) => earlier.type !== "tool_result")) {
			issues.push(`${where} has a tool result after other content`);
		}
		messages.push({
			role: "tool",
			...readBlocks(blocksOf(block.content), `${where}, tool result`, issues),
			toolCallId: stringOr(block.tool_use_id, ""),
			isError: block.is_error === true,
		});
	});
	if (rest.length > 0 || messages.length === 0) messages.push({ role: "user", ...readBlocks(rest, where, issues) });
	return messages;
}

/** A signed block of a reply, which must come back unchanged. */
export interface SignedBlock {
	text: string;
	signature: string;
}

/** The signed blocks of a request. */
export function signedBlocks(body: JsonObject): SignedBlock[] {
	return objects(body.messages)
		.filter(({ role }) => role === "assistant")
		.flatMap(({ content }) => blocksOf(content))
		.filter(({ type }) => type === "thinking")
		.map(({ thinking, signature }) => ({ text: stringOr(thinking, ""), signature: stringOr(signature, "") }));
}

/** Checks the signed blocks of a request against those that the server sent. Other servers may have sent other blocks. */
export function judgeSigned(body: JsonObject, sent: readonly SignedBlock[]): string[] {
	return signedBlocks(body).flatMap(({ text, signature }) => {
		if (sent.some((block) => block.text === text && block.signature === signature)) return [];
		if (sent.some((block) => block.signature === signature)) return [`the signed thinking "${text}" was changed`];
		return sent.some((block) => block.text === text) ? [`the signature of the thinking "${text}" was changed`] : [];
	});
}
