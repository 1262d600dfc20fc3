import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { abortable, linkSignals, onAbort, sleep, withTimeLimit } from "../../src/util/abort.js";

/** Timers that keep this process alive: no tested function may leave one. */
const activeTimers = () => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;

test("a linked signal aborts with the reason of the first source that aborts", () => {
	const first = new AbortController();
	const second = new AbortController();
	const linked = linkSignals(first.signal, undefined, second.signal);
	second.abort("stop");
	first.abort("too late");
	expect(linked.signal.reason).toBe("stop");
});

test("a linked signal is aborted initially if a source is", () => {
	expect(linkSignals(AbortSignal.abort("before")).signal.reason).toBe("before");
});

test("an unlinked signal no longer follows its sources", () => {
	const source = new AbortController();
	const linked = linkSignals(source.signal);
	linked.unlink();
	source.abort();
	expect(linked.signal.aborted).toBe(false);
});

test("a time limit aborts a function that does not end, even if the garbage is collected meanwhile", async () => {
	setFlagsFromString("--expose-gc");
	const collect: () => void = runInNewContext("gc");
	const source = new AbortController();
	const running = withTimeLimit(50, [source.signal, undefined], async (signal) => {
		setTimeout(collect, 5);
		await abortable(new Promise<never>(() => {}), signal);
	});
	await expect(running).rejects.toMatchObject({ name: "TimeoutError" });
});

test("a time limit passes on the abort of a source, and leaves no timer", async () => {
	const before = activeTimers();
	const source = new AbortController();
	const running = withTimeLimit(60_000, [source.signal], (signal) => abortable(new Promise<never>(() => {}), signal));
	source.abort("stop");
	await expect(running).rejects.toBe("stop");
	await expect(withTimeLimit(60_000, [], async () => 7)).resolves.toBe(7);
	expect(activeTimers()).toBeLessThanOrEqual(before);
});

test("a removed listener is not called", () => {
	const controller = new AbortController();
	let calls = 0;
	onAbort(controller.signal, () => calls++);
	onAbort(controller.signal, () => calls++)();
	controller.abort();
	expect(calls).toBe(1);
});

test("an aborted sleep rejects with the reason of its signal and leaves no timer", async () => {
	const before = activeTimers();
	const controller = new AbortController();
	const slept = sleep(60_000, controller.signal);
	controller.abort("woken");
	await expect(slept).rejects.toBe("woken");
	await expect(sleep(60_000, controller.signal)).rejects.toBe("woken");
	await sleep(0);
	// Timers of earlier tests may end meanwhile.
	expect(activeTimers()).toBeLessThanOrEqual(before);
});

test("an abortable promise settles like the promise behind it", async () => {
	const { signal } = new AbortController();
	await expect(abortable(Promise.resolve(7), signal)).resolves.toBe(7);
	await expect(abortable(Promise.reject("no"), signal)).rejects.toBe("no");
});

test("an abortable promise rejects immediately on abort, even if the work settles later", async () => {
	const controller = new AbortController();
	let fail: (reason: unknown) => void = () => {};
	const work = new Promise<never>((_resolve, reject) => {
		fail = reject;
	});
	const waiting = abortable(work, controller.signal);
	controller.abort("enough");
	await expect(waiting).rejects.toBe("enough");
	fail("a late rejection is nobody's business");
});
