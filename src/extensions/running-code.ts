import { PLAIN_THEME } from "../hooks/plain-theme.js";
import type { EntryTheme, HookToolContext } from "../hooks/types.js";
import { AsyncScopes, type OpenScope } from "../util/async-scopes.js";

/** The surroundings of code of an extension that runs now. */
interface RunningCode {
	/** The theme of the session. */
	theme(): EntryTheme;
	/** The context of the tool call that the code answers. */
	tool?: HookToolContext;
}

/** Functions of imported packages have no context object: they find the session through the code that calls them. */
const running = new AsyncScopes<RunningCode>();
/** The theme of the session that was called last, for timers, which outlast the call. */
let lastTheme: EntryTheme = PLAIN_THEME;

/** Opens a scope for code of an extension, which may call functions of imported packages. Close it when the call has settled. */
export function openCode(code: Pick<RunningCode, "theme">): OpenScope {
	return running.open({ ...running.current, ...code });
}

/** Keeps the theme of a call for code that runs after it. */
export function keepTheme(theme: EntryTheme): void {
	lastTheme = theme;
}

/** Calls code that answers a call of a tool. */
export async function runInTool<T>(tool: HookToolContext, action: () => Promise<T>): Promise<T> {
	const scope = running.open({ theme: () => tool.ctx.ui.theme, tool });
	try {
		return await scope.run(action);
	} finally {
		scope.close();
	}
}

/** The theme of the session whose code runs now; text without styles before the first call. */
export function currentTheme(): EntryTheme {
	return running.current?.theme() ?? lastTheme;
}

/** The tool call that runs now. */
export function currentToolCall(): HookToolContext | undefined {
	return running.current?.tool;
}
