import { currentScope } from "./request-scope.js";

/** Longer bodies do not only say what is wrong. Bytes. */
const MAX_BYTES = 64 * 1024;

/**
 * Wraps `fetch` so that the exchange of a request gets the JSON body of a failed response (status 400 and above) before
 * the client reads it. Responses are unchanged.
 */
export function withErrorBodies(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	return async (...request) => {
		const { exchange } = currentScope();
		const response = await fetch(...request);
		const { status, headers, url } = response;
		if (status < 400 || !exchange || !/\bjson\b/i.test(headers.get("content-type") ?? "")) return response;
		if (Number(headers.get("content-length")) > MAX_BYTES) return response;
		try {
			exchange.onErrorBody(url, await response.clone().text());
		} catch {
			// It broke off: the client fails to read it too, and reports that.
		}
		return response;
	};
}
