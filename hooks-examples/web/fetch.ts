import type { IncomingMessage, RequestOptions } from "node:http";
import { Readable } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { proxyOf } from "@mariozechner/pi-coding-agent/hooks";
import { type CheckedHost, hostOf, isAddress, isPrivateAddress, resolveHost } from "./addresses.js";

const MAX_REDIRECTS = 5;
const MAX_BYTES = 5 * 1024 * 1024;
const TIMEOUT_MS = 20_000;
const MAX_URL = 4000;

/** What a request tells about itself: no cookies, no keys, no referrer. */
const HEADERS = {
	"user-agent": "Mozilla/5.0 (compatible; pi web_fetch)",
	accept: "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.5",
	"accept-encoding": "gzip, deflate, br",
};

/** What a server sent. */
export interface Answer {
	/** After redirects. */
	url: URL;
	status: number;
	/** In lower case; empty if the server names none. */
	contentType: string;
	bytes: Buffer;
	/** True if the body was longer than 5 MB: the rest was not read. */
	isCut: boolean;
	/** Bytes of the body as the server says; null if it does not. */
	length: number | null;
}

export interface FetchOptions {
	signal: AbortSignal;
	/** Private addresses that the user has allowed for this call, for host and port of the URL only. */
	allowed?: readonly string[];
	/** Default: 20 s for everything. Milliseconds. */
	timeoutMs?: number;
	/** Sent instead of the request for a page. It may contain a key, so a redirect is then an error. */
	message?: Message;
}

/** A request to a service. */
export interface Message {
	headers: Readonly<Record<string, string>>;
	/** JSON; absent for a GET request. */
	body?: string;
}

/** A request, and where it may go. */
interface Sending {
	allowed: readonly string[];
	message: Message | undefined;
	signal: AbortSignal;
}

/**
 * Reads a URL as `web_fetch` accepts it.
 * @throws Error for another scheme, or with a user name
 */
export function parseAddress(text: string): URL {
	const url = URL.canParse(text) && text.length <= MAX_URL ? new URL(text) : null;
	if (url === null) throw new Error("This is not a URL. Pass a complete one, such as https://example.com/page.");
	if (!/^https?:$/.test(url.protocol)) throw new Error(`${url.protocol} is not fetched, only http: and https:.`);
	if (url.username || url.password)
		throw new Error("The URL contains a user name or a password. Pass it without them.");
	url.hash = "";
	return url;
}

/**
 * The private addresses that a request would connect to: those of a host on this machine or in its network. A name is not resolved if a
 * proxy does that.
 * @throws the error of the resolver
 */
export async function privateAddresses(url: URL): Promise<string[]> {
	const host = hostOf(url);
	if (isAddress(host)) return isPrivateAddress(host) ? [host] : [];
	return proxyOf(url.href) ? [] : [...(await resolveHost(url)).private];
}

/**
 * Fetches a URL, and follows at most 5 redirects to public addresses. It connects only to addresses that it has checked.
 * @throws Error with what happened, for the model; the reason of `signal` once it is aborted
 */
export async function fetchAddress(
	url: URL,
	{ signal, allowed = [], timeoutMs = TIMEOUT_MS, message }: FetchOptions,
): Promise<Answer> {
	const ended = new AbortController();
	const timeout = new Error(`${url.host} took longer than ${timeoutMs / 1000} s`);
	const timer = setTimeout(() => ended.abort(timeout), timeoutMs);
	const abort = () => ended.abort(signal.reason);
	signal.addEventListener("abort", abort, { once: true });
	try {
		signal.throwIfAborted();
		const work = follow(url, { allowed, message, signal: ended.signal });
		return await Promise.race([work, rejection(ended.signal)]);
	} catch (error) {
		signal.throwIfAborted();
		throw ended.signal.aborted ? timeout : error;
	} finally {
		clearTimeout(timer);
		signal.removeEventListener("abort", abort);
		ended.abort();
	}
}

/** The resolver cannot be stopped, so that its answer is not waited for. */
function rejection(signal: AbortSignal): Promise<never> {
	return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

async function follow(first: URL, sending: Sending): Promise<Answer> {
	let url = first;
	for (let count = 0; ; count++) {
		const allowed = url.host === first.host ? sending.allowed : [];
		const { status, headers, body } = await request(url, { ...sending, allowed });
		const location = headers.get("location");
		if (location === null || ![301, 302, 303, 307, 308].includes(status)) {
			return { url, status, ...(await readBody(headers, body)) };
		}
		body.destroy();
		if (sending.message) throw new Error(`${first.host} redirects to another address, which a search does not follow`);
		if (count === MAX_REDIRECTS) throw new Error(`${first.host} redirects more than ${MAX_REDIRECTS} times`);
		url = redirect(url, location);
	}
}

function redirect(from: URL, location: string): URL {
	if (!URL.canParse(location, from)) throw new Error(`${from.host} redirects to something that is not a URL`);
	const target = new URL(location, from).href;
	let url: URL;
	try {
		url = parseAddress(target);
	} catch (error) {
		throw new Error(
			`${from.host} redirects to an address that is not fetched. ${error instanceof Error ? error.message : ""}`,
		);
	}
	if (from.protocol === "https:" && url.protocol === "http:") {
		throw new Error(
			`${from.host} redirects from https to ${url.href}, which is not encrypted. Fetch that URL if it is what you want.`,
		);
	}
	return url;
}

interface Exchange {
	status: number;
	headers: Pick<Headers, "get">;
	body: Readable;
}

async function request(url: URL, sending: Sending): Promise<Exchange> {
	const { allowed, message, signal } = sending;
	const isProxied = proxyOf(url.href) !== null;
	if (isProxied && !isAddress(hostOf(url))) return requestThroughProxy(url, sending);
	const host = await resolveHost(url).catch((error: NodeJS.ErrnoException) => {
		throw new Error(`The name ${url.hostname} cannot be resolved (${error.code ?? error.message})`);
	});
	signal.throwIfAborted();
	const refused = host.private.filter((address) => !allowed.includes(address));
	if (refused.length > 0) {
		const is = refused[0] === host.name ? "" : ` is ${refused.join(", ")}, which`;
		const next = message ? "" : `. Fetch ${url.href} itself: the user is then asked first.`;
		throw new Error(`${host.name}${is} is not an address of the public internet${next}`);
	}
	return isProxied ? requestThroughProxy(url, sending) : requestDirectly(url, host, sending);
}

async function requestThroughProxy(url: URL, { message, signal }: Sending): Promise<Exchange> {
	try {
		const { status, headers, body } = await fetch(url, {
			...(message?.body !== undefined && { method: "POST", body: message.body }),
			redirect: "manual",
			headers: { ...HEADERS, ...message?.headers },
			signal,
			credentials: "omit",
		});
		const stream = body === null ? Readable.from([]) : Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
		// It is decoded already.
		return {
			status,
			headers: { get: (name) => (name === "content-encoding" ? null : headers.get(name)) },
			body: stream,
		};
	} catch (error) {
		throw failure(url, error instanceof Error && error.cause instanceof Error ? error.cause : error);
	}
}

/** Sends a request to addresses that are checked: nothing resolves the name a second time. */
async function requestDirectly(url: URL, { addresses }: CheckedHost, { message, signal }: Sending): Promise<Exchange> {
	const { request: send } = await (url.protocol === "https:" ? import("node:https") : import("node:http"));
	const options: RequestOptions = {
		...(message?.body !== undefined && { method: "POST" }),
		headers: { ...HEADERS, ...message?.headers },
		agent: false,
		signal,
		lookup: (_host, { all }, callback) => {
			const [first] = addresses;
			if (all) callback(null, [...addresses]);
			else callback(first ? null : new Error("no address"), first?.address ?? "", first?.family ?? 4);
		},
	};
	const response = await new Promise<IncomingMessage>((resolve, reject) => {
		send(url, options, resolve).on("error", reject).end(message?.body);
	}).catch((error: unknown) => {
		throw failure(url, error);
	});
	const get = (name: string) => {
		const value = response.headers[name];
		return value === undefined ? null : String(value);
	};
	return { status: response.statusCode ?? 0, headers: { get }, body: response };
}

function failure(url: URL, error: unknown): Error {
	const { code, message } =
		error instanceof Error ? (error as NodeJS.ErrnoException) : { code: undefined, message: "" };
	return new Error(`${url.host} cannot be reached (${code ?? message})`);
}

async function readBody(
	headers: Exchange["headers"],
	body: Readable,
): Promise<Pick<Answer, "contentType" | "bytes" | "isCut" | "length">> {
	const chunks: Buffer[] = [];
	let size = 0;
	const decoded = decode(headers.get("content-encoding"), body);
	try {
		for await (const chunk of decoded) {
			chunks.push(Buffer.from(chunk));
			size += chunk.length;
			if (size > MAX_BYTES) break;
		}
	} catch (error) {
		throw new Error(`The page broke off after ${size} bytes (${error instanceof Error ? error.message : error})`);
	} finally {
		body.destroy();
	}
	return {
		contentType: (headers.get("content-type") ?? "").toLowerCase(),
		bytes: Buffer.concat(chunks).subarray(0, MAX_BYTES),
		isCut: size > MAX_BYTES,
		length: headers.get("content-length") === null ? null : Number(headers.get("content-length")),
	};
}

/** The body without its content encoding, read as far as needed: what it expands to is limited too. */
function decode(encoding: string | null, body: Readable): Readable {
	const name = encoding?.trim().toLowerCase() ?? "";
	const decoder =
		name === "br" ? createBrotliDecompress() : /^(?:x-)?gzip$|^deflate$/.test(name) ? createUnzip() : null;
	if (decoder === null) return body;
	body.once("error", (error) => decoder.destroy(error));
	return body.pipe(decoder);
}
