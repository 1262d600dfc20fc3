import type { PrimitiveSchemaDefinition } from "@modelcontextprotocol/client";
import { plainOutput } from "../tools/output.js";
import type { Approval, ApprovalAnswer } from "../util/approval.js";
import { revealLine } from "../util/reveal.js";

/** How questions of a dialog are limited and filled. */
export interface QuestionOptions {
	signal: AbortSignal;
	initial?: string;
}

/** A choice of a question. */
export interface Choice<T> {
	label: string;
	value: T;
	description?: string;
}

/** The dialogs of the user who can answer a server; each returns null when the user cancels. */
export interface McpUser {
	/** False: `input` and `selectMany` are always canceled. */
	readonly canType: boolean;
	approve(approval: Approval, dialog: { signal: AbortSignal }): Promise<ApprovalAnswer>;
	select<T>(
		title: string,
		options: readonly Choice<T>[],
		dialog: { signal: AbortSignal; initial?: T },
	): Promise<T | null>;
	/** Absent: the user cannot choose several values. */
	selectMany?(
		title: string,
		options: readonly Choice<string>[],
		dialog: { signal: AbortSignal; multiple: true; initial: readonly string[] },
	): Promise<unknown[] | null>;
	input(title: string, placeholder: string | undefined, dialog: QuestionOptions): Promise<string | null>;
}

/** A value that a form can have. */
export type Answer = string | number | boolean | string[];

/** A field of a form. */
export interface Field {
	name: string;
	schema: PrimitiveSchemaDefinition;
	isRequired: boolean;
}

/** The value of a field; undefined: the user left it empty. */
interface Answered {
	value: Answer | undefined;
}

/** The title of a field, on one line. */
export function fieldName({ name, schema }: Field): string {
	return line(schema.title ?? name);
}

/** A value as the user entered it. */
export function showAnswer(answer: Answer | undefined): string {
	if (answer === undefined) return "(empty)";
	return line(Array.isArray(answer) ? answer.join(", ") : `${answer}`);
}

/**
 * Asks for one field until the answer is valid.
 * @param asker named in the question
 * @returns null if the user cancels
 */
export async function askField(
	asker: string,
	field: Field,
	user: McpUser,
	signal: AbortSignal,
): Promise<Answered | null> {
	const { schema, isRequired } = field;
	const about = schema.description === undefined ? "" : `\n${line(schema.description)}`;
	const title = `${asker}: ${fieldName(field)}${isRequired ? "" : " (optional)"}${about}`;
	const many = manyChoices(schema);
	if (many) return askMany(title, many, schema, isRequired, user, signal);
	const choices = oneChoices(schema);
	if (choices) return askOne(title, choices, schema.default, isRequired, user, signal);
	let problem = "";
	let initial = schema.default === undefined ? undefined : `${schema.default}`;
	for (;;) {
		const asked = problem === "" ? title : `${title}\n${problem}`;
		const text = await user.input(asked, placeholder(schema), {
			signal,
			...(initial === undefined ? {} : { initial }),
		});
		if (text === null) return null;
		if (text === "" && !isRequired) return { value: undefined };
		const value = readValue(schema, text);
		const wrong = text === "" ? "A value is required." : findProblem(schema, value);
		if (wrong === null) return { value };
		problem = wrong;
		initial = text;
	}
}

async function askOne(
	title: string,
	choices: readonly Choice<string | boolean>[],
	initial: unknown,
	isRequired: boolean,
	user: McpUser,
	signal: AbortSignal,
): Promise<Answered | null> {
	// Two options may have the same value as a text; a position identifies one.
	const options = choices.map((choice, at) => ({ ...choice, value: at }));
	const selected = choices.findIndex(({ value }) => value === initial);
	const all = isRequired ? options : [...options, { label: "(no answer)", value: -1 }];
	const chosen = await user.select(title, all, { signal, ...(selected < 0 ? {} : { initial: selected }) });
	return chosen === null ? null : { value: choices[chosen]?.value };
}

async function askMany(
	title: string,
	choices: readonly Choice<string>[],
	schema: PrimitiveSchemaDefinition,
	isRequired: boolean,
	user: McpUser,
	signal: AbortSignal,
): Promise<Answered | null> {
	if (!user.selectMany) return null;
	const known = new Set(choices.map(({ value }) => value));
	let problem = "";
	let initial: string[] = Array.isArray(schema.default) ? schema.default : [];
	for (;;) {
		const asked = problem === "" ? title : `${title}\n${problem}`;
		const chosen = await user.selectMany(asked, choices, { signal, multiple: true, initial });
		if (chosen === null) return null;
		const value = chosen.filter((item): item is string => typeof item === "string" && known.has(item));
		if (value.length === 0 && !isRequired) return { value: undefined };
		const wrong = findCountProblem(schema, value.length);
		if (wrong === null) return { value };
		problem = wrong;
		initial = value;
	}
}

/** The choices of a field that has one of several values; null for others. */
function oneChoices(schema: PrimitiveSchemaDefinition): Choice<string | boolean>[] | null {
	if (schema.type === "boolean") {
		return [
			{ label: "Yes", value: true },
			{ label: "No", value: false },
		];
	}
	if (schema.type !== "string") return null;
	if ("oneOf" in schema) return schema.oneOf.map((option) => titled(option.const, option.title));
	if (!("enum" in schema)) return null;
	const names = "enumNames" in schema ? schema.enumNames : undefined;
	return schema.enum.map((value, at) => titled(value, names?.[at] ?? value));
}

function manyChoices(schema: PrimitiveSchemaDefinition): Choice<string>[] | null {
	if (schema.type !== "array") return null;
	const { items } = schema;
	if ("anyOf" in items) return items.anyOf.map((option) => titled(option.const, option.title));
	return items.enum.map((value) => titled(value, value));
}

function titled(value: string, title: string): Choice<string> {
	return { label: line(title) || "(blank)", value };
}

function readValue(schema: PrimitiveSchemaDefinition, text: string): string | number {
	if (schema.type !== "number" && schema.type !== "integer") return text;
	// `Number` also takes hexadecimal numbers, and an empty text as 0.
	return /^[-+.\de]+$/i.test(text.trim()) ? Number(text) : Number.NaN;
}

function placeholder(schema: PrimitiveSchemaDefinition): string | undefined {
	if (schema.type !== "string") return schema.type;
	return "format" in schema ? schema.format : undefined;
}

/** Why a text or number is not a value of a field; null if it is. */
function findProblem(schema: PrimitiveSchemaDefinition, value: string | number): string | null {
	const limits: Record<string, unknown> = schema;
	if (typeof value === "number") {
		if (!Number.isFinite(value)) return "Enter a number.";
		if (schema.type === "integer" && !Number.isInteger(value)) return "Enter a number without decimals.";
		if (typeof limits.minimum === "number" && value < limits.minimum) return `The minimum is ${limits.minimum}.`;
		if (typeof limits.maximum === "number" && value > limits.maximum) return `The maximum is ${limits.maximum}.`;
		return null;
	}
	const length = [...value].length;
	if (typeof limits.minLength === "number" && length < limits.minLength)
		return `Enter at least ${limits.minLength} characters.`;
	if (typeof limits.maxLength === "number" && length > limits.maxLength)
		return `Enter at most ${limits.maxLength} characters.`;
	return typeof limits.format === "string" ? findFormatProblem(limits.format, value) : null;
}

function findFormatProblem(format: string, value: string): string | null {
	switch (format) {
		case "email":
			return /^[^\s@]+@[^\s@]+$/.test(value) ? null : "Enter an email address, such as me@example.com.";
		case "uri":
			return URL.canParse(value) ? null : "Enter an address, such as https://example.com.";
		case "date":
			return isDate(value) ? null : "Enter a date, such as 2026-03-31.";
		case "date-time":
			return isDateTime(value) ? null : "Enter a date and time, such as 2026-03-31T12:00:00Z.";
		default:
			return null;
	}
}

function isDate(text: string): boolean {
	if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
	const date = new Date(`${text}T00:00:00Z`);
	// 31 February would become a day of March.
	return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
	const [, date = "", time = ""] =
		/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[-+]\d\d:\d\d))$/i.exec(text) ?? [];
	return isDate(date) && !Number.isNaN(Date.parse(`${date}T${time}`));
}

function findCountProblem(schema: PrimitiveSchemaDefinition, count: number): string | null {
	const { minItems, maxItems }: Record<string, unknown> = schema;
	if (typeof minItems === "number" && count < minItems) return `Choose at least ${minItems}.`;
	return typeof maxItems === "number" && count > maxItems ? `Choose at most ${maxItems}.` : null;
}

function line(text: string): string {
	return revealLine(plainOutput(text));
}
