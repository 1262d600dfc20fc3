import { createServer } from "node:http";

/**
 * A chat completions server for benchmarks that does as little as possible between a request and its answer.
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
		const index = requests.push({ arrivedAt, body, connection: incoming.socket.remotePort }) - 1;
		for (const { count, resolve } of waiting) if (requests.length >= count) resolve(requests[count - 1]);
		response.writeHead(200, { "content-type": "text/event-stream" });
		await send(response, answer(body, index));
		requests[index].answeredAt = performance.now();
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
					models: [{ id: "scripted", name: "Scripted", contextWindow: 100_000_000, maxTokens: 16_384, input: ["text"] }],
				},
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
		for (const content of reply.chunks ?? [reply.text]) {
			if (response.destroyed) return;
			const fits = response.write(frame({ content }));
			if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
			else if (!fits) await drained(response);
		}
		response.write(frame({}, "stop"));
	}
	response.end("data: [DONE]\n\n");
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
