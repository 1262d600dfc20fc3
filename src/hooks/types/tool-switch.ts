import type { ImageContent, TextContent } from "@mariozechner/pi-ai";

/** The result of `ctx.tools.call`, frozen. */
export interface ToolCallResult {
	/** What the model would get. */
	readonly content: readonly (TextContent | ImageContent)[];
	readonly details?: unknown;
	/** True for a call that failed, was blocked, or has invalid arguments; the content says why. */
	readonly isError: boolean;
	/** Name of the hook that blocked the call. */
	readonly blockedBy?: string;
}

/** A tool of the session. */
export interface SessionToolInfo {
	readonly name: string;
	/** For the model. */
	readonly description: string;
	/** The JSON Schema of its arguments, as a copy. */
	readonly parameters: Readonly<Record<string, unknown>>;
	/** `built-in`, the path of its file or hook, `MCP server <name>`, or `SDK` for a tool of an SDK program. */
	readonly source: string;
}

/** The tools of the session, as `ctx.tools`. Lists are frozen and in the order of the request. */
export interface HookTools {
	/** Every tool of the session. */
	readonly all: readonly SessionToolInfo[];
	/** Those that are on: the model gets them with the next request, unless a `context` handler drops some. */
	readonly active: readonly SessionToolInfo[];
	/**
	 * Those that the model had in its last request: the active ones without those that `context` handlers hid. Check it where the model
	 * chooses what `call` runs.
	 */
	readonly offered: readonly SessionToolInfo[];
	/**
	 * Turns these tools on and all others off, from the next request until the session ends, also across `/reload`. The user
	 * can change this with `/tools`.
	 * @param options `mayJoin`: a name that no tool has is accepted; a tool that gets this name later is on
	 * @throws PiError `tool_unknown` for a name that no tool has, and `bad_arguments`, changing nothing
	 */
	setActive(names: readonly string[], options?: { mayJoin?: boolean }): void;
	/**
	 * Runs a tool that is on, through the same gates as a call of the model: the arguments are validated, `tool_call` handlers
	 * may block or change the call or ask the user, and `tool_result` handlers may change the result. The call is an entry of
	 * the session, but not part of the context. It ends with `ctx.signal` and `options.signal`; a time limit of the handler is
	 * paused meanwhile. Calls of tools that are not read-only run one after another. A tool that runs cannot be called again
	 * from within its own run: the result says so.
	 * @throws the reason of `ctx.signal` once it is aborted; PiError `tool_unknown` for a tool that does not exist or is off; `bad_arguments`; `context_locked` in `context`,
	 * `tool_call` and `tool_result` handlers; `log_read_only` in a session that was opened only to be read
	 */
	call(name: string, args?: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<ToolCallResult>;
}
