import type { LoopbackProvider, ProviderRequest, Reply } from "./loopback-provider.js";
import { httpError } from "./loopback-provider.js";
import { toStep } from "./provider-step.js";

/** How a server counts and refuses. */
export interface WindowServerOptions {
	/** The windows that it enforces, by model id, in its own tokens. */
	windows: Record<string, number>;
	/** Bytes of a request's JSON for each token. */
	bytesPerToken: number;
	/** The error message of a refusal; null: one that names no sizes. */
	refusal?: (window: number, input: number, output: number) => string;
	/** Whether the reply says how many tokens the request had. */
	reportsUsage?: boolean;
}

/** What a server that enforces windows has seen. */
export interface WindowServer {
	accepted: ProviderRequest[];
	refused: ProviderRequest[];
}

/**
 * Makes a provider enforce the context windows of its models as vLLM does: input and requested output together must fit,
 * else it answers 400.
 * @param answer the reply to an accepted request
 */
export function enforceWindows(
	provider: LoopbackProvider,
	{ windows, bytesPerToken, refusal = vllmRefusal, reportsUsage = true }: WindowServerOptions,
	answer: (request: ProviderRequest) => Reply,
): WindowServer {
	const seen: WindowServer = { accepted: [], refused: [] };
	provider.on((request) => {
		const { model, messages, tools } = request.body;
		const window = windows[String(model)] ?? Number.POSITIVE_INFINITY;
		const input = Math.ceil(Buffer.byteLength(JSON.stringify([messages, tools ?? []])) / bytesPerToken);
		const output = Number(request.body.max_tokens ?? 0);
		if (input + output > window) {
			seen.refused.push(request);
			return httpError(400, {}, refusal(window, input, output));
		}
		seen.accepted.push(request);
		const step = toStep(answer(request));
		return reportsUsage ? { ...step, usage: { input, output: 10 } } : step;
	});
	return seen;
}

/** The error message of vLLM. */
export function vllmRefusal(window: number, input: number, output: number): string {
	return `This model's maximum context length is ${window} tokens. However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`;
}
