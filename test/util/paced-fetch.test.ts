import { afterEach, describe, expect, test, vi } from "vitest";
import { pacedFetch } from "../../src/util/paced-fetch.js";

const EVENTS = Array.from(
	{ length: 2_000 },
	(_, index) => `data: {"event":${index},"text":"some text — ünïcode"}\n\n`,
).join("");

/** A server response that is available immediately, in chunks as large as those of a socket. */
function answer(contentType: string, chunkBytes = 64 * 1024): Response {
	const bytes = new TextEncoder().encode(EVENTS);
	const body = new ReadableStream<Uint8Array>({
		start(controller) {
			for (let at = 0; at < bytes.length; at += chunkBytes) controller.enqueue(bytes.slice(at, at + chunkBytes));
			controller.close();
		},
	});
	return new Response(body, { status: 200, headers: { "content-type": contentType, "x-request-id": "r1" } });
}

function workFor(ms: number): void {
	const end = performance.now() + ms;
	while (performance.now() < end);
}

test("an event stream arrives complete, with status and headers", async () => {
	const response = await pacedFetch(async () => answer("text/event-stream; charset=utf-8"))("http://127.0.0.1");
	expect({ status: response.status, id: response.headers.get("x-request-id") }).toEqual({ status: 200, id: "r1" });
	expect(await response.text()).toBe(EVENTS);
});

/** Reads a body with `workMs` of work per chunk. @returns its chunks, and the turns of the event loop meanwhile */
async function read({ body }: Response, workMs: number): Promise<{ chunks: Uint8Array[]; turns: number }> {
	let turns = 0;
	let reading = true;
	const turn = () => {
		turns += 1;
		if (reading) setImmediate(turn);
	};
	setImmediate(turn);
	const chunks: Uint8Array[] = [];
	for await (const chunk of body ?? []) {
		chunks.push(chunk);
		workFor(workMs);
	}
	reading = false;
	return { chunks, turns };
}

test("the event loop runs while a client processes an event stream", async () => {
	const response = await pacedFetch(async () => answer("text/event-stream"))("http://127.0.0.1");
	const { chunks, turns } = await read(response, 3);
	expect(Math.max(...chunks.map((chunk) => chunk.length))).toBe(4 * 1024);
	expect(chunks.length).toBeGreaterThan(20);
	expect(turns).toBeGreaterThan(chunks.length / 4);
});

test("the event loop runs while most of the time is spent reading", async () => {
	let left = 20;
	const body = new ReadableStream<Uint8Array>({
		pull(controller) {
			workFor(3);
			controller.enqueue(new Uint8Array(10));
			left -= 1;
			if (left === 0) controller.close();
		},
	});
	const source = new Response(body, { headers: { "content-type": "text/event-stream" } });
	const { chunks, turns } = await read(await pacedFetch(async () => source)("http://127.0.0.1"), 0);
	expect(chunks).toHaveLength(20);
	expect(turns).toBeGreaterThan(chunks.length / 4);
});

test("a client that stops reading cancels the body of the response", async () => {
	let canceled: unknown = null;
	const body = new ReadableStream<Uint8Array>({
		pull: (controller) => controller.enqueue(new Uint8Array(10)),
		cancel: (reason) => {
			canceled = reason;
		},
	});
	const source = new Response(body, { headers: { "content-type": "text/event-stream" } });
	const response = await pacedFetch(async () => source)("http://127.0.0.1");
	await response.body?.cancel("enough");
	expect(canceled).toBe("enough");
});

test("an error of the stream is passed on", async () => {
	const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("terminated")) });
	const source = new Response(body, { headers: { "content-type": "text/event-stream" } });
	const response = await pacedFetch(async () => source)("http://127.0.0.1");
	await expect(response.text()).rejects.toThrow("terminated");
});

test.each(["application/json", "text/html"])("a response of type %s is unchanged", async (type) => {
	const source = answer(type);
	expect(await pacedFetch(async () => source)("http://127.0.0.1")).toBe(source);
});

describe("a server that never ends the body", () => {
	afterEach(() => void vi.useRealTimers());

	/** Reads a response that sends `text` and never ends. @returns the state of the connection and the reader */
	async function open(text: string) {
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		const seen = { ended: false, canceled: false };
		let left = Buffer.byteLength(text);
		let allRead = () => {};
		const whenAllRead = new Promise<void>((resolve) => {
			allRead = resolve;
		});
		const body = new ReadableStream<Uint8Array>({
			start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
			cancel() {
				seen.canceled = true;
			},
		});
		const headers = { "content-type": "text/event-stream" };
		const response = await pacedFetch(async () => new Response(body, { headers }))("http://127.0.0.1");
		const read = async () => {
			for await (const chunk of response.body ?? []) {
				left -= chunk.length;
				if (left === 0) allRead();
			}
			seen.ended = true;
		};
		void read();
		await whenAllRead;
		return seen;
	}

	test("is disconnected some time after the last event", async () => {
		const seen = await open(`${EVENTS}data: [DONE]\n\n`);
		expect(seen).toEqual({ ended: false, canceled: false });
		await vi.waitFor(() => {
			vi.advanceTimersByTime(1000);
			expect(seen).toEqual({ ended: true, canceled: true });
		});
	});

	test("is not disconnected after text that quotes the last event", async () => {
		const seen = await open(`${EVENTS}data: {"text":"it ends with data: [DONE]`);
		await vi.advanceTimersByTimeAsync(60_000);
		expect(seen).toEqual({ ended: false, canceled: false });
	});
});
