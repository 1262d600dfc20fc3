import type { ToolCall } from "@mariozechner/pi-ai";
import type { BuiltContext } from "../context/context-message.js";
import { fullText } from "../context/ledger.js";
import { type AppMessage, isMessageEntry, type SessionEntry } from "../log/entry.js";

/** What a strategy had hidden when the recorded model used it. */
export interface EvidenceLoss {
	/** Index of the reply in the recording. */
	reply: number;
	/** The tool that it called. */
	tool: string;
	/** What it wrote and did not have in front of it, the longest first. */
	missing: readonly string[];
	/** What it wrote and has in front of it without the strategy. */
	needed: number;
	/** The entries of the recording that have what is missing. */
	entries: readonly number[];
}

/** How much of what the recorded model used it still has in front of it. */
export interface Evidence {
	needed: number;
	kept: number;
	/** Calls that read again what the strategy had hidden. */
	rereads: number;
	losses: EvidenceLoss[];
}

/** Least characters of an identifier that says where a model has it from. */
const MIN_IDENTIFIER = 12;
/** Least characters of a line of `oldText`. */
const MIN_LINE = 4;
/** What one call is judged by, at most. */
const MAX_ITEMS = 200;
const PATH_FIELDS = ["path", "file_path", "filePath"];
const OLD_TEXT_FIELDS = ["oldText", "old_string", "oldString"];

/**
 * What a model must have had in front of it to write a call: the lines of the text that it replaces, paths and long
 * identifiers, each once.
 */
export function evidenceIn({ arguments: args }: ToolCall): string[] {
	const items = new Set<string>();
	const visit = (name: string, value: unknown): void => {
		if (typeof value === "string") {
			if (PATH_FIELDS.includes(name) && value.trim() !== "") items.add(value);
			if (OLD_TEXT_FIELDS.includes(name)) for (const line of linesOf(value)) items.add(line);
			for (const [identifier] of value.matchAll(IDENTIFIER)) items.add(identifier);
		} else if (Array.isArray(value)) for (const item of value) visit(name, item);
		else if (typeof value === "object" && value !== null)
			for (const [key, item] of Object.entries(value)) visit(key, item);
	};
	visit("", args);
	return [...items].slice(0, MAX_ITEMS);
}

const IDENTIFIER = new RegExp(`[A-Za-z_][A-Za-z0-9_]{${MIN_IDENTIFIER - 1},}`, "g");

function linesOf(text: string): string[] {
	return text.split("\n").flatMap((line) => (line.trim().length >= MIN_LINE ? [line.trim()] : []));
}

/** What each recorded call uses, and which entries have it: the same for all strategies of a session. */
export class EvidenceIndex {
	readonly #texts = new WeakMap<AppMessage, string>();
	/** Item → the messages that have it. */
	readonly #holders = new Map<string, { until: number; messages: Set<AppMessage> }>();

	/** Calls with the same tool and arguments, in order. */
	readonly #calls = new Map<string, { id: string; index: number }[]>();
	readonly #results = new Map<string, AppMessage>();

	constructor(private readonly entries: readonly SessionEntry[]) {
		for (const [index, entry] of entries.entries()) {
			if (!isMessageEntry(entry)) continue;
			const { message } = entry;
			if (message.role === "toolResult") this.#results.set(message.toolCallId, message);
			if (message.role !== "assistant") continue;
			for (const block of message.content) {
				if (block.type !== "toolCall") continue;
				const key = keyOf(block);
				this.#calls.set(key, [...(this.#calls.get(key) ?? []), { id: block.id, index }]);
			}
		}
	}

	/** Calls of the reply with what each uses, and the results of the same call before. */
	callsOf(reply: number): { tool: string; items: string[]; earlier: readonly AppMessage[] }[] {
		const entry = this.entries[reply];
		if (!isMessageEntry(entry) || entry.message.role !== "assistant") return [];
		return entry.message.content.flatMap((block) =>
			block.type === "toolCall"
				? [{ tool: block.name, items: evidenceIn(block), earlier: this.#resultsOf(block, reply) }]
				: [],
		);
	}

	#resultsOf(call: ToolCall, reply: number): AppMessage[] {
		const ids = this.#calls.get(keyOf(call)) ?? [];
		return ids.flatMap(({ id, index }) => (index < reply ? (this.#results.get(id) ?? []) : []));
	}

	/** The recorded messages before a reply that have an item. */
	holders(item: string, reply: number): ReadonlySet<AppMessage> {
		const known = this.#holders.get(item) ?? { until: 0, messages: new Set<AppMessage>() };
		this.#holders.set(item, known);
		for (; known.until < reply; known.until++) {
			const entry = this.entries[known.until];
			if (isMessageEntry(entry) && this.text(entry.message).includes(item)) known.messages.add(entry.message);
		}
		return known.messages;
	}

	/** The indices of the entries before a reply that have an item. */
	placesOf(item: string, reply: number): number[] {
		const places: number[] = [];
		for (let index = 0; index < reply; index++) {
			const entry = this.entries[index];
			if (isMessageEntry(entry) && this.text(entry.message).includes(item)) places.push(index);
		}
		return places;
	}

	text(message: AppMessage): string {
		const known = this.#texts.get(message);
		if (known !== undefined) return known;
		const text = fullText(message);
		this.#texts.set(message, text);
		return text;
	}
}

/** Compares what the recorded model used with the requests of one strategy. */
export class EvidenceMeter {
	readonly evidence: Evidence = { needed: 0, kept: 0, rereads: 0, losses: [] };
	constructor(private readonly index: EvidenceIndex) {}

	/**
	 * Judges a request by the calls of its reply.
	 * @param base the request without the strategy
	 */
	note(reply: number, context: BuiltContext, base: BuiltContext): void {
		const calls = this.index.callsOf(reply);
		if (calls.length === 0) return;
		const shown = new Set(context.messages.map(({ message }) => message));
		// Messages that only this request has: those of hooks.
		const own = context.messages.flatMap(({ message, origin }) =>
			origin.kind === "entry" ? [] : [this.index.text(message)],
		);
		const sections = context.preamble.promptSections.map(({ text }) => text);
		const all = new Set(base.messages.map(({ message }) => message));
		const baseOwn = base.messages.flatMap(({ message, origin }) =>
			origin.kind === "entry" ? [] : [this.index.text(message)],
		);
		for (const { tool, items, earlier } of calls) {
			if (earlier.some((result) => all.has(result) && !shown.has(result))) this.evidence.rereads++;
			const missing: string[] = [];
			let needed = 0;
			for (const item of items) {
				const holders = this.index.holders(item, reply);
				const isIn = (messages: ReadonlySet<AppMessage>, texts: readonly string[]) =>
					[...holders].some((message) => messages.has(message)) || texts.some((text) => text.includes(item));
				if (!isIn(all, baseOwn)) continue;
				needed++;
				if (!isIn(shown, own) && !sections.some((text) => text.includes(item))) missing.push(item);
			}
			this.evidence.needed += needed;
			this.evidence.kept += needed - missing.length;
			if (missing.length === 0) continue;
			missing.sort((a, b) => b.length - a.length);
			const entries = this.index.placesOf(missing[0] ?? "", reply);
			this.evidence.losses.push({ reply, tool, missing, needed, entries });
		}
	}
}

function keyOf({ name, arguments: args }: ToolCall): string {
	return JSON.stringify([name, args]);
}
