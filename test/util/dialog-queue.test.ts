import { expect, test, vi } from "vitest";
import { DialogQueue, type QueuedDialog } from "../../src/util/dialog-queue.js";

/** A queue whose dialogs note what happens to them. */
function noted() {
	const notes: string[] = [];
	const queue = new DialogQueue<QueuedDialog & { answer(text: string): void }>(() => notes.push("empty"));
	const open = (name: string, limits: { signal?: AbortSignal; timeoutMs?: number; position?: number } = {}) =>
		queue.open<string>(
			(answer) => ({
				show: () => notes.push(`show ${name}`),
				onCancel: () => notes.push(`cancel ${name}`),
				answer,
			}),
			{ canceled: "canceled", ...limits },
		);
	return { queue, notes, open };
}

test("dialogs are shown one at a time, in order, and settle once", async () => {
	const { queue, notes, open } = noted();
	const results = [open("a"), open("b")];
	const first = queue.current;
	first?.answer("1");
	first?.answer("2");
	queue.current?.answer("3");
	expect(await Promise.all(results)).toEqual(["1", "3"]);
	expect(notes).toEqual(["show a", "show b", "empty"]);
});

test("a dialog at the first position covers the shown one, which is shown again", async () => {
	const { queue, notes, open } = noted();
	const [a, b] = [open("a"), open("b", { position: 0 })];
	queue.current?.answer("b");
	queue.current?.answer("a");
	expect(await Promise.all([a, b])).toEqual(["a", "b"]);
	expect(notes).toEqual(["show a", "show b", "show a", "empty"]);
});

test("a signal cancels a dialog that waits, without showing it", async () => {
	const { queue, notes, open } = noted();
	const [aborted, later] = [new AbortController(), new AbortController()];
	aborted.abort();
	const results = [open("a"), open("b", { signal: later.signal }), open("c", { signal: aborted.signal }), open("d")];
	later.abort();
	queue.cancel();
	queue.current?.answer("4");
	expect(await Promise.all(results)).toEqual(["canceled", "canceled", "canceled", "4"]);
	expect(notes).toEqual(["show a", "cancel a", "show d", "empty"]);
});

test("the time limit includes the time in the queue, and show says how much of it is over", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "hrtime"] });
	try {
		const { queue, open } = noted();
		const waits: number[] = [];
		const a = open("a");
		const b = queue.open<string>((answer) => ({ show: (waitedMs) => waits.push(waitedMs), answer }), {
			canceled: "late",
			timeoutMs: 100,
		});
		vi.advanceTimersByTime(60);
		queue.current?.answer("1");
		vi.advanceTimersByTime(40);
		expect(await Promise.all([a, b])).toEqual(["1", "late"]);
		expect(waits).toEqual([60]);
	} finally {
		vi.useRealTimers();
	}
});

test("canceling all shows none of those that wait; an error of show rejects and the next one is shown", async () => {
	const { queue, notes, open } = noted();
	const failed = queue.open<string>(
		(answer) => ({
			show() {
				throw new Error("no");
			},
			answer,
		}),
		{ canceled: "canceled" },
	);
	await expect(failed).rejects.toThrow("no");
	const results = [open("a"), open("b"), open("c")];
	queue.cancelAll();
	expect(await Promise.all(results)).toEqual(["canceled", "canceled", "canceled"]);
	expect(notes).toEqual(["empty", "show a", "cancel a", "empty"]);
});
