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
	 * Turns these tools on and all others off, from the next request until the session ends, also across `/reload`. The user
	 * can change this with `/tools`.
	 * @param options `mayJoin`: a name that no tool has is accepted; a tool that gets this name later is on
	 * @throws PiError `tool_unknown` for a name that no tool has, and `bad_arguments`, changing nothing
	 */
	setActive(names: readonly string[], options?: { mayJoin?: boolean }): void;
}
