import { expect, test } from "vitest";
import { dialogLimits } from "../../src/hooks/dialog-options.js";

test.each([
	[0, { timeoutMs: 0 }],
	[5_000, { timeoutMs: 5_000 }],
	[2 ** 31, { timeoutMs: 2 ** 31 - 1 }],
	[Number.POSITIVE_INFINITY, { timeoutMs: 2 ** 31 - 1 }],
	[Number.NaN, {}],
	[-1, {}],
])("a dialog with timeout %d waits as long as a timer can", (timeout, limits) => {
	expect(dialogLimits({ timeout })).toEqual(limits);
});
