import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../config/json-file.js";
import { isRecord } from "../util/is-record.js";

const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

/**
 * Requests a JSON object: with GET, or with POST if there is a body.
 * @throws if the server does not answer with a JSON object and status 200
 */
export async function requestJson(url: string, signal: AbortSignal, body?: JsonObject): Promise<JsonObject> {
	// Not fetch: its first use costs more than the complete search.
	const { request } = url.startsWith("https:") ? await import("node:https") : await import("node:http");
	const text = await new Promise<string>((resolve, reject) => {
		const headers = body ? { "content-type": "application/json" } : {};
		const sent = request(url, { method: body ? "POST" : "GET", agent: false, headers, signal }, (response) => {
			readBody(response).then(resolve, reject);
		});
		sent.on("error", reject);
		sent.end(body && JSON.stringify(body));
	});
	const answer: unknown = JSON.parse(text);
	if (!isRecord(answer)) throw new Error("the response is not a JSON object");
	return answer;
}

async function readBody(response: IncomingMessage): Promise<string> {
	if (response.statusCode !== 200) {
		response.destroy();
		throw new Error(`status ${response.statusCode}`);
	}
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of response) {
		const bytes = Buffer.from(chunk);
		size += bytes.length;
		if (size > MAX_ANSWER_BYTES) throw new Error("the response is too long");
		chunks.push(bytes);
	}
	return Buffer.concat(chunks).toString("utf8");
}
