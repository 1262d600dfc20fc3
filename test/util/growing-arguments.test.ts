import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readGrowingArguments } from "../../src/util/growing-arguments.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

/** Reads after each of 1000 pieces, 1 ms apart. @returns after which ones it read */
function readPieces(block: object, readMs: number): number[] {
	const read: number[] = [];
	for (let piece = 0; piece < 1000; piece++) {
		vi.advanceTimersByTime(1);
		readGrowingArguments(block, () => {
			vi.advanceTimersByTime(readMs);
			read.push(piece);
		});
	}
	return read;
}

test("short arguments are read with every piece", () => {
	expect(readPieces({}, 0)).toHaveLength(1000);
});

test("long ones take a tenth of the time, at equal distances", () => {
	const read = readPieces({}, 5);
	expect(read.slice(0, 4)).toEqual([0, 45, 90, 135]);
	expect(read).toHaveLength(23);
});

test("each call is by itself", () => {
	const [first, second] = [{}, {}];
	const read: string[] = [];
	const slow = (name: string) => () => {
		vi.advanceTimersByTime(100);
		read.push(name);
	};
	readGrowingArguments(first, slow("first"));
	readGrowingArguments(second, slow("second"));
	readGrowingArguments(first, slow("first"));
	expect(read).toEqual(["first", "second"]);
});
