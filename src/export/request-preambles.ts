import type { EntrySource } from "../context/entry-message.js";
import { sectionTokens, toolTokens } from "../context/preamble.js";
import { isSentPreamble, type RecordedParts, readRecordedPreamble } from "../context/recorded-preamble.js";
import {
	type ContextRecord,
	isMessageEntry,
	type PromptSection,
	type SessionEntry,
	type ToolInfo,
} from "../log/entry.js";
import { plural } from "../util/format-amounts.js";
import { sum } from "../util/sum.js";
import { escapeHtml, foldHtml, noteHtml, plainHtml } from "./html-text.js";

/** The system prompt and tools of one or more requests, as numbers. */
export interface LedgerPreamble {
	/** Entry index of the reply to the first request with them. */
	reply: number;
	/** Estimated. */
	tokens: number;
	/** Number of tools. */
	tools: number;
}

/** Finds the system prompts and tools of requests. Keeps none of them, but numbers and the log's own records. */
export class RequestPreambles {
	readonly list: LedgerPreamble[] = [];
	/** Numbers by the digests of what was sent. */
	readonly #numbers = new Map<string, number>();
	/** Numbers by reply, of the first request with each. */
	readonly #firsts = new Map<number, number>();

	/** @param entries reads entries without keeping them */
	constructor(private readonly entries: EntrySource) {}

	/** Adds the request of a reply. @returns the number of its system prompt and tools; undefined if they are not recorded */
	add(reply: number, context: ContextRecord | undefined): number | undefined {
		if (!context?.preamble) return undefined;
		const key = `${context.system} ${context.tools}`;
		const known = this.#numbers.get(key);
		if (known !== undefined) return known;
		const past = readRecordedPreamble(this.entries, reply);
		if (!past) return undefined;
		const { sections, tools } = past.sent;
		const tokens = sum([...sections.map(sectionTokens), ...tools.map(toolTokens)]);
		const number = this.list.push({ reply, tokens, tools: tools.length }) - 1;
		this.#numbers.set(key, number);
		this.#firsts.set(reply, number);
		return number;
	}

	/** The section of the page for what a request was the first to send; empty for other replies. */
	html(reply: number, entry: SessionEntry): string {
		const number = this.#firsts.get(reply);
		const past = number === undefined ? null : readRecordedPreamble(this.entries, reply);
		if (number === undefined || !past || !isMessageEntry(entry) || !entry.context) return "";
		const earlier = this.list[number - 1];
		const before = earlier ? (readRecordedPreamble(this.entries, earlier.reply)?.sent ?? null) : null;
		const { sections, tools } = past.sent;
		const isExact = isSentPreamble(past.sent, entry.context);
		const note = isExact
			? ""
			: noteHtml("This is what pi had before hooks changed it: the log does not contain the rest");
		return `<section id="preamble-${number}"><span class="index">system</span>${[
			foldHtml(
				"custom",
				`<b>System prompt</b> ${status([plural(sections.length, "section"), about(sections, sectionTokens)])}`,
				sections.map(sectionHtml).join(""),
			),
			foldHtml(
				"custom",
				`<b>Tools</b> ${status([plural(tools.length, "tool"), about(tools, toolTokens)])}`,
				tools.map(toolHtml).join(""),
			),
			before ? noteHtml(describeChange(before, past.sent)) : "",
			note,
		].join("")}</section>\n`;
	}
}

function sectionHtml(section: PromptSection): string {
	const { id, text } = section;
	return foldHtml("custom", `<b>${escapeHtml(id)}</b> ${status([about([section], sectionTokens)])}`, plainHtml(text));
}

function toolHtml(tool: ToolInfo): string {
	const { name, description, parameters, hook } = tool;
	const from = hook === undefined ? [] : [`hook ${fileName(hook)}`];
	const title = `<b>${escapeHtml(name)}</b> ${status([...from, about([tool], toolTokens)])}`;
	return foldHtml("custom", title, plainHtml(`${description}\n\n${JSON.stringify(parameters, null, 2)}`));
}

/** What differs from the system prompt and tools before, by name. */
function describeChange(before: RecordedParts, after: RecordedParts): string {
	const changes = [
		...changesOf("section", before.sections, after.sections, ({ id }) => id),
		...changesOf("tool", before.tools, after.tools, ({ name }) => name),
	];
	return `Changed since the request before: ${changes.join(", ") || "order"}`;
}

function changesOf<T>(kind: string, before: readonly T[], after: readonly T[], nameOf: (part: T) => string): string[] {
	const old = new Map(before.map((part) => [nameOf(part), JSON.stringify(part)]));
	const now = new Set(after.map(nameOf));
	return [
		...after.flatMap((part) => {
			const known = old.get(nameOf(part));
			if (known === undefined) return [`${kind} ${nameOf(part)} added`];
			return known === JSON.stringify(part) ? [] : [`${kind} ${nameOf(part)} changed`];
		}),
		...[...old.keys()].filter((name) => !now.has(name)).map((name) => `${kind} ${name} removed`),
	];
}

function about<T>(parts: readonly T[], tokensOf: (part: T) => number): string {
	return `about ${sum(parts.map(tokensOf))} tokens`;
}

/** `gate.ts`, or `gate/index.ts` for a hook in a folder. */
function fileName(path: string): string {
	const segments = path.split(/[\\/]/);
	return segments.slice(segments.at(-1) === "index.ts" ? -2 : -1).join("/");
}

function status(facts: readonly string[]): string {
	return `<span class="status">${escapeHtml(facts.join(" · "))}</span>`;
}
