import type { JsonObject } from "./json.js";
import { type Frame, type ReplyStep, type WireBlock, wireBlocks } from "./provider-step.js";
import { openaiErrorBody } from "./wire-openai.js";

/** Yields the SSE body of a response, event by event. */
export function* responsesFrames(step: ReplyStep, body: JsonObject, id: string, newId: () => string): Generator<Frame> {
	const blocks = wireBlocks(step, newId);
	const response = { id, object: "response", created_at: 1_700_000_000, model: body.model };
	yield event("response.created", { response: { ...response, status: "in_progress", output: [] } });
	for (const [index, block] of blocks.entries()) {
		const item = { ...openItem(block), id: `${ITEM_IDS[block.type]}_${id}_${index}` };
		const at = { output_index: index, item_id: item.id };
		yield event("response.output_item.added", { output_index: index, item });
		yield* contentFrames(block, at);
		yield event("response.output_item.done", { output_index: index, item: { ...item, ...closedFields(block) } });
	}
	if (step.stopReason === null) return;
	const isCut = step.stopReason === "length";
	yield event(
		isCut ? "response.incomplete" : "response.completed",
		{
			response: {
				...response,
				status: isCut ? "incomplete" : "completed",
				...(isCut && { incomplete_details: { reason: "max_output_tokens" } }),
				usage: usageFields(step),
			},
		},
		false,
		true,
	);
}

const ITEM_IDS = { text: "msg", thinking: "rs", toolCall: "fc", search: "ws" } as const;

function openItem(block: WireBlock): JsonObject {
	if (block.type === "text") return { type: "message", role: "assistant", status: "in_progress", content: [] };
	if (block.type === "thinking") return { type: "reasoning", summary: [] };
	if (block.type === "search") return { type: "web_search_call", status: "in_progress" };
	return { type: "function_call", status: "in_progress", call_id: block.id, name: block.name, arguments: "" };
}

function* contentFrames(block: WireBlock, at: JsonObject): Generator<Frame> {
	const text = block.deltas.join("");
	if (block.type === "text") {
		const place = { ...at, content_index: 0 };
		yield event("response.content_part.added", { ...place, part: outputText("") });
		for (const delta of block.deltas) yield event("response.output_text.delta", { ...place, delta }, true);
		yield event("response.output_text.done", { ...place, text });
		yield event("response.content_part.done", { ...place, part: outputText(text) });
	} else if (block.type === "thinking") {
		const place = { ...at, summary_index: 0 };
		yield event("response.reasoning_summary_part.added", { ...place, part: summaryText("") });
		for (const delta of block.deltas) yield event("response.reasoning_summary_text.delta", { ...place, delta }, true);
		yield event("response.reasoning_summary_text.done", { ...place, text });
		yield event("response.reasoning_summary_part.done", { ...place, part: summaryText(text) });
	} else if (block.type === "search") {
		for (const state of ["in_progress", "searching", "completed"]) yield event(`response.web_search_call.${state}`, at);
	} else {
		for (const delta of block.deltas) yield event("response.function_call_arguments.delta", { ...at, delta }, true);
		yield event("response.function_call_arguments.done", { ...at, arguments: text });
	}
}

function closedFields(block: WireBlock): JsonObject {
	const text = block.deltas.join("");
	if (block.type === "text") return { status: "completed", content: [outputText(text)] };
	if (block.type === "thinking") return { summary: [summaryText(text)], encrypted_content: block.signature };
	if (block.type === "search")
		return { status: "completed", action: { type: "search", query: block.query, sources: [{ url: block.url }] } };
	return { status: "completed", arguments: text };
}

function outputText(text: string): JsonObject {
	return { type: "output_text", text, annotations: [] };
}

function summaryText(text: string): JsonObject {
	return { type: "summary_text", text };
}

function usageFields(step: ReplyStep): JsonObject {
	const { input, output, cacheRead = 0 } = step.usage ?? { input: 10, output: 5 };
	return {
		input_tokens: input + cacheRead,
		input_tokens_details: { cached_tokens: cacheRead },
		output_tokens: output,
		output_tokens_details: { reasoning_tokens: 0 },
		total_tokens: input + cacheRead + output,
	};
}

function event(type: string, fields: JsonObject, delta = false, closing = false): Frame {
	return { data: `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`, delta, closing };
}

/** An error inside the stream. */
export function responsesErrorFrame(code: string, message: string): string {
	return `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param: null })}\n\n`;
}

export { openaiErrorBody as responsesErrorBody };
