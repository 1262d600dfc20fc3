import { expect, test } from "vitest";
import { localDate } from "../../src/util/clock.js";

test("the date is that of the local time zone", () => {
	expect(localDate(new Date(2026, 0, 2, 0, 0, 0).getTime())).toBe("2026-01-02");
	expect(localDate(new Date(2026, 11, 31, 23, 59, 59).getTime())).toBe("2026-12-31");
});
