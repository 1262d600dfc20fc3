import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { currentTheme, currentToolCall, openCode, runInTool } from "../../src/extensions/running-code.js";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import type { EntryTheme, HookToolContext } from "../../src/hooks/types.js";

function createTheme(): EntryTheme {
	return { ...PLAIN_THEME };
}

test("code has the theme of its own session while that of another runs", async () => {
	const [first, second] = [createTheme(), createTheme()];
	const [one, other] = [openCode({ theme: () => first }), openCode({ theme: () => second })];
	const themes = one.run(async () => {
		await nextTurn();
		return currentTheme();
	});
	expect(other.run(currentTheme)).toBe(second);
	expect(await themes).toBe(first);
	one.close();
	other.close();
});

test("a timer that outlasts its call still has a theme", async () => {
	const theme = createTheme();
	const code = openCode({ theme: () => theme });
	const later = code.run(async () => {
		await nextTurn();
		return currentTheme();
	});
	code.close();
	expect(await later).toBe(theme);
});

test("code of a tool finds its call until it has answered", async () => {
	const call = { toolCallId: "call_1" } as HookToolContext;
	const during = await runInTool(call, async () => {
		await nextTurn();
		return currentToolCall();
	});
	expect([during, currentToolCall()]).toEqual([call, undefined]);
	await expect(runInTool(call, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
	expect(currentToolCall()).toBeUndefined();
});
