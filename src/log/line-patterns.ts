/**
 * Everything pi assumes about the bytes of a line in a session file, so that it can read files without parsing each
 * line. pi writes `type`, `timestamp` and `message` first and in this order, without spaces between them. A line that
 * another program wrote may differ: the functions then return 0 or undefined, and the line must be decoded.
 * `test/log/line-patterns.test.ts` checks them against the codec.
 */

import type { UsageAmounts } from "./request-usage.js";

/** The only byte that ends a line. */
export const LF = 10;
/** Bytes at the start of a line that `TypeTable.numberAt` and `roleAt` may read. */
export const HEAD_BYTES = 96;
const QUOTE = 34;
/** How many types are compared byte by byte before the type of a line is looked up as text. */
const QUICK_TYPES = 8;
/** More types than any real file has. Further types in a damaged or hostile file are decoded when needed. */
const MAX_TYPES = 60_000;
const TYPE_START = Buffer.from('{"type":"');
/** The line of a message has an ISO time of 24 characters between these two. */
const BEFORE_TIME = Buffer.from('{"type":"message","timestamp":"');
const BEFORE_ROLE = Buffer.from('Z","message":{"role":"');
const ROLE_AT = BEFORE_TIME.length + 23 + BEFORE_ROLE.length;
/** Roles by number; 0 means that the head of the line does not contain the role. */
export const ROLES = ["", "user", "assistant", "toolResult", "bashExecution"] as const;
const ROLE_HEADS = ROLES.map((role) => Buffer.from(`${role}"`));

/** The author of a message. */
export type MessageRole = Exclude<(typeof ROLES)[number], "">;

/** Entry types by number; 0 means that the head of the line does not contain the type. */
export class TypeTable {
	readonly #names: string[] = [""];
	/** The names as bytes, with the closing quote. */
	readonly #heads: Buffer[] = [Buffer.alloc(0)];
	readonly #numbers = new Map<string, number>();

	/** Every type seen so far; a type's position is its number. */
	get names(): readonly string[] {
		return this.#names;
	}

	/** Number of the type that the line `bytes[at, end)`, or its head, begins with; 0 if the line must be decoded. */
	numberAt(bytes: Buffer, at: number, end: number): number {
		const from = at + TYPE_START.length;
		if (end < from + 2 || !startsWith(bytes, TYPE_START, at, end)) return 0;
		for (let number = 1; number < this.#heads.length && number <= QUICK_TYPES; number++) {
			const head = this.#heads[number];
			if (head && startsWith(bytes, head, from, end)) return number;
		}
		const quote = bytes.subarray(from, Math.min(end, from + HEAD_BYTES)).indexOf(QUOTE);
		const type = quote < 0 ? "" : bytes.toString("latin1", from, from + quote);
		return /^[\w.:/-]+$/.test(type) ? this.numberOf(type) : 0; // escapes and other letters: decode the line
	}

	/** True if the type has a number. */
	has(type: string): boolean {
		return this.#numbers.has(type);
	}

	/** The number of a type, added if it is new; 0 if there are too many types. */
	numberOf(type: string): number {
		const known = this.#numbers.get(type);
		if (known !== undefined) return known;
		if (this.#names.length > MAX_TYPES) return 0;
		this.#names.push(type);
		this.#heads.push(Buffer.from(`${type}"`));
		this.#numbers.set(type, this.#names.length - 1);
		return this.#names.length - 1;
	}
}

/** Number of the role at the head of a message's line `bytes[at, end)`; 0 for other lines, or if it must be decoded. */
export function roleAt(bytes: Buffer, at: number, end: number): number {
	const from = at + ROLE_AT;
	const timeEnd = from - BEFORE_ROLE.length;
	if (!startsWith(bytes, BEFORE_ROLE, timeEnd, end) || !startsWith(bytes, BEFORE_TIME, at, end)) return 0;
	for (let time = at + BEFORE_TIME.length; time < timeEnd; time++) if (bytes[time] === QUOTE) return 0;
	for (let number = 1; number < ROLE_HEADS.length; number++) {
		const head = ROLE_HEADS[number];
		if (head && startsWith(bytes, head, from, end)) return number;
	}
	return 0;
}

/** Types of the entries that record usage; `""` is a type that the head of the line does not contain. */
const USAGE_TYPES: readonly (string | undefined)[] = ["message", "request_usage", ""];

/** False if the line `bytes[at, end)`, or its head, is certainly not one of an entry that records usage. */
export function mayRecordUsage(bytes: Buffer, at: number, end: number, types: TypeTable): boolean {
	if (!USAGE_TYPES.includes(types.names[types.numberAt(bytes, at, end)])) return false;
	const role = ROLES[roleAt(bytes, at, end)];
	return role === "" || role === "assistant";
}

const USAGE_KEY = Buffer.from('"usage":');
const SUBSCRIPTION_KEY = Buffer.from('"subscription":');
/** Bytes that the tokens and prices of a request need at most. */
const USAGE_BYTES = 512;
const PRICE = "-?\\d+(?:\\.\\d+)?(?:e-?\\d+)?";
/** As pi-ai orders the fields. */
const USAGE = new RegExp(
	`^{"input":(\\d+),"output":(\\d+),"cacheRead":(\\d+),"cacheWrite":(\\d+),"totalTokens":\\d+,` +
		`"cost":{"input":${PRICE},"output":${PRICE},"cacheRead":${PRICE},"cacheWrite":${PRICE},"total":(${PRICE})}}`,
);

/** The tokens and the price in the line of a reply that pi wrote; undefined if the line must be decoded. */
export function usageInReply(line: Buffer): UsageAmounts | undefined {
	// A key with its quotes is never part of a string, but another object of the line may have the same key.
	const key = line.indexOf(USAGE_KEY);
	const from = key + USAGE_KEY.length;
	if (key < 0 || line.indexOf(USAGE_KEY, from) >= 0 || line.indexOf(SUBSCRIPTION_KEY, from) >= 0) return undefined;
	const found = USAGE.exec(line.toString("latin1", from, Math.min(line.length, from + USAGE_BYTES)));
	if (!found) return undefined;
	const [, input, output, cacheRead, cacheWrite, price] = found;
	const cost = Math.max(0, Number(price));
	return {
		input: Number(input),
		output: Number(output),
		cacheRead: Number(cacheRead),
		cacheWrite: Number(cacheWrite),
		cost,
	};
}

/** True for a blank that JSON allows before and after the value of a line. */
export function isBlank(byte: number | undefined): boolean {
	return byte === 32 || byte === 9 || byte === 13;
}

/** The start of the text of a user message whose line is truncated; undefined if `head` is not the head of one. */
export function cutUserText(head: Buffer): string | undefined {
	const text = head.toString();
	const role = /"role"\s*:\s*"user"/.exec(text);
	const cut = role && /"(?:text|content)"\s*:\s*("(?:[^"\\]|\\.){1,2000})/.exec(text.slice(role.index))?.[1];
	const value = cut ? parseLine(`${cut}"`) : undefined;
	return typeof value === "string" ? value : undefined;
}

/**
 * Matches a text in lines read as latin1: each character in both cases and in every escaped form that JSON allows.
 * Also matches keys and types, so parse the line to confirm a match.
 */
export function rawTextPattern(text: string): RegExp {
	return new RegExp([...text].map(characterPattern).join(""), "g");
}

function characterPattern(character: string): string {
	const forms = new Set([character, character.toLowerCase(), character.toUpperCase()]);
	const bytes = [...forms].map((form) => Buffer.from(JSON.stringify(form).slice(1, -1)).toString("latin1"));
	const escapes = character < "\x80" ? [] : [...forms].map(unicodeEscapes);
	return `(?:${[...bytes.map(escapePattern), ...escapes].join("|")})`;
}

/** `\u` escapes of a character, with digits in either case: some programs escape everything but ASCII. */
function unicodeEscapes(text: string): string {
	return text
		.split("")
		.map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"))
		.map((digits) => `\\\\u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`)
		.join("");
}

/** A pattern that matches exactly this text. */
export function escapePattern(text: string): string {
	return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function startsWith(bytes: Buffer, expected: Buffer, at: number, end: number): boolean {
	if (end - at < expected.length) return false;
	for (let offset = 0; offset < expected.length; offset++) if (bytes[at + offset] !== expected[offset]) return false;
	return true;
}

/** Parses a line as JSON, without the checks of the codec. @returns undefined if it is not JSON */
export function parseLine(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return undefined;
	}
}

const HEADER_START = '{"type":"session"';

/** True for the beginning of a session's first line, and nothing after it but a line end. */
export function isTornHeader(text: string): boolean {
	const line = text.replace(/\n$/, "");
	if (line === "" || line.includes("\n") || parseLine(line) !== undefined) return false;
	return line.length < HEADER_START.length ? HEADER_START.startsWith(line) : line.startsWith(HEADER_START);
}
