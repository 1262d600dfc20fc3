import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Calls } from "../../src/extensions/calls.js";
import { currentTheme, currentToolCall, openCode, runInTool } from "../../src/extensions/running-code.js";
import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import type { EntryTheme, HookEventContext, HookToolContext } from "../../src/hooks/types.js";

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

test("a timer has the theme of its call, even if the session has changed since", async () => {
	const theme = createTheme();
	let isStale = false;
	const ctx = {
		get ui() {
			if (isStale) throw new Error("the session changed");
			return { theme };
		},
	} as HookEventContext;
	const timer = await new Calls().run(ctx, () => ({ fired: nextTurn().then(currentTheme) }));
	isStale = true;
	expect(await timer.fired).toBe(theme);
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
