import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OpenRequests } from "../../src/mcp/open-requests.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const unanswered = (signal: AbortSignal) =>
	new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("the limit of a request stops while the user is asked, and starts again with the answer", async () => {
	const requests = new OpenRequests();
	let limited: AbortSignal | undefined;
	const sent = requests.send(1000, new AbortController().signal, (signal) => {
		limited = signal;
		return unanswered(signal);
	});
	const failed = expect(sent).rejects.toThrow("timed out");
	let reply = (_text: string) => {};
	const answer = new Promise<string>((resolve) => {
		reply = resolve;
	});
	const asked = requests.ask(new AbortController().signal, () => answer);
	await vi.advanceTimersByTimeAsync(60_000);
	expect(limited?.aborted).toBe(false);
	reply("yes");
	expect(await asked).toBe("yes");
	await vi.advanceTimersByTimeAsync(999);
	expect(limited?.aborted).toBe(false);
	await vi.advanceTimersByTimeAsync(1);
	await failed;
});

test("progress restarts the limit of a request", async () => {
	const requests = new OpenRequests();
	const sent = requests.send(1000, new AbortController().signal, (signal, restart) => {
		setTimeout(restart, 900);
		return unanswered(signal);
	});
	const failed = expect(sent).rejects.toThrow("timed out");
	await vi.advanceTimersByTimeAsync(1899);
	await vi.advanceTimersByTimeAsync(1);
	await failed;
});

test("a question closes with the last request that waits for it", async () => {
	const requests = new OpenRequests();
	const [first, second] = [new AbortController(), new AbortController()];
	for (const { signal } of [first, second]) requests.send(1000, signal, unanswered).catch(() => {});
	let question: AbortSignal | undefined;
	const asked = requests.ask(new AbortController().signal, (signal) => {
		question = signal;
		return unanswered(signal);
	});
	const closed = expect(asked).rejects.toThrow();
	first.abort();
	expect(question?.aborted).toBe(false);
	second.abort();
	expect(question?.aborted).toBe(true);
	await closed;
});
