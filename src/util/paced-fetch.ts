/** How long what arrived may be worked on before keys and frames get their turn, ms. */
const MAX_BUSY_MS = 5;
/** A read that took longer has let the event loop go round. ms. */
const MIN_WAIT_MS = 2;
/** What is handed on at once, bytes. Clients copy what is left of a part for every event in it: small ones cost them less. */
const MAX_PART_BYTES = 4 * 1024;

/**
 * Wraps `fetch` for a program that must answer its user while a server sends at full speed. The body of an event stream
 * is handed on in parts, and the event loop goes round between them; otherwise Node reads on for as long as there is
 * something to read, megabytes at a time. Other responses pass as they are.
 */
export function pacedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	return async (...request) => {
		const response = await fetch(...request);
		if (!response.body || !response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
		const paced = new Response(pace(response.body), response);
		// A response that was made, not fetched, has none.
		return Object.defineProperty(paced, "url", { value: response.url });
	};
}

/** The same bytes, in parts and with breaks. */
function pace(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
	const reader = body.getReader();
	let rest: Uint8Array = new Uint8Array(0);
	let busyMs = 0;
	let handedOnAt = performance.now();
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				busyMs += performance.now() - handedOnAt;
				if (busyMs > MAX_BUSY_MS) {
					await new Promise((resolve) => setImmediate(resolve));
					busyMs = 0;
				}
				if (rest.length === 0) {
					const askedAt = performance.now();
					const { done, value } = await reader.read();
					if (done) return controller.close();
					if (performance.now() - askedAt > MIN_WAIT_MS) busyMs = 0;
					rest = value;
				}
				const part = rest.subarray(0, MAX_PART_BYTES);
				rest = rest.subarray(MAX_PART_BYTES);
				handedOnAt = performance.now();
				controller.enqueue(part);
			},
			cancel: (reason) => reader.cancel(reason),
		},
		// Nothing is asked for before it is wanted: only then is the time between two parts that of the work on the first.
		{ highWaterMark: 0 },
	);
}
