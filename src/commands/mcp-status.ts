import type { LoginDialogs } from "./login-dialogs.js";

/**
 * What an MCP server is doing. `off`: turned off; `idle`: not needed yet; `login`: it needs a login; `failed`: it did not
 * start, or ended.
 */
export type McpServerState = "off" | "idle" | "starting" | "ready" | "login" | "failed";

/** A tool of an MCP server. */
export interface McpToolStatus {
	name: string;
	description: string;
	/** Estimated tokens of its definition. */
	tokens: number;
	/** False for a tool that a search must find first, or that the user did not choose. */
	isOffered: boolean;
}

/** An MCP server with what it offers. */
export interface McpServerStatus {
	name: string;
	/** The file that defines it. */
	source: string;
	/** Its command line or URL. */
	address: string;
	state: McpServerState;
	/** Number of starts in this session. */
	starts: number;
	tools: readonly McpToolStatus[];
	/** Commands of its prompts, without the slash. */
	prompts: readonly string[];
	/** Estimated tokens of its tools in the next request. */
	tokens: number;
	lastError: string | null;
	/** The file with its log; absent if nothing was logged. */
	logPath?: string;
}

/** The MCP servers of the session, for commands. Every name of a server that does not exist is a PiError `bad_arguments`. */
export interface CommandMcp {
	list(): McpServerStatus[];
	/** The problems of the files that define servers, one line each. */
	readonly problems: readonly string[];
	/** Starts the servers that are not running. Resolves when each is ready or has failed, or with the signal. */
	ready(signal: AbortSignal): Promise<void>;
	/** Ends a server and starts it again. Resolves when it is ready or has failed. */
	restart(name: string): Promise<void>;
	/** Turns a server off or on, until the session ends. */
	setEnabled(name: string, isOn: boolean): Promise<void>;
	/** The last lines of what a server has printed to stderr, and of what happened to it. */
	log(name: string): string[];
	/**
	 * Logs in to a server through the browser. A dialog has the keyboard until the login ends.
	 * @returns false when the user canceled it
	 * @throws PiError `command_failed`
	 */
	logIn(name: string, dialogs: LoginDialogs, signal: AbortSignal): Promise<boolean>;
	/** Forgets the login to a server. @returns false if there was none */
	logOut(name: string): Promise<boolean>;
	/** Calls `listener` when anything has changed. @returns a function that unsubscribes it */
	subscribe(listener: () => void): () => void;
}
