import { afterEach, describe, expect, test, vi } from "vitest";
import { pacedFetch } from "../../src/util/paced-fetch.js";

const EVENTS = Array.from(
	{ length: 2_000 },
	(_, index) => `data: {"event":${index},"text":"some text — ünïcode"}\n\n`,
).join("");

/** A server's answer: all of it is there at once, in chunks as large as a socket gives them. */
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

test("an event stream arrives whole, with status and headers", async () => {
	const response = await pacedFetch(async () => answer("text/event-stream; charset=utf-8"))("http://127.0.0.1");
	expect({ status: response.status, id: response.headers.get("x-request-id") }).toEqual({ status: 200, id: "r1" });
	expect(await response.text()).toBe(EVENTS);
});

/** Reads a body, `workMs` for each part. @returns its parts, and how often the event loop went round meanwhile */
async function read({ body }: Response, workMs: number): Promise<{ parts: Uint8Array[]; turns: number }> {
	let turns = 0;
	let reading = true;
	const turn = () => {
		turns += 1;
		if (reading) setImmediate(turn);
	};
	setImmediate(turn);
	const parts: Uint8Array[] = [];
	for await (const part of body ?? []) {
		parts.push(part);
		workFor(workMs);
	}
	reading = false;
	return { parts, turns };
}

test("while a client is busy with an event stream the event loop goes round", async () => {
	const response = await pacedFetch(async () => answer("text/event-stream"))("http://127.0.0.1");
	const { parts, turns } = await read(response, 3);
	expect(Math.max(...parts.map((part) => part.length))).toBe(4 * 1024);
	expect(parts.length).toBeGreaterThan(20);
	expect(turns).toBeGreaterThan(parts.length / 4);
});

test("the event loop also goes round where most of the time goes into reading", async () => {
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
	const { parts, turns } = await read(await pacedFetch(async () => source)("http://127.0.0.1"), 0);
	expect(parts).toHaveLength(20);
	expect(turns).toBeGreaterThan(parts.length / 4);
});

test("a client that stops reading cancels the request's body", async () => {
	let cancelled: unknown = null;
	const body = new ReadableStream<Uint8Array>({
		pull: (controller) => controller.enqueue(new Uint8Array(10)),
		cancel: (reason) => {
			cancelled = reason;
		},
	});
	const source = new Response(body, { headers: { "content-type": "text/event-stream" } });
	const response = await pacedFetch(async () => source)("http://127.0.0.1");
	await response.body?.cancel("enough");
	expect(cancelled).toBe("enough");
});

test("a stream that breaks off breaks off", async () => {
	const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("terminated")) });
	const source = new Response(body, { headers: { "content-type": "text/event-stream" } });
	const response = await pacedFetch(async () => source)("http://127.0.0.1");
	await expect(response.text()).rejects.toThrow("terminated");
});

test.each(["application/json", "text/html"])("a response of type %s is passed on as it is", async (type) => {
	const source = answer(type);
	expect(await pacedFetch(async () => source)("http://127.0.0.1")).toBe(source);
});

describe("a server that never ends the body", () => {
	afterEach(() => void vi.useRealTimers());

	/** An answer that says `text` and nothing more. Resolves when that is read. @returns what became of it */
	async function open(text: string) {
		vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
		const seen = { ended: false, left: false };
		let left = Buffer.byteLength(text);
		let allRead = () => {};
		const whenAllRead = new Promise<void>((resolve) => {
			allRead = resolve;
		});
		const body = new ReadableStream<Uint8Array>({
			start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
			cancel() {
				seen.left = true;
			},
		});
		const headers = { "content-type": "text/event-stream" };
		const response = await pacedFetch(async () => new Response(body, { headers }))("http://127.0.0.1");
		const read = async () => {
			for await (const part of response.body ?? []) {
				left -= part.length;
				if (left === 0) allRead();
			}
			seen.ended = true;
		};
		void read();
		await whenAllRead;
		return seen;
	}

	test("is left a while after it has said that all is said", async () => {
		const seen = await open(`${EVENTS}data: [DONE]\n\n`);
		expect(seen).toEqual({ ended: false, left: false });
		await vi.waitFor(() => {
			vi.advanceTimersByTime(1000);
			expect(seen).toEqual({ ended: true, left: true });
		});
	});

	test("is waited for when it has only quoted that", async () => {
		const seen = await open(`${EVENTS}data: {"text":"it ends with data: [DONE]`);
		await vi.advanceTimersByTimeAsync(60_000);
		expect(seen).toEqual({ ended: false, left: false });
	});
});
