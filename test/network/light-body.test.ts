import { expect, test, vi } from "vitest";
import { LightBody } from "../../src/network/light-body.js";
import type { ByteSource } from "../../src/util/paced-fetch.js";

/** A body with these bytes, one chunk for each. */
function open(...bytes: number[]) {
	const chunks = bytes.map((byte) => Uint8Array.of(byte));
	const cancel = vi.fn<ByteSource["cancel"]>(async () => {});
	const body = new LightBody({
		async read() {
			const value = chunks.shift();
			return value ? { done: false, value } : { done: true };
		},
		cancel,
	});
	return { body, cancel };
}

async function read(body: LightBody): Promise<number[]> {
	const bytes: number[] = [];
	for await (const chunk of body) bytes.push(...chunk);
	return bytes;
}

test("a body is read with a loop or a reader", async () => {
	expect(await read(open(1, 2, 3).body)).toEqual([1, 2, 3]);
	const reader = open(1).body.getReader();
	expect([await reader.read(), await reader.read()]).toEqual([
		{ done: false, value: Uint8Array.of(1) },
		{ done: true },
	]);
	reader.releaseLock();
});

test("a loop that ends early, a reader and the body itself end the connection", async () => {
	const looped = open(1, 2);
	for await (const chunk of looped.body) if (chunk[0] === 1) break;
	const [other, whole] = [open(1), open(1)];
	await other.body.getReader().cancel("enough");
	await whole.body.cancel("enough");
	expect([looped, other, whole].map(({ cancel }) => cancel.mock.calls)).toEqual([[[]], [["enough"]], [["enough"]]]);
});

test("two halves have the bytes that are left, in any order of reads", async () => {
	const { body, cancel } = open(1, 2, 3);
	await body.getReader().read();
	const [left, right] = body.tee();
	const reader = left.getReader();
	expect((await reader.read()).value).toEqual(Uint8Array.of(2));
	expect(await read(right)).toEqual([2, 3]);
	expect((await reader.read()).value).toEqual(Uint8Array.of(3));
	expect(await reader.read()).toEqual({ done: true });
	await right.cancel();
	expect(cancel).toHaveBeenCalledOnce();
});

test("an error reaches both halves", async () => {
	const [left, right] = new LightBody({ read: () => Promise.reject(new Error("lost")), cancel: async () => {} }).tee();
	await expect(read(left)).rejects.toThrow("lost");
	await expect(read(right)).rejects.toThrow("lost");
});
