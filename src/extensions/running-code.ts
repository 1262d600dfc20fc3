import { AsyncLocalStorage } from "node:async_hooks";
import { PLAIN_THEME } from "../hooks/plain-theme.js";
import type { EntryTheme, HookToolContext } from "../hooks/types.js";

/** The surroundings of code of an extension that runs now. */
interface RunningCode {
	/** The theme of the session. */
	theme(): EntryTheme;
	/** The context of the tool call that the code answers. */
	tool?: HookToolContext;
}

/** Functions of imported packages have no context object: they find the session through the code that calls them. */
const running = new AsyncLocalStorage<RunningCode>();

/** Calls code of an extension, which may call functions of imported packages. */
export function runCode<T>(code: Pick<RunningCode, "theme">, action: () => T): T {
	return running.run({ ...running.getStore(), ...code }, action);
}

/** Calls code that answers a call of a tool. */
export function runInTool<T>(tool: HookToolContext, action: () => T): T {
	return running.run({ theme: () => tool.ctx.ui.theme, tool }, action);
}

/** The theme of the session whose code runs now; text without styles outside of such code. */
export function currentTheme(): EntryTheme {
	return running.getStore()?.theme() ?? PLAIN_THEME;
}

/** The tool call that runs now. */
export function currentToolCall(): HookToolContext | undefined {
	return running.getStore()?.tool;
}
