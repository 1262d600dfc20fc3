import { createServer } from "node:http";

/**
 * A server of chat completions and Anthropic messages for benchmarks that does as little as possible between a request and
 * its answer. Anthropic messages contain only text.
 * @param {(body: object, index: number) => Reply} answer
 * `Reply`: `{ text }` | `{ chunks: string[], delayMs? }` | `{ call: { name, arguments, pieces? } }`,
 * `pieces`: length of the chunks of the arguments, in characters
 */
export async function startModelServer(answer) {
	const requests = [];
	const waiting = [];
	const server = createServer(async (incoming, response) => {
		if (incoming.method === "GET") return void response.end('{"object":"list","data":[]}');
		const arrivedAt = performance.now();
		const parts = [];
		for await (const part of incoming) parts.push(part);
		const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
		const request = { arrivedAt, body, connection: incoming.socket.remotePort };
		const index = requests.push(request) - 1;
		for (const { count, resolve } of waiting) if (requests.length >= count) resolve(requests[count - 1]);
		response.writeHead(200, { "content-type": "text/event-stream" });
		const reply = answer(body, index);
		await (incoming.url?.includes("/messages") ? sendMessage(response, reply) : send(response, reply));
		request.answeredAt = performance.now();
	});
	await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
	const url = `http://127.0.0.1:${server.address().port}`;
	return {
		url,
		requests,
		/** Resolves with the request number `count`, 1-based. */
		request(count) {
			if (requests.length >= count) return Promise.resolve(requests[count - 1]);
			return new Promise((resolve) => waiting.push({ count, resolve }));
		},
		modelsJson: () => ({
			providers: {
				bench: {
					baseUrl: `${url}/v1`,
					api: "openai-completions",
					apiKey: "bench-key",
					compat: { supportsDeveloperRole: false, supportsStore: false, supportsReasoningEffort: false, maxTokensField: "max_tokens" },
					models: [MODEL],
				},
				"bench-messages": { baseUrl: url, api: "anthropic-messages", apiKey: "bench-key", models: [MODEL] },
			},
		}),
		async close() {
			await new Promise((resolve) => {
				server.close(resolve);
				server.closeAllConnections();
			});
		},
	};
}

const MODEL = { id: "scripted", name: "Scripted", contextWindow: 100_000_000, maxTokens: 16_384, input: ["text"] };

let ids = 0;

async function send(response, reply) {
	const frame = (delta, finish = null) =>
		`data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 0, model: "scripted", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
	if (reply.call) {
		const json = JSON.stringify(reply.call.arguments);
		const length = reply.call.pieces ?? json.length;
		const call = { index: 0, id: `call_${++ids}`, type: "function", function: { name: reply.call.name, arguments: json.slice(0, length) } };
		response.write(frame({ role: "assistant", tool_calls: [call] }));
		for (let at = length; at < json.length; at += length) {
			const fits = response.write(frame({ tool_calls: [{ index: 0, function: { arguments: json.slice(at, at + length) } }] }));
			if (!fits) await drained(response);
		}
		response.write(frame({}, "tool_calls"));
	} else {
		await sendChunks(response, reply, (content) => frame({ content }));
		response.write(frame({}, "stop"));
	}
	response.end("data: [DONE]\n\n");
}

async function sendMessage(response, reply) {
	const frame = (type, fields) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
	const usage = { input_tokens: 10, output_tokens: 1 };
	const message = { id: "m", type: "message", role: "assistant", model: "scripted", content: [], stop_reason: null, usage };
	response.write(frame("message_start", { message }));
	response.write(frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }));
	await sendChunks(response, reply, (text) =>
		frame("content_block_delta", { index: 0, delta: { type: "text_delta", text } }),
	);
	response.write(frame("content_block_stop", { index: 0 }));
	response.write(frame("message_delta", { delta: { stop_reason: "end_turn" }, usage }));
	response.end(frame("message_stop", {}));
}

async function sendChunks(response, reply, frame) {
	for (const content of reply.chunks ?? [reply.text]) {
		if (response.destroyed) return;
		const fits = response.write(frame(content));
		if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
		else if (!fits) await drained(response);
	}
}

function drained(response) {
	return new Promise((resolve) => {
		const settle = () => {
			response.off("drain", settle).off("close", settle);
			resolve();
		};
		response.on("drain", settle).on("close", settle);
	});
}
