import fc from "fast-check";
import { expect, test } from "vitest";
import { type HandlerTimes, handlerTimes } from "../../src/hooks/events.js";
import type { SessionEvent } from "../../src/hooks/types.js";

const SHUTDOWN: SessionEvent = {
	type: "session",
	reason: "shutdown",
	isReload: false,
	entries: [],
	sessionFile: null,
	previousSessionFile: null,
};

/** Simulates handlers that need these ms, with a fake clock. @returns the time limit of each and the total time */
function callAll(wantedMs: readonly number[], hookTimeoutMs: number): { hadMs: (number | null)[]; tookMs: number } {
	let clock = 0;
	const times: HandlerTimes = handlerTimes(SHUTDOWN, { count: wantedMs.length, hookTimeoutMs, now: () => clock });
	const hadMs = wantedMs.map((wanted) => {
		const had = times.next();
		clock += Math.min(wanted, had ?? wanted);
		return had;
	});
	return { hadMs, tookMs: clock };
}

test("a single hook has the complete shutdown time, but never more than hookTimeout", () => {
	expect(callAll([Number.POSITIVE_INFINITY], 30_000)).toEqual({ hadMs: [2000], tookMs: 2000 });
	expect(callAll([Number.POSITIVE_INFINITY], 100)).toEqual({ hadMs: [100], tookMs: 100 });
});

test("twenty hanging hooks take as long as one, and each of them runs with its guaranteed share", () => {
	const { hadMs, tookMs } = callAll(Array(20).fill(Number.POSITIVE_INFINITY), 30_000);
	expect(hadMs).toEqual([1050, ...Array(19).fill(50)]);
	expect(tookMs).toBe(2000);
});

test("a slow hook can use the time that fast hooks before it did not need", () => {
	expect(callAll([0, 0, 10, 1500], 30_000).hadMs).toEqual([1250, 1500, 1750, 1990]);
});

test("every handler has its guaranteed share, and all together never exceed the limit", () => {
	const wanted = fc.array(fc.double({ min: 0, max: 5000, noNaN: true }), { minLength: 1, maxLength: 40 });
	fc.assert(
		fc.property(wanted, fc.integer({ min: 1, max: 60_000 }), (wantedMs, hookTimeoutMs) => {
			const totalMs = Math.min(2000, hookTimeoutMs);
			const { hadMs, tookMs } = callAll(wantedMs, hookTimeoutMs);
			expect(tookMs).toBeLessThanOrEqual(totalMs + 1e-6);
			for (const had of hadMs) expect(had).toBeGreaterThanOrEqual(totalMs / (2 * wantedMs.length) - 1e-6);
		}),
	);
});
