import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { createRequire } from "node:module";
import type { Readable } from "node:stream";
import { type ByteSource, paceBytes } from "../util/paced-fetch.js";
import { LightBody } from "./light-body.js";
import { LightHeaders, type LightRequest } from "./light-headers.js";
import { currentScope, type Exchange } from "./request-scope.js";

/** The limits of Node's fetch, ms. */
const MAX_CONNECT_MS = 10_000;
const MAX_SILENCE_MS = 300_000;
/** Shorter than servers keep idle connections, ms. */
const MAX_IDLE_MS = 4000;
const ENCODINGS = "gzip, deflate, br";

const load = createRequire(import.meta.url);

type Client = (url: URL, options: RequestOptions) => ClientRequest;

/** Clients by protocol, each with the agent that keeps its connections. */
const clients = new Map<string, { request: Client; agent: Agent }>();

function clientFor(protocol: string): { request: Client; agent: Agent } {
	const loaded = clients.get(protocol);
	if (loaded) return loaded;
	// An import would read all members of the module, one of which loads Node's fetch on Node 22 and 24.
	const { request, Agent }: typeof import("node:http") = load(protocol === "https:" ? "node:https" : "node:http");
	const client = { request, agent: new Agent({ keepAlive: true, timeout: MAX_IDLE_MS }) };
	clients.set(protocol, client);
	return client;
}

/** Loads the client for an address, so that its first request need not wait for that. */
export function prepareLightFetch(url: string): void {
	if (/^https?:/.test(url)) clientFor(url.startsWith("https:") ? "https:" : "http:");
}

/**
 * `fetch` for the clients of models, on `node:http`: Node's own takes 15 to 30 ms to load, and WebAssembly that it compiles
 * in the background delays the exit of the process. It has the limits and the error messages of Node's fetch, and paces
 * event streams like `pacedFetch`. A redirect is returned, not followed.
 */
export async function lightFetch(address: string, init: LightRequest): Promise<Response> {
	const { signal } = init;
	const { exchange } = currentScope();
	signal?.throwIfAborted();
	const url = new URL(address);
	const { request, agent } = clientFor(url.protocol);
	const headers = Object.fromEntries(init.headers);
	headers["accept-encoding"] ??= ENCODINGS;
	if (init.body !== undefined) headers["content-length"] = String(Buffer.byteLength(init.body));
	const outgoing = request(url, { method: init.method ?? "GET", headers, agent, timeout: MAX_SILENCE_MS });
	const abort = () => outgoing.destroy();
	signal?.addEventListener("abort", abort, { once: true });
	let response: IncomingMessage;
	try {
		response = await send(outgoing, init.body ?? "");
	} catch (cause) {
		signal?.removeEventListener("abort", abort);
		signal?.throwIfAborted();
		if (cause instanceof Error) exchange?.onFailure(address, cause);
		throw new TypeError("fetch failed", { cause });
	}
	exchange?.onResponse(address, response.statusCode ?? 0, response.rawHeaders);
	response.once("close", () => signal?.removeEventListener("abort", abort));
	const body = await readBody(response, { address, exchange, signal });
	// Its headers and body are not of the global classes: see there.
	return new LightResponse(address, response, body) as unknown as Response;
}

/** Sends a request. @returns the response when its headers have arrived */
function send(outgoing: ClientRequest, body: string): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		const fail = (code: string, message: string) => outgoing.destroy(Object.assign(new Error(message), { code }));
		let timer: NodeJS.Timeout | undefined;
		outgoing.once("socket", (socket) => {
			if (!socket.connecting) return;
			timer = setTimeout(() => fail("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error"), MAX_CONNECT_MS);
			socket.once("encrypted" in socket ? "secureConnect" : "connect", () => clearTimeout(timer));
		});
		outgoing.once("timeout", () => fail("UND_ERR_HEADERS_TIMEOUT", "Headers Timeout Error"));
		outgoing.once("response", resolve);
		// A destroyed request may fail a second time, when nobody waits for it.
		outgoing.on("error", (error) => {
			clearTimeout(timer);
			reject(error);
		});
		outgoing.end(body);
	});
}

interface BodyContext {
	address: string;
	exchange: Exchange | undefined;
	signal: AbortSignal | null | undefined;
}

async function readBody(response: IncomingMessage, context: BodyContext): Promise<LightBody> {
	const source = bytesOf(response, await decode(response), context);
	const isStream = response.headers["content-type"]?.startsWith("text/event-stream");
	return new LightBody(isStream ? paceBytes(source) : source);
}

/** The body without its content encoding. */
async function decode(response: IncomingMessage): Promise<Readable> {
	const encoding = response.headers["content-encoding"]?.toLowerCase();
	if (encoding === undefined || encoding === "identity") return response;
	const { constants, createBrotliDecompress, createUnzip } = await import("node:zlib");
	// Passes on what has arrived, and accepts a body that ends early.
	const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
	const decoder =
		encoding === "br"
			? createBrotliDecompress({
					flush: constants.BROTLI_OPERATION_FLUSH,
					finishFlush: constants.BROTLI_OPERATION_FLUSH,
				})
			: /^(?:x-)?gzip$|^deflate$/.test(encoding)
				? createUnzip(flush)
				: null;
	if (decoder === null) return response;
	response.once("error", (error) => decoder.destroy(error));
	return response.pipe(decoder);
}

function bytesOf(response: IncomingMessage, body: Readable, { address, exchange, signal }: BodyContext): ByteSource {
	let failure: Error | null = null;
	let isEnded = false;
	let wake = () => {};
	const onEvent = () => wake();
	body.on("readable", onEvent);
	body.once("end", () => {
		isEnded = true;
		wake();
	});
	body.once("close", onEvent);
	body.once("error", (error) => {
		failure = error;
		wake();
	});
	return {
		async read() {
			for (;;) {
				const value: Uint8Array | null = body.read();
				if (value !== null) return { done: false, value };
				if (isEnded) return { done: true };
				signal?.throwIfAborted();
				if (failure !== null || body.destroyed) {
					const cause = failure ?? new Error("other side closed");
					exchange?.onFailure(address, cause);
					throw new TypeError("terminated", { cause });
				}
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		},
		async cancel() {
			response.destroy();
		},
	};
}

/** The part of `Response` that clients of models use. The global class is part of Node's fetch. */
class LightResponse {
	readonly status: number;
	readonly statusText: string;
	readonly headers: LightHeaders;
	#body: LightBody;

	constructor(
		readonly url: string,
		{ statusCode, statusMessage, rawHeaders }: IncomingMessage,
		body: LightBody,
	) {
		this.status = statusCode ?? 0;
		this.statusText = statusMessage ?? "";
		this.headers = new LightHeaders(rawHeaders);
		this.#body = body;
	}

	get ok(): boolean {
		return this.status >= 200 && this.status < 300;
	}

	get body(): LightBody {
		return this.#body;
	}

	async text(): Promise<string> {
		const chunks: Uint8Array[] = [];
		for await (const chunk of this.#body) chunks.push(chunk);
		return new TextDecoder().decode(Buffer.concat(chunks));
	}

	async json(): Promise<unknown> {
		return JSON.parse(await this.text());
	}

	clone(): LightResponse {
		const [mine, copy] = this.#body.tee();
		this.#body = mine;
		const raw = [...this.headers].flat();
		const message = { statusCode: this.status, statusMessage: this.statusText, rawHeaders: raw } as IncomingMessage;
		return new LightResponse(this.url, message, copy);
	}
}
