import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { withCallerStack } from "../../src/util/caller-stack.js";

/** Fails later, so that its caller is no longer on the stack. */
async function failLater(error: unknown): Promise<never> {
	await nextTurn();
	throw error;
}

/** The number of frames in a stack trace that name a function. */
function frames(error: Error, name: string): number {
	return error.stack?.split(`at ${name} `).length ?? 0;
}

test("the trace of a failure ends with its caller, once for each, though nothing waits for the call", async () => {
	const error = new Error("late");
	const failing = withCallerStack(failLater);
	const callerOne = () => failing(error);
	const callerTwo = () => failing(error);
	for (const caller of [callerOne, callerTwo, callerTwo]) {
		await new Promise((resolve) => void caller().catch(resolve));
	}
	expect([frames(error, "callerOne") - 1, frames(error, "callerTwo") - 1]).toEqual([1, 1]);
	expect(error.stack).toMatch(/^Error: late\n {4}at /);
});

test.each([["a text"], [undefined], [Object.freeze(new Error("frozen"))]])(
	"a failure whose trace cannot change is passed on: %s",
	async (thrown) => {
		const stack = thrown instanceof Error ? thrown.stack : undefined;
		await expect(withCallerStack(failLater)(thrown)).rejects.toBe(thrown);
		if (thrown instanceof Error) expect(thrown.stack).toBe(stack);
	},
);

test("arguments and result are passed on", async () => {
	const add = withCallerStack(async (a: number, b: number) => a + b);
	expect(await add(1, 2)).toBe(3);
});
