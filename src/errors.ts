import { dirname, relative } from "node:path";

/** The codes of `PiError`. They are part of the API: docs/errors.md lists them, and they are never renamed. */
export type PiErrorCode =
	| "bad_arguments"
	| "config_invalid"
	| "config_write_failed"
	| "file_unreadable"
	| "host_unreachable"
	| "hook_load_failed"
	| "hook_failed"
	| "hook_stale"
	| "hook_timeout"
	| "entry_refused"
	| "log_not_a_session"
	| "log_locked"
	| "log_not_found"
	| "log_read_only"
	| "log_write_failed"
	| "model_unknown"
	| "model_missing"
	| "key_missing"
	| "request_failed"
	| "context_invalid"
	| "context_locked"
	| "compaction_failed"
	| "prompt_refused"
	| "prompt_too_large"
	| "command_failed"
	| "limit_reached"
	| "session_busy"
	| "not_a_terminal"
	| "package_missing"
	| "package_failed"
	| "package_untrusted"
	| "package_unloaded"
	| "proxy_invalid"
	| "export_failed"
	| "tool_unknown";

/** Optional properties of a `PiError`. */
export interface PiErrorOptions {
	/** The underlying error. */
	cause?: unknown;
	/** The next step for the user, one sentence without a final period. */
	hint?: string;
}

/**
 * An error that is shown to the user. The message names the failed operation and its object, the hint the next step.
 * Callers branch on `code`, never on the text.
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

/** Codes of wrong usage: of the command line, or of a command in a prompt. */
const USAGE_ERRORS: ReadonlySet<PiErrorCode> = new Set(["bad_arguments", "not_a_terminal", "model_unknown"]);

/** The exit code of the program after a failure. @see docs/errors.md */
export function exitCodeOf(error: unknown): 1 | 2 {
	return error instanceof PiError && USAGE_ERRORS.has(error.code) ? 2 : 1;
}

/** A position in the source of a hook. */
export interface SourcePosition {
	/** Absolute path. */
	file: string;
	/** 1-based. */
	line: number;
	/** 1-based. */
	column: number;
}

/** Where a hook failed. */
export interface HookErrorSource {
	/** The innermost position in the hook's own source; without one, where the handler was registered. */
	place: SourcePosition | null;
	/** The stack trace of the cause, with positions in the source. */
	trace: string | null;
	/** The rule of the context check that an answer breaks. */
	rule?: string;
}

/**
 * An error in a hook: `hook_failed`, `hook_timeout` or `context_invalid`. The message names hook and event; `cause` is
 * the value that the handler threw, or a description of the rejected result.
 */
export class HookError extends PiError {
	/** The cause and its hint on one line, without hook and event. */
	readonly reason: string;
	/** Where the hook failed; null if unknown. */
	readonly place: SourcePosition | null;
	/** The stack trace of the cause, with positions in the source; null if the cause has none. */
	readonly trace: string | null;
	/** The rule of the context check that an answer breaks; undefined for other errors. */
	readonly rule: string | undefined;

	/** @param event name of the event, or `/name` of a command */
	constructor(
		code: PiErrorCode,
		readonly hookPath: string,
		readonly event: string,
		cause: unknown,
		{ place, trace, rule }: HookErrorSource = { place: null, trace: null },
	) {
		super(code, `Hook ${hookPath} failed on ${event}`, { cause });
		this.reason = describeError(cause);
		this.place = place;
		this.trace = trace;
		this.rule = rule;
	}
}

/** A hook's file in the message of an error, and the position of the call. */
const HOOK_FILE = / (?:of|in) (?:\/|[A-Za-z]:\\)\S*\.[cm]?[jt]s(?::\d+:\d+)?(?: at \S+:\d+:\d+)?(?=:? )/;

/** A failure of a hook, such as the event `hook_error`. */
export interface HookFailureFacts extends Partial<SourcePosition> {
	hookPath: string;
	event: string;
	error: string;
	cause?: PiError | undefined;
	/** Set with `--verbose`. */
	stack?: string;
}

/** The facts of an error for `describeHookError`, without its stack trace. */
export function hookFailure(cause: HookError): HookFailureFacts {
	const { hookPath, event, reason: error, place } = cause;
	return { hookPath, event, error, cause, ...place };
}

/**
 * A failure of a hook as one line, with its place in the source.
 * @param name names the hook: its path, or a shorter form of it
 */
export function describeHookError(failure: HookFailureFacts, name: string): string {
	const { event, cause } = failure;
	// The line names the hook already.
	const error = failure.error.includes(failure.hookPath) ? failure.error.replace(HOOK_FILE, "") : failure.error;
	const { subject, at } = locate(failure, name);
	return cause?.code === "hook_timeout"
		? `Hook ${subject} ${error} (event: ${event})${at}`
		: `Hook ${subject} failed on ${event}${at}: ${error}`;
}

/** `describeHookError`, followed by the stack trace if the failure has one. */
export function describeHookErrorInFull(failure: HookFailureFacts, name: string): string {
	const line = describeHookError(failure, name);
	return failure.stack === undefined ? line : `${line}\n${failure.stack}`;
}

/** Splits a place for a sentence: `gate.ts:12:5` for a hook's own file, else `gate.ts` and ` at lib/rules.ts:3:9`. */
export function locate(
	{ hookPath, file, line, column }: { hookPath: string } & Partial<SourcePosition>,
	name: string,
): { subject: string; at: string } {
	if (file === undefined) return { subject: name, at: "" };
	if (file === hookPath) return { subject: `${name}:${line}:${column}`, at: "" };
	return { subject: name, at: ` at ${relative(dirname(hookPath), file)}:${line}:${column}` };
}

/** Returns a thrown value, or an error instead if the value cannot be inspected, such as a revoked proxy. */
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
 * The message of a thrown value, on one line. Handlers may throw anything, such as undefined, a proxy or an object without
 * a prototype; this function never throws.
 */
export function errorText(thrown: unknown): string {
	try {
		if (thrown instanceof TypeError) return oneLine(sourceNames(thrown.message) || thrown.name);
		if (thrown instanceof Error) return oneLine(thrown.message || thrown.name);
		if (typeof thrown === "string") return oneLine(thrown);
		if (thrown === undefined || thrown === null) return `${thrown} was thrown`;
		return oneLine(JSON.stringify(thrown) ?? Object.prototype.toString.call(thrown));
	} catch {
		return UNREADABLE;
	}
}

/** One line for the user: message, cause (unless the message contains it) and hint. */
export function describeError(thrown: unknown): string {
	const message = errorText(thrown);
	if (!(thrown instanceof PiError)) return message;
	const cause = thrown.cause === undefined ? "" : systemReason(thrown.cause);
	const isKnown = message.includes(cause) || message.includes(cause.replace(HOOK_FILE, ""));
	const why = isKnown ? "" : `: ${cause}`;
	return `${message}${why}${thrown.hint ? ` · ${thrown.hint}` : ""}`;
}

/** The code of a `PiError` as a field of a line of JSON; no field for other values. */
export function codeField(thrown: unknown): { code?: PiErrorCode } {
	return thrown instanceof PiError ? { code: thrown.code } : {};
}

/** The text of an error, without the call and the path that Node adds to one of the system: that file may be temporary. */
export function systemReason(cause: unknown): string {
	const text = errorText(cause);
	const { syscall } = Object(cause) as NodeJS.ErrnoException;
	return typeof syscall === "string" && cause instanceof Error ? (text.split(`, ${syscall}`)[0] ?? text) : text;
}

/** Replaces the names that compilers give to imports, such as `(0, _lib.parse)`, with those of the source. */
function sourceNames(message: string): string {
	return message.replace(/\(0 ?, ?[\w$]+\.([\w$.]+)\)/g, "$1").replace(/\b__vite_ssr_import_\d+__\./g, "");
}

function oneLine(text: string): string {
	const lines = text.split("\n").map((line) => line.trim());
	return lines.filter((line) => line !== "").join(" ");
}
