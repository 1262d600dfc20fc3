import type { EntrySource } from "../context/entry-message.js";
import { isContextUndoEntry, isMessageEntry, isSessionHeader, type SessionEntry } from "../log/entry.js";
import { promptOfEntry } from "../log/prompt-text.js";
import { usageOf } from "../log/request-usage.js";
import { RequestStates } from "./request-states.js";

/** The entries of a session in a form that may read them again each time, so that they need not stay in memory. */
export interface ExportSource extends EntrySource {
	/** Like `at`, but keeps nothing in memory. */
	peek?(index: number): SessionEntry | undefined;
}

/** What a page needs to know of a session before its first entry is written. */
export interface Survey {
	/** From the header: start, directory, id; empty without a header. */
	origin: string[];
	messages: number;
	/** `provider/id` of all models that replied, in order of their first reply. */
	models: string[];
	/** US dollars of all requests; null if no request has a price. */
	cost: number | null;
	/** Prompts and shell commands of the user. */
	prompts: { index: number; text: string }[];
	/** Entry indices of tool results by the id of their call, in order. */
	results: Map<string, number[]>;
	/** Entry indices of undone changes of the context. */
	undone: Set<number>;
	states: RequestStates;
}

/** Maximum characters of a prompt in the outline. */
const MAX_PROMPT = 140;

/** Reads all entries once. Yields an empty text from time to time, so that the caller can let others work. */
export function* surveyEntries(source: ExportSource): Generator<string, Survey> {
	const states = new RequestStates(source, { length: source.length, at: (index) => readEntry(source, index) });
	const survey: Survey = {
		...{ origin: [], messages: 0, models: [], cost: null, prompts: [], results: new Map(), undone: new Set(), states },
	};
	const models = new Set<string>();
	for (let index = 0; index < source.length; index++) {
		const entry = readEntry(source, index);
		states.add(index, entry);
		if (isSessionHeader(entry)) survey.origin = [entry.timestamp, entry.cwd, entry.id];
		if (isContextUndoEntry(entry)) survey.undone.add(entry.entryIndex);
		const usage = usageOf(entry);
		if (usage?.cost) survey.cost = (survey.cost ?? 0) + usage.cost;
		const prompt = promptOfEntry(entry)?.trim();
		if (prompt) survey.prompts.push({ index, text: prompt.slice(0, MAX_PROMPT) });
		if (!isMessageEntry(entry)) continue;
		survey.messages++;
		const { message } = entry;
		if (message.role === "assistant") models.add(`${message.provider}/${message.model}`);
		if (message.role === "toolResult") {
			const list = survey.results.get(message.toolCallId);
			if (list) list.push(index);
			else survey.results.set(message.toolCallId, [index]);
		}
		yield "";
	}
	survey.models = [...models];
	return survey;
}

/** An entry, which is not kept in memory if the source can avoid it. */
export function readEntry(source: ExportSource, index: number): SessionEntry | undefined {
	return source.peek ? source.peek(index) : source.at(index);
}

/** Entry indices of the changes of the context that were undone later. Reads only undos if the source can find them. */
export function undoneEntries(source: ExportSource): Set<number> {
	const undone = new Set<number>();
	const before = (index: number) => source.lastOfTypes?.(["context_undo"], index) ?? index - 1;
	for (let index = before(source.length); index >= 0; index = before(index)) {
		const entry = readEntry(source, index);
		if (isContextUndoEntry(entry)) undone.add(entry.entryIndex);
	}
	return undone;
}
