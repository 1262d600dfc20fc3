import type { JsonObject } from "../../config/json-file.js";
import { errorText } from "../../errors.js";
import { isRecord } from "../../util/is-record.js";
import { packageVersion } from "../../util/package-root.js";

/** Maximum size of an answer, all pages of a list included. */
export const MAX_ANSWER_BYTES = 20 * 1024 * 1024;

/** Maximum size of the body of a refusal, which is a short text. */
const MAX_ERROR_BYTES = 64 * 1024;

export interface AnswerRequest {
	url: string;
	headers?: Record<string, string>;
	signal: AbortSignal;
	/** What is left of `MAX_ANSWER_BYTES`. Default: all. */
	maxBytes?: number;
}

/** A server does not accept the key. `isCertain`: not only for this request, such as a key without the right to list models. */
export class KeyRefused extends Error {
	constructor(
		message: string,
		readonly isCertain: boolean,
	) {
		super(message);
	}
}

/**
 * Requests a JSON object with `fetch`, and so through the proxies of the session.
 * @returns the object, and its size in bytes
 * @throws Error with one line that says why there is no answer; `KeyRefused` if that is the key
 */
export async function readAnswer(request: AnswerRequest): Promise<{ answer: JsonObject; bytes: number }> {
	const { url, headers = {}, signal, maxBytes = MAX_ANSWER_BYTES } = request;
	// A key must not follow a redirect to another server.
	const response = await send(url, {
		headers: { "user-agent": `pi/${packageVersion()}`, ...headers },
		signal,
		redirect: "manual",
	});
	if (response.status !== 200) throw await describeStatus(response, url, signal);
	const body = await readBody(response, url, maxBytes, signal);
	let answer: unknown;
	try {
		answer = JSON.parse(body.toString("utf8"));
	} catch {
		throw new Error(`the answer of ${hostOf(url)} is not JSON`);
	}
	if (!isRecord(answer)) throw new Error(`the answer of ${hostOf(url)} is not a JSON object`);
	return { answer, bytes: body.length };
}

async function send(url: string, options: RequestInit): Promise<Response> {
	try {
		return await fetch(url, options);
	} catch (error) {
		throw describe(error, url, options.signal ?? undefined);
	}
}

async function readBody(response: Response, url: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	try {
		for await (const chunk of response.body ?? []) {
			size += chunk.length;
			if (size > maxBytes) break;
			chunks.push(chunk);
		}
	} catch (error) {
		throw describe(error, url, signal);
	}
	if (size > maxBytes) {
		throw new Error(`the answer of ${hostOf(url)} is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MB`);
	}
	return Buffer.concat(chunks);
}

function describe(error: unknown, url: string, signal: AbortSignal | undefined): Error {
	if (signal?.aborted) {
		const isLate = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
		return new Error(isLate ? `${hostOf(url)} did not answer in time` : "canceled", { cause: error });
	}
	// The cause says more than "fetch failed".
	const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
	return new Error(`cannot reach ${hostOf(url)}: ${errorText(cause) || "the connection failed"}`, { cause: error });
}

async function describeStatus(response: Response, url: string, signal: AbortSignal): Promise<Error> {
	const { status } = response;
	const answered = `${hostOf(url)} answered ${status}`;
	// Google's answer to a wrong key.
	const isGoogleKey = status === 400 && (await hasText(response, url, "API_KEY_INVALID", signal));
	if (!response.bodyUsed) await response.body?.cancel();
	if (isGoogleKey || status === 401 || status === 403) {
		return new KeyRefused(`${answered}: the key is not accepted`, status !== 403);
	}
	return new Error(status >= 300 && status < 400 ? `${answered}: a redirect, which pi does not follow` : answered);
}

async function hasText(response: Response, url: string, text: string, signal: AbortSignal): Promise<boolean> {
	return (await readBody(response, url, MAX_ERROR_BYTES, signal).catch(() => "")).includes(text);
}

function hostOf(url: string): string {
	return URL.canParse(url) ? new URL(url).host : url;
}
