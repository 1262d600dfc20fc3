import { PiError } from "../errors.js";
import { isRecord } from "../util/is-record.js";
import { textOf } from "./dialog-options.js";
import type { ReadSessionOptions, SearchSessionsOptions } from "./types.js";

/** Sessions that a search returns unless it says how many. */
const DEFAULT_LIMIT = 20;

/**
 * Checks the arguments of `ctx.sessions.search`: hooks are loaded without type checks.
 * @param signal of the call, which ends the search, too
 * @throws PiError `bad_arguments`
 */
export function checkSearch(
	text: unknown,
	options: unknown = {},
	signal: AbortSignal,
): [text: string, options: Required<SearchSessionsOptions>] {
	const where = "ctx.sessions.search";
	if (typeof text !== "string" || text.trim() === "") throw refused(where, `a text to find, not ${textOf(text)}`);
	if (!isRecord(options)) throw refused(where, `options as an object, not ${textOf(options)}`);
	const { everywhere = false, includeCurrent = false, limit = DEFAULT_LIMIT } = options;
	if (typeof everywhere !== "boolean" || typeof includeCurrent !== "boolean")
		throw refused(where, "true or false for everywhere and includeCurrent");
	if (!isWhole(limit) || limit < 1) throw refused(where, `a limit of 1 or more, not ${textOf(limit)}`);
	return [text, { everywhere, includeCurrent, limit, signal: either(where, signal, options.signal) }];
}

/** Checks the arguments of `ctx.sessions.read`, as `checkSearch`. @throws PiError `bad_arguments` */
export function checkRead(
	id: unknown,
	options: unknown = {},
	signal: AbortSignal,
): [id: string, options: Required<ReadSessionOptions>] {
	const where = "ctx.sessions.read";
	if (typeof id !== "string" || id === "") throw refused(where, `the id of a session, not ${textOf(id)}`);
	if (!isRecord(options)) throw refused(where, `options as an object, not ${textOf(options)}`);
	const { from = 0, limit = Number.MAX_SAFE_INTEGER } = options;
	if (!isWhole(from) || from < 0) throw refused(where, `the index of an entry as from, not ${textOf(from)}`);
	if (!isWhole(limit) || limit < 1) throw refused(where, `a limit of 1 or more, not ${textOf(limit)}`);
	return [id, { from, limit, signal: either(where, signal, options.signal) }];
}

function either(where: string, own: AbortSignal, given: unknown): AbortSignal {
	if (given === undefined) return own;
	if (!(given instanceof AbortSignal)) throw refused(where, "an AbortSignal as signal");
	return AbortSignal.any([own, given]);
}

function isWhole(value: unknown): value is number {
	return Number.isSafeInteger(value);
}

function refused(where: string, expected: string): PiError {
	return new PiError("bad_arguments", `${where} expects ${expected}`);
}
