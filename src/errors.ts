/**
 * Every code a `PiError` can carry. Codes are part of the interface: they are listed in docs/errors.md and never renamed.
 */
export type PiErrorCode =
	| "bad_arguments"
	| "config_invalid"
	| "config_write_failed"
	| "file_unreadable"
	| "hook_load_failed"
	| "hook_failed"
	| "hook_stale"
	| "hook_timeout"
	| "entry_refused"
	| "log_not_a_session"
	| "log_locked"
	| "log_not_found"
	| "log_write_failed"
	| "model_unknown"
	| "model_missing"
	| "key_missing"
	| "request_failed"
	| "context_invalid"
	| "context_locked"
	| "compaction_failed"
	| "command_failed"
	| "session_busy"
	| "not_a_terminal"
	| "export_failed"
	| "tool_unknown";

/** What a `PiError` is made of besides its message. */
export interface PiErrorOptions {
	/** The failure underneath. */
	cause?: unknown;
	/** What the user can do next, one sentence without a final period. */
	hint?: string;
}

/**
 * A failure that a person is told about. The message says what failed and on which thing, the hint what to do next;
 * callers branch on `code`, never on text.
 */
export class PiError extends Error {
	readonly code: PiErrorCode;
	readonly hint: string | undefined;

	constructor(code: PiErrorCode, message: string, options: PiErrorOptions = {}) {
		super(message, options.cause === undefined ? undefined : { cause: options.cause });
		this.name = "PiError";
		this.code = code;
		this.hint = options.hint;
	}
}

/**
 * A failure of one hook: `hook_failed`, `hook_timeout` or `context_invalid`. The message names hook and event; `cause` is
 * what the handler threw, or a sentence about the answer that was refused.
 */
export class HookError extends PiError {
	/** What went wrong, without hook and event: the cause and its hint, on one line. */
	readonly reason: string;

	/**
	 * @param hookPath path of the hook's file
	 * @param event name of the event, or `/name` of a command
	 */
	constructor(
		code: PiErrorCode,
		readonly hookPath: string,
		readonly event: string,
		cause: unknown,
	) {
		super(code, `Hook ${hookPath} failed on ${event}`, { cause });
		this.reason = describeError(cause);
	}
}

/**
 * A failure of a hook as one line.
 * @param file names the hook: its path, or a shorter form of it
 */
export function describeHookError(
	{ event, error, cause }: { event: string; error: string; cause?: PiError | undefined },
	file: string,
): string {
	return cause?.code === "hook_timeout"
		? `Hook ${file} ${error} (event: ${event})`
		: `Hook ${file} failed on ${event}: ${error}`;
}

/** What foreign code has thrown, or an error instead if it cannot be inspected at all, such as a revoked proxy. */
export function inspectable(thrown: unknown): unknown {
	try {
		if (typeof thrown === "object" && thrown !== null) Object.getPrototypeOf(thrown);
		return thrown;
	} catch {
		return new Error(UNREADABLE);
	}
}

const UNREADABLE = "something unreadable was thrown";

/**
 * The text of anything that was thrown, on one line.
 * Handlers may throw what they like: undefined, proxies, objects without a prototype. None of it may throw here.
 */
export function errorText(thrown: unknown): string {
	try {
		if (thrown instanceof Error) return oneLine(thrown.message || thrown.name);
		if (typeof thrown === "string") return oneLine(thrown);
		if (thrown === undefined) return "undefined was thrown";
		return oneLine(JSON.stringify(thrown) ?? Object.prototype.toString.call(thrown));
	} catch {
		return UNREADABLE;
	}
}

/** One line for the user: message, cause when it adds something, hint. */
export function describeError(thrown: unknown): string {
	const message = errorText(thrown);
	if (!(thrown instanceof PiError)) return message;
	const cause = thrown.cause === undefined ? "" : errorText(thrown.cause);
	const why = cause && !message.includes(cause) ? `: ${cause}` : "";
	return `${message}${why}${thrown.hint ? ` · ${thrown.hint}` : ""}`;
}

function oneLine(text: string): string {
	return text.replace(/\s*\n\s*/g, " ").trim();
}
