/** Receives the address and the body of a failed response. */
type BodyListener = (url: string, body: string) => void;

const listeners = new Set<BodyListener>();
/** Longer bodies do not only say what is wrong. Bytes. */
const MAX_BYTES = 64 * 1024;

/**
 * Passes the JSON bodies of failed responses (status 400 and above) to a listener, before the client reads them.
 * @returns ends it
 */
export function watchErrorBodies(listener: BodyListener): () => void {
	listeners.add(listener);
	return () => void listeners.delete(listener);
}

/** Wraps `fetch` for `watchErrorBodies`. Responses are unchanged. */
export function withErrorBodies(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	return async (...request) => {
		const response = await fetch(...request);
		const { status, headers, url } = response;
		if (status < 400 || listeners.size === 0 || !/\bjson\b/i.test(headers.get("content-type") ?? "")) return response;
		if (Number(headers.get("content-length")) > MAX_BYTES) return response;
		try {
			const body = await response.clone().text();
			for (const listener of listeners) listener(url, body);
		} catch {
			// It broke off: the client fails to read it too, and reports that.
		}
		return response;
	};
}
