/** How long what arrives may be worked on before keys and frames get their turn, ms. */
const MAX_BUSY_MS = 5;
/** What is handed on at once, bytes. Clients copy what is left of a part for every event in it: small ones cost them less. */
const MAX_PART_BYTES = 4 * 1024;
/** The event with which chat completions say that nothing more comes, at the end of what was read. */
const LAST_EVENT = /\ndata: ?\[DONE\]\s*$/;
/** As much of the end of a body as that event needs, bytes. */
const TAIL_BYTES = 32;
/** How long a server may take to end the body after it, ms. Some never do. */
const END_MS = 1000;

const latin1 = new TextDecoder("latin1");

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

/** Loads Node's HTTP client, which otherwise comes with the first request and holds it up for tens of milliseconds. */
export function loadHttpClient(): void {
	Reflect.get(globalThis, "Headers");
}

/** The same bytes, in parts and with breaks, to the end of the body or of what it says. */
function pace(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
	const reader = body.getReader();
	let rest: Uint8Array = new Uint8Array(0);
	let turnedAt = performance.now();
	let tail = "";
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				if (performance.now() - turnedAt > MAX_BUSY_MS) {
					await new Promise((resolve) => setImmediate(resolve));
					turnedAt = performance.now();
				}
				if (rest.length === 0) {
					const { done, value } = LAST_EVENT.test(tail) ? await readSoon(reader) : await reader.read();
					if (done) return controller.close();
					rest = value;
				}
				const part = rest.subarray(0, MAX_PART_BYTES);
				rest = rest.subarray(MAX_PART_BYTES);
				tail = (tail + latin1.decode(part.subarray(-TAIL_BYTES))).slice(-TAIL_BYTES);
				controller.enqueue(part);
			},
			cancel: (reason) => reader.cancel(reason),
		},
		// Nothing is asked for before it is wanted: what waits here would be worked on without a break.
		{ highWaterMark: 0 },
	);
}

/** Reads on, but takes silence for the end. */
async function readSoon(reader: ReadableStreamDefaultReader<Uint8Array>) {
	let timer: NodeJS.Timeout | undefined;
	const silence = new Promise<{ done: true; value?: undefined }>((resolve) => {
		timer = setTimeout(() => {
			resolve({ done: true });
			reader.cancel().catch(() => {}); // it is broken already; nothing more was wanted of it
		}, END_MS);
	});
	try {
		return await Promise.race([reader.read(), silence]);
	} finally {
		clearTimeout(timer);
	}
}
