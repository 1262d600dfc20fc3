import { createServer, type IncomingHttpHeaders } from "node:http";
import type { Api, Context, Model, ThinkingLevel } from "@mariozechner/pi-ai";
import { networkOf, setUpNetwork } from "../../src/network/network.js";
import { loadModelClient } from "../../src/services/models/model-client.js";
import { isObject, type JsonObject, parseJson } from "./json.js";

/** A request as it left pi. */
export interface CapturedRequest {
	path: string;
	headers: IncomingHttpHeaders;
	body: JsonObject;
}

export interface CaptureOptions {
	/** Default: off. */
	level?: ThinkingLevel | "off";
	/** Default: a system prompt, one prompt and one tool. */
	context?: Context;
	sessionId?: string;
}

const part = (claims: unknown) => Buffer.from(JSON.stringify(claims)).toString("base64url");
/** A key that all clients accept: Codex reads the account from it. */
const KEY = `e30.${part({ "https://api.openai.com/auth": { chatgpt_account_id: "account" } })}.c2ln`;

const HI: Context = {
	systemPrompt: "Be brief.",
	messages: [{ role: "user", content: "hi", timestamp: 0 }],
	tools: [
		{ name: "ls", description: "Lists a directory", parameters: { type: "object", properties: {}, required: [] } },
	],
};

/** Environment variables that the Bedrock client needs to send requests to a server on this machine. */
export const BEDROCK_ENV = { AWS_BEDROCK_FORCE_HTTP1: "1", AWS_BEDROCK_SKIP_AUTH: "1" };

/**
 * Sends requests with pi's client of models to a server that refuses them, and returns them. Call `close` at the end.
 * @param env of the network
 */
export async function startCapture(env: Record<string, string> = {}) {
	const { fetch } = globalThis;
	await setUpNetwork(env);
	const client = await loadModelClient(await networkOf(env));
	const waiting = new Map<string, (request: CapturedRequest) => void>();
	const server = createServer((request, response) => {
		const chunks: Buffer[] = [];
		request.on("data", (chunk: Buffer) => chunks.push(chunk));
		request.on("end", () => {
			const [, id = "", ...path] = (request.url ?? "").split("/");
			const body = parseJson(Buffer.concat(chunks).toString("utf8"));
			waiting.get(id)?.({ path: `/${path.join("/")}`, headers: request.headers, body: isObject(body) ? body : {} });
			// 400: clients do not retry.
			response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"captured"}}');
		});
	});
	// Codex tries a WebSocket first where Node has them.
	server.on("upgrade", (_, socket) => socket.destroy());
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("The server does not listen");
	const origin = `http://127.0.0.1:${address.port}`;
	let count = 0;
	return {
		async capture(model: Model<Api>, { level = "off", context = HI, sessionId = "session" }: CaptureOptions = {}) {
			const id = String(++count);
			let captured: CapturedRequest | null = null;
			waiting.set(id, (request) => {
				captured = request;
			});
			// The id of the request is the first part of its path.
			const at = `${origin}/${id}`;
			const sent = { ...model, baseUrl: at };
			await client.prepare(sent);
			const reply = await client
				.stream(sent, context, {
					apiKey: KEY,
					sessionId,
					maxRetries: 0,
					...(level !== "off" && { reasoning: level }),
				})
				.result();
			waiting.delete(id);
			if (!captured) throw new Error(`${model.provider}/${model.id} sent nothing: ${reply.errorMessage}`);
			return captured as CapturedRequest;
		},
		close() {
			globalThis.fetch = fetch;
			server.closeAllConnections();
			server.close();
		},
	};
}
