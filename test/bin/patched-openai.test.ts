import fc from "fast-check";
import { Stream } from "openai/core/streaming.mjs";
import { expect, test } from "vitest";

/** The events that the client reads from a body, which arrives in these chunks. */
async function read(chunks: readonly Uint8Array[]): Promise<unknown[]> {
	const body = new ReadableStream<Uint8Array>({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(chunk);
			controller.close();
		},
	});
	const events: unknown[] = [];
	for await (const event of Stream.fromSSEResponse(new Response(body), new AbortController())) events.push(event);
	return events;
}

/** Cuts bytes at these positions, in order. */
function cut(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
	const bounds = [0, ...positions.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
	return bounds.slice(1).map((end, index) => bytes.slice(bounds[index], end));
}

test("events are the same however the body is cut, with every kind of line end", async () => {
	const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
	const event = fc.record({ value: fc.string({ unit: "grapheme" }), lineEnd, comment: fc.boolean() });
	await fc.assert(
		fc.asyncProperty(
			fc.array(event, { maxLength: 8 }),
			fc.array(fc.nat(), { maxLength: 20 }),
			async (events, positions) => {
				const text = events.map(({ value, lineEnd, comment }) => {
					const lines = [...(comment ? [": a comment"] : []), `data: ${JSON.stringify(value)}`, ""];
					return lines.map((line) => `${line}${lineEnd}`).join("");
				});
				const bytes = new TextEncoder().encode(text.join(""));
				expect(await read(cut(bytes, positions))).toEqual(events.map(({ value }) => value));
			},
		),
	);
});

test.each([
	["an event without its blank line is dropped", "data: 1\n\ndata: 2\n", [1]],
	["an event without any line end is dropped", "data: 1\n\ndata: 2", [1]],
	["a body that ends with a carriage return ends its event", "data: 1\r\rdata: 2\r\r", [1, 2]],
	["data of several lines is joined", "data: [1,\ndata: 2]\n\n", [[1, 2]]],
	["nothing follows the last event", "data: 1\n\ndata: [DONE]\n\ndata: 2\n\n", [1]],
])("%s", async (_, text, events) => {
	expect(await read([new TextEncoder().encode(text)])).toEqual(events);
});

test("the cost of an event grows with its length, not with its square", async () => {
	/** CPU time of an event that arrives in `chunks` chunks of 1,000 bytes, in µs. */
	const cost = async (chunks: number) => {
		const value = "x".repeat(chunks * 1000);
		const bytes = new TextEncoder().encode(`data: ${JSON.stringify(value)}\n\n`);
		const cuts = Array.from({ length: chunks }, (_, index) => index * 1000);
		const before = process.cpuUsage();
		expect((await read(cut(bytes, cuts))).join("") === value).toBe(true);
		const { user, system } = process.cpuUsage(before);
		return user + system;
	};
	/** The smallest of several, because the CPU time of the process includes other threads. */
	const best = async (chunks: number) => Math.min(await cost(chunks), await cost(chunks), await cost(chunks));
	await cost(500);
	const short = await best(500);
	expect((await best(4000)) / short).toBeLessThan(24);
});
