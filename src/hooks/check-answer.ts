import { types } from "node:util";
import { isNativeCompaction } from "../log/read-entry.js";
import { isRecord } from "../util/is-record.js";
import { isAttachment, isContent } from "./check-values.js";
import { EVENTS, SESSION_REASONS } from "./events.js";
import type { CompletionItem, HookAnswers, HookEventName, HookEvents, HookResults } from "./types.js";

// Hooks run without type checks, so pi checks each answer before it reads a field. Problems name fields, never values:
// an answer may contain secrets.

/** A checked answer. */
export interface CheckedAnswer<N extends HookEventName> {
	/** Undefined if nothing was returned, or something malformed that does not stop anything. */
	answer: HookResults[N];
	/** What is wrong with the returned value, in one line; null if nothing is. */
	problem: string | null;
}

/** @returns what a field must be; null if the value is valid */
type FieldCheck = (value: unknown) => string | null;

const must =
	(description: string, isValid: (value: unknown) => boolean): FieldCheck =>
	(value) =>
		isValid(value) ? null : description;

const yesOrNo = must("true or false", (value) => typeof value === "boolean");
const text = must("a text", (value) => typeof value === "string");
const someText = must("a text that is not empty", (value) => typeof value === "string" && value.trim() !== "");
const object = must("an object", isRecord);
const native = must("{ api, provider, items } with a list of objects", isNativeCompaction);
const onlyTrue = must("true", (value) => value === true);

const MAX_CHOICES = 6;
/** A question before a tool call: see `ToolApproval`. */
const isApproval: FieldCheck = (value) => {
	if (!isRecord(value)) return someText(value) && "a text that is not empty, or { question, choices, isAllowed }";
	const { question, choices = [], isAllowed, ...unknown } = value;
	if (someText(question) !== null || question === undefined) return "an object with a question that is not empty";
	if (Object.keys(unknown).length > 0) return "an object with question, choices and isAllowed alone";
	if (isAllowed !== undefined && typeof isAllowed !== "function") return "an object whose isAllowed is a function";
	const isList = Array.isArray(choices) && choices.length <= MAX_CHOICES && choices.every(isApprovalChoice);
	return isList ? null : `an object with at most ${MAX_CHOICES} choices { label, rule, check, chosen }`;
};

function isApprovalChoice(choice: unknown): boolean {
	if (!isRecord(choice) || someText(choice.label) !== null || typeof choice.chosen !== "function") return false;
	const { rule, check } = choice;
	const isRule = rule === undefined || someText(rule) === null;
	return isRule && (check === undefined || (typeof check === "function" && rule !== undefined));
}

/** The fields that answers have, by event. `context` is missing: its pipeline checks complete lists. */
const FIELDS = {
	session: { cancel: yesOrNo, skipConversationRestore: yesOrNo, compactionEntry: object, nativeCompaction: native },
	prompt: {
		text,
		attachments: must("a list of { type, fileName, mimeType, content } with texts", isAttachments),
		handled: onlyTrue,
		stop: someText,
	},
	before_request: {
		action: must('"continue" or "stop"', (value) => value === "continue" || value === "stop"),
		reason: text,
	},
	payload: { payload: object },
	tool_call: { block: yesOrNo, reason: text, input: object, ask: isApproval, terminate: yesOrNo },
	tool_result: {
		content: must("a list of text and image blocks", isContent),
		details: () => null,
		isError: yesOrNo,
	},
	user_bash: {
		command: someText,
		result: must("{ output, exitCode } with a text and a number or null", isShellResult),
		block: yesOrNo,
		reason: text,
	},
} as const satisfies Record<Exclude<keyof HookAnswers, "context">, Readonly<Record<string, FieldCheck>>>;

/** Names of the fields that an answer to an event may have; none for events that read no answer. */
export function answerFields(event: HookEventName): readonly string[] {
	return event in FIELDS ? Object.keys(FIELDS[event as keyof typeof FIELDS]) : [];
}

/** Fields of which only one may be present. */
const ALTERNATIVES: Partial<Record<HookEventName, readonly string[]>> = {
	user_bash: ["command", "result", "block"],
};

const EVERY_FIELD: ReadonlySet<string> = new Set([
	...Object.values(FIELDS).flatMap((fields) => Object.keys(fields)),
	"messages",
]);

/** Unknown fields that a problem names, at most. */
const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 40;

/**
 * Checks what a handler returned. A malformed answer is dropped as a whole, unless it stops something: then its valid
 * fields count.
 * @throws what an accessor of the answer throws
 */
export function checkAnswer<N extends HookEventName>(event: HookEvents[N], given: unknown): CheckedAnswer<N> {
	const { type } = event;
	// The pipeline of the context reads it, and needs the objects themselves.
	if (type === "context") {
		const isNothing = given === null || given === false;
		return { answer: (isNothing ? undefined : given) as HookResults[N], problem: null };
	}
	const fields: Readonly<Record<string, FieldCheck>> = type in FIELDS ? FIELDS[type as keyof typeof FIELDS] : {};
	const reads = event.type === "session" ? SESSION_REASONS[event.reason].reads : Object.keys(fields);
	const { valid, problem } = reads.length === 0 ? unread(given) : readFields(type, given, fields, reads);
	const isUsed = problem === null || stops(valid);
	// Each field has been checked against its type.
	return { answer: (isUsed ? valid : undefined) as HookResults[N], problem };
}

/** True for an answer that stops a tool call, a prompt, a request, a shell command or a session change. */
export function stops(answer: unknown): boolean {
	if (!isRecord(answer)) return false;
	return answer.block === true || answer.cancel === true || answer.action === "stop" || answer.stop !== undefined;
}

interface ReadFields {
	/** Copies of the valid fields; undefined without an answer. */
	valid: Record<string, unknown> | undefined;
	problem: string | null;
}

const NOTHING: ReadFields = { valid: undefined, problem: null };

/** Answers to events that read none: arrow functions return all kinds of things, so only what looks like an answer is one. */
function unread(given: unknown): ReadFields {
	if (!isRecord(given)) return NOTHING;
	const names = Object.keys(given);
	if (names.length === 0 || !names.every((name) => EVERY_FIELD.has(name))) return NOTHING;
	return { valid: undefined, problem: `no answer is read here: ${listed(names)}` };
}

function readFields(
	type: HookEventName,
	given: unknown,
	fields: Readonly<Record<string, FieldCheck>>,
	reads: readonly string[],
): ReadFields {
	// `condition && { … }` returns false. Where an answer may protect something, only undefined and null mean nothing.
	if (given === undefined || given === null || (given === false && EVENTS[type].onError !== "block")) return NOTHING;
	if (!isRecord(given)) {
		return { valid: undefined, problem: `the answer must be an object with ${either(reads)}, not ${kindOf(given)}` };
	}
	if (Object.keys(given).length === 0 && !isPlain(given)) {
		return { valid: undefined, problem: `the answer must be a plain object with ${either(reads)}` };
	}
	const valid: Record<string, unknown> = {};
	const problems: string[] = [];
	const unknown: string[] = [];
	for (const name of Object.keys(given)) {
		const value = given[name];
		if (value === undefined) continue;
		const check = Object.hasOwn(fields, name) && reads.includes(name) ? fields[name] : undefined;
		const expected = check?.(value);
		if (!check) unknown.push(name);
		else if (expected) problems.push(`${name} must be ${expected}`);
		else valid[name] = value;
	}
	if (unknown.length > 0) {
		const word = unknown.length === 1 ? "field" : "fields";
		problems.unshift(`unknown ${word} ${listed(unknown.map(quotedName))}; an answer has ${either(reads)}`);
	}
	const lonely = problems.length === 0 && missingPartner(type, valid);
	if (lonely) problems.push(lonely);
	const rivals = (ALTERNATIVES[type] ?? []).filter((name) => name in valid);
	if (rivals.length > 1) problems.push(`only one of ${rivals.join(", ")} can be used`);
	return { valid, problem: problems.length === 0 ? null : problems.join("; ") };
}

/** False for what may mean something without fields of its own, such as an Error, a Map or an object with accessors. */
function isPlain(value: object): boolean {
	const parent: unknown = Object.getPrototypeOf(value);
	// The parent of a plain object from another realm is not this realm's Object.prototype.
	return !types.isProxy(value) && (parent === null || Object.getPrototypeOf(parent) === null);
}

/** A reason without what it is the reason for. */
function missingPartner(type: HookEventName, valid: Readonly<Record<string, unknown>>): string | null {
	const needed = type === "before_request" ? "action" : "block";
	const isAlone = "reason" in valid && !(needed in valid) && !("ask" in valid);
	return isAlone ? `reason is without ${needed}` : null;
}

function isShellResult(value: unknown): boolean {
	if (!isRecord(value) || typeof value.output !== "string") return false;
	const { exitCode = null, cancelled = false, truncated = false } = value;
	return (
		(exitCode === null || Number.isInteger(exitCode)) &&
		typeof cancelled === "boolean" &&
		typeof truncated === "boolean"
	);
}

function isAttachments(value: unknown): boolean {
	return Array.isArray(value) && value.every(isAttachment);
}

function listed(names: readonly string[]): string {
	const more = names.length - MAX_NAMED;
	return [...names.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function quotedName(name: string): string {
	return JSON.stringify(name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}…` : name);
}

function either(names: readonly string[]): string {
	return names.length === 1 ? (names[0] ?? "") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** The type of a value, such as `a list`. */
export function kindOf(value: unknown): string {
	if (Array.isArray(value)) return "a list";
	const type = typeof value;
	return type === "object" ? "an object" : type === "string" ? "a text" : `a ${type}`;
}

/** The usable suggestions of a command, and what is wrong with the others; null if nothing is. No value means none. */
export function checkCompletions(given: unknown): { items: CompletionItem[]; problem: string | null } {
	if (given === undefined || given === null) return { items: [], problem: null };
	if (!Array.isArray(given)) return { items: [], problem: `complete returns a list, not ${kindOf(given)}` };
	const items = given.filter(isCompletion);
	const wrong = given.length - items.length;
	const problem = `complete returns a list of { value, label?, description? } with texts; ${wrong} of ${given.length} are malformed`;
	return { items, problem: wrong === 0 ? null : problem };
}

function isCompletion(item: unknown): item is CompletionItem {
	if (!isRecord(item) || typeof item.value !== "string") return false;
	return [item.label, item.description].every((text) => text === undefined || typeof text === "string");
}

/** What is wrong with the value that a command returned; null if nothing is. */
export function commandProblem(value: unknown): string | null {
	if (value === undefined || value === null || typeof value === "string") return null;
	const expected = "a command returns a text, { prompt, attachments }, { status } or nothing";
	if (!isRecord(value)) return `${expected}, not ${kindOf(value)}`;
	const unknown = Object.keys(value).filter((name) => !["prompt", "attachments", "status"].includes(name));
	if (unknown.length > 0) return `${expected}; unknown ${listed(unknown.map(quotedName))}`;
	if ("prompt" in value && "status" in value) return `${expected}; prompt and status cannot be used together`;
	if ("prompt" in value) return typeof value.prompt === "string" ? null : `${expected}; prompt must be a text`;
	return typeof value.status === "string" ? null : `${expected}; status must be a text`;
}
