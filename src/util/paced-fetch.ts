import { monotonicMs } from "./clock.js";

/** Maximum time for processing received data before keys and frames are handled, ms. */
const MAX_BUSY_MS = 5;
/** Maximum size of a chunk, bytes. Clients copy the rest of a chunk for every event in it, so small chunks cost less. */
const MAX_CHUNK_BYTES = 4 * 1024;
/** The event that marks the end of chat completions, at the end of the received data. */
const LAST_EVENT = /\ndata: ?\[DONE\]\s*$/;
/** Number of bytes at the end of the body that contain that event. */
const TAIL_BYTES = 32;
/** Maximum wait for the end of the body after it, ms. Some servers never end it. */
const END_MS = 1000;

const latin1 = new TextDecoder("latin1");

/**
 * Wraps `fetch` so that the program stays responsive while a server sends at full speed. Passes on the body of an event
 * stream in small chunks and yields to the event loop between them; otherwise Node reads megabytes at a time for as long
 * as data is available. Other responses are unchanged.
 */
export function pacedFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
	return async (...request) => {
		const response = await fetch(...request);
		if (!response.body || !response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
		const paced = new Response(toStream(paceBytes(response.body.getReader())), response);
		// A constructed response has no URL.
		return Object.defineProperty(paced, "url", { value: response.url });
	};
}

/** Delivers the bytes of a body in order. */
export interface ByteSource {
	/** @throws if the connection broke */
	read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: Uint8Array | undefined }>;
	/** Ends the connection. */
	cancel(reason?: unknown): Promise<void>;
}

/** The same bytes in small chunks with pauses, up to the end of the body or its last event. */
export function paceBytes(source: ByteSource): ByteSource {
	let rest: Uint8Array = new Uint8Array(0);
	let yieldedAt = monotonicMs();
	let tail = "";
	return {
		async read() {
			if (monotonicMs() - yieldedAt > MAX_BUSY_MS) {
				await new Promise((resolve) => setImmediate(resolve));
				yieldedAt = monotonicMs();
			}
			if (rest.length === 0) {
				const next = LAST_EVENT.test(tail) ? await readSoon(source) : await source.read();
				if (next.done) return next;
				rest = next.value;
			}
			const chunk = rest.subarray(0, MAX_CHUNK_BYTES);
			rest = rest.subarray(MAX_CHUNK_BYTES);
			tail = (tail + latin1.decode(chunk.subarray(-TAIL_BYTES))).slice(-TAIL_BYTES);
			return { done: false, value: chunk };
		},
		cancel: (reason) => source.cancel(reason),
	};
}

function toStream(source: ByteSource): ReadableStream<Uint8Array> {
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				const { done, value } = await source.read();
				if (done) controller.close();
				else controller.enqueue(value);
			},
			cancel: (reason) => source.cancel(reason),
		},
		// No read-ahead: buffered data would be processed without a pause.
		{ highWaterMark: 0 },
	);
}

/** Reads the next chunk; treats silence as the end. */
async function readSoon(source: ByteSource) {
	let timer: NodeJS.Timeout | undefined;
	const silence = new Promise<{ done: true; value?: undefined }>((resolve) => {
		timer = setTimeout(() => {
			resolve({ done: true });
			source.cancel().catch(() => {}); // the connection is already broken, and no more data is needed
		}, END_MS);
	});
	try {
		return await Promise.race([source.read(), silence]);
	} finally {
		clearTimeout(timer);
	}
}
