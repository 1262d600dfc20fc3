import { isObject, type JsonObject } from "./json.js";
import { type Frame, type ReplyStep, wireBlocks } from "./provider-step.js";

const FINISH: Record<string, string> = { stop: "stop", toolUse: "tool_calls", length: "length" };

/** The SSE body of a chat completion, piece by piece. */
export function* openaiFrames(step: ReplyStep, body: JsonObject, id: string, newId: () => string): Generator<Frame> {
	const blocks = wireBlocks(step, newId);
	const chunk = (fields: JsonObject, delta = false, closing = false): Frame => ({
		data: `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created: 1_700_000_000, model: body.model, ...fields })}\n\n`,
		delta,
		closing,
	});
	const choice = (delta: JsonObject, finish: string | null = null) => ({
		choices: [{ index: 0, delta, finish_reason: finish }],
	});

	yield chunk(choice({ role: "assistant", content: "" }));
	let callIndex = -1;
	for (const block of blocks) {
		if (block.type === "toolCall") {
			callIndex += 1;
			const opening = {
				index: callIndex,
				id: block.id,
				type: "function",
				function: { name: block.name, arguments: "" },
			};
			yield chunk(choice({ tool_calls: [opening] }));
		}
		for (const part of block.deltas) {
			if (block.type === "text") yield chunk(choice({ content: part }), true);
			else if (block.type === "thinking") yield chunk(choice({ reasoning_content: part }), true);
			else yield chunk(choice({ tool_calls: [{ index: callIndex, function: { arguments: part } }] }), true);
		}
	}
	const reason = step.stopReason === undefined ? (callIndex >= 0 ? "toolUse" : "stop") : step.stopReason;
	if (reason !== null) yield chunk(choice({}, FINISH[reason] ?? reason), false, true);
	const options = body.stream_options;
	if (isObject(options) && options.include_usage === true) {
		yield chunk({ choices: [], usage: usageFields(step) }, false, true);
	}
	yield { data: "data: [DONE]\n\n", delta: false, closing: true };
}

function usageFields(step: ReplyStep): JsonObject {
	const { input, output, cacheRead = 0, cacheWrite = 0 } = step.usage ?? { input: 10, output: 5 };
	const prompt = input + cacheRead + cacheWrite;
	return {
		prompt_tokens: prompt,
		completion_tokens: output,
		total_tokens: prompt + output,
		// OpenAI counts only hits. A server that also reports writes includes them in the cached tokens.
		prompt_tokens_details: {
			cached_tokens: cacheRead,
			...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
		},
	};
}

/** An error inside the stream. */
export function openaiErrorFrame(type: string, message: string): string {
	return `data: ${JSON.stringify({ error: { message, type, code: null } })}\n\n`;
}

/** The body of an HTTP error. */
export function openaiErrorBody(status: number, message: string): string {
	const type = status === 429 ? "rate_limit_exceeded" : status < 500 ? "invalid_request_error" : "server_error";
	return JSON.stringify({ error: { message, type, param: null, code: null } });
}
