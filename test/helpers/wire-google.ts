import { type JsonObject, parseJson } from "./json.js";
import { type Frame, type ReplyStep, type WireBlock, wireBlocks } from "./provider-step.js";

const FINISH: Record<string, string> = { stop: "STOP", toolUse: "STOP", length: "MAX_TOKENS" };

/** Yields the SSE body of `streamGenerateContent`, chunk by chunk. Tool calls arrive complete and without ids. */
export function* googleFrames(step: ReplyStep, _body: JsonObject, id: string, newId: () => string): Generator<Frame> {
	const chunk = (candidate: JsonObject, fields: JsonObject, delta: boolean): Frame => ({
		data: `data: ${JSON.stringify({ candidates: [{ index: 0, ...candidate }], responseId: id, ...fields })}\n\n`,
		delta,
		closing: !delta,
	});
	// The first tool call carries the signature of the thinking before it.
	let signature = "";
	for (const block of wireBlocks(step, newId)) {
		if (block.type === "thinking") signature = block.signature;
		for (const part of partsOf(block, signature)) yield chunk({ content: { role: "model", parts: [part] } }, {}, true);
		if (block.type === "toolCall") signature = "";
	}
	const reason = step.stopReason === undefined ? "stop" : step.stopReason;
	if (reason === null) return;
	const { input, output, cacheRead = 0 } = step.usage ?? { input: 10, output: 5 };
	const usageMetadata = {
		promptTokenCount: input + cacheRead,
		cachedContentTokenCount: cacheRead,
		candidatesTokenCount: output,
		totalTokenCount: input + cacheRead + output,
	};
	const content = { role: "model", parts: [] };
	yield chunk({ content, finishReason: FINISH[reason] ?? reason }, { usageMetadata }, false);
}

function partsOf(block: WireBlock, signature: string): JsonObject[] {
	if (block.type === "toolCall") {
		const functionCall = { name: block.name, args: parseJson(block.deltas.join("")) };
		return [{ functionCall, ...(signature && { thoughtSignature: signature }) }];
	}
	return block.deltas.map((text) => ({ text, ...(block.type === "thinking" && { thought: true }) }));
}

/** An error inside the stream. */
export function googleErrorFrame(status: string, message: string): string {
	return `data: ${JSON.stringify({ error: { code: 503, message, status } })}\n\n`;
}

/** The body of an HTTP error. */
export function googleErrorBody(status: number, message: string): string {
	const name = status === 429 ? "RESOURCE_EXHAUSTED" : status < 500 ? "INVALID_ARGUMENT" : "UNAVAILABLE";
	return JSON.stringify({ error: { code: status, message, status: name } });
}
