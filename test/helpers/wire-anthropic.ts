import type { JsonObject } from "./json.js";
import { type Frame, type ReplyStep, type WireBlock, wireBlocks } from "./provider-step.js";

const STOP: Record<string, string> = { stop: "end_turn", toolUse: "tool_use", length: "max_tokens" };

/** Yields the SSE body of a message, frame by frame. */
export function* anthropicFrames(step: ReplyStep, body: JsonObject, id: string, newId: () => string): Generator<Frame> {
	const blocks = wireBlocks(step, newId);
	const { input, output, cacheRead = 0, cacheWrite = 0 } = step.usage ?? { input: 10, output: 5 };
	const usage = { input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite };

	yield event("message_start", {
		message: {
			id,
			type: "message",
			role: "assistant",
			model: body.model,
			content: [],
			stop_reason: null,
			stop_sequence: null,
			usage: { ...usage, output_tokens: 1 },
		},
	});
	yield event("ping", {});
	let index = -1;
	for (const block of blocks) {
		index += 1;
		if (block.type === "search") {
			yield* searchFrames(block, index);
			index += 1;
			continue;
		}
		yield event("content_block_start", { index, content_block: opening(block) });
		for (const part of block.deltas) {
			yield event("content_block_delta", { index, delta: deltaOf(block, part) }, true);
		}
		if (block.type === "thinking" && block.signature) {
			yield event("content_block_delta", { index, delta: { type: "signature_delta", signature: block.signature } });
		}
		yield event("content_block_stop", { index });
	}
	const hasCalls = blocks.some((block) => block.type === "toolCall");
	const reason = step.stopReason === undefined ? (hasCalls ? "toolUse" : "stop") : step.stopReason;
	if (reason !== null) {
		const delta = { stop_reason: STOP[reason] ?? reason, stop_sequence: null };
		yield event("message_delta", { delta, usage: { ...usage, output_tokens: output } }, false, true);
	}
	yield event("message_stop", {}, false, true);
}

type SearchBlock = Extract<WireBlock, { type: "search" }>;

/** A call of the provider's own search, and its result. */
function* searchFrames({ id, query, url }: SearchBlock, index: number): Generator<Frame> {
	const toolId = `srvtoolu_${id}`;
	const call = { type: "server_tool_use", id: toolId, name: "web_search", input: {} };
	yield event("content_block_start", { index, content_block: call });
	const partial_json = JSON.stringify({ query });
	yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
	yield event("content_block_stop", { index });
	const page = { type: "web_search_result", url, title: "Found", encrypted_content: "c2VjcmV0", page_age: null };
	const result = { type: "web_search_tool_result", tool_use_id: toolId, content: [page] };
	yield event("content_block_start", { index: index + 1, content_block: result });
	yield event("content_block_stop", { index: index + 1 });
}

function opening(block: Exclude<WireBlock, SearchBlock>): JsonObject {
	if (block.type === "text") return { type: "text", text: "" };
	if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
	return { type: "tool_use", id: block.id, name: block.name, input: {} };
}

function deltaOf(block: WireBlock, part: string): JsonObject {
	if (block.type === "text") return { type: "text_delta", text: part };
	if (block.type === "thinking") return { type: "thinking_delta", thinking: part };
	return { type: "input_json_delta", partial_json: part };
}

function event(type: string, fields: JsonObject, delta = false, closing = false): Frame {
	return { data: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`, delta, closing };
}

/** An error inside the stream. */
export function anthropicErrorFrame(type: string, message: string): string {
	return `event: error\ndata: ${JSON.stringify({ type: "error", error: { type, message } })}\n\n`;
}

const ERROR_TYPES: Record<number, string> = {
	400: "invalid_request_error",
	401: "authentication_error",
	403: "permission_error",
	404: "not_found_error",
	413: "request_too_large",
	429: "rate_limit_error",
	529: "overloaded_error",
};

/** The body of an HTTP error. */
export function anthropicErrorBody(status: number, message: string): string {
	return JSON.stringify({ type: "error", error: { type: ERROR_TYPES[status] ?? "api_error", message } });
}
