import type { ToolCall } from "@mariozechner/pi-ai";
import type { BuiltContext, TracedMessage } from "../context/context-message.js";
import { fullText } from "../context/ledger.js";
import { sharedLength } from "../context/shared-length.js";
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

/** What a recorded call uses, as far as the request has it without a strategy. */
interface NeededByCall {
	tool: string;
	items: readonly string[];
	/** Results of the same call before. */
	earlier: readonly AppMessage[];
}

/** A word of a text or of an item. */
const WORD = /[A-Za-z_][A-Za-z0-9_]{2,}/g;

/** What the calls of a recording use, and which entries have it: the same for all strategies. */
export class EvidenceIndex {
	/** The items of each reply with calls. */
	readonly #calls = new Map<number, { tool: string; items: string[]; earlier: AppMessage[] }[]>();
	/** Word → indices of the entries with messages that have it, ascending. Only words by which items are found. */
	readonly #entriesWith = new Map<string, number[]>();
	readonly #holders = new Map<string, { until: number; indices: number[] }>();
	/** Number of entries whose words are read. */
	#read = 0;

	constructor(private readonly entries: readonly SessionEntry[]) {
		this.#readCalls();
		for (const calls of this.#calls.values())
			for (const { items } of calls) for (const item of items) this.#entriesWith.set(anchorOf(item), []);
	}

	/** Calls of a reply with what each uses. */
	callsOf(reply: number): readonly NeededByCall[] {
		return this.#calls.get(reply) ?? [];
	}

	/** Indices of the entries before a reply that have an item, ascending. */
	holders(item: string, reply: number): number[] {
		this.#readWords(reply);
		const known = this.#holders.get(item) ?? { until: 0, indices: [] };
		this.#holders.set(item, known);
		const found = this.#entriesWith.get(anchorOf(item)) ?? [];
		for (; known.until < found.length && (found[known.until] ?? reply) < reply; known.until++) {
			const index = found[known.until] ?? 0;
			const message = this.messageOf(index);
			if (message && textOf(message).includes(item)) known.indices.push(index);
		}
		return known.indices.at(-1) === undefined || (known.indices.at(-1) ?? 0) < reply
			? known.indices
			: known.indices.filter((index) => index < reply);
	}

	messageOf(index: number): AppMessage | null {
		const entry = this.entries[index];
		return isMessageEntry(entry) ? entry.message : null;
	}

	#readCalls(): void {
		const results = new Map<string, AppMessage>();
		const sameCalls = new Map<string, string[]>();
		for (const [index, entry] of this.entries.entries()) {
			if (!isMessageEntry(entry)) continue;
			const { message } = entry;
			if (message.role === "toolResult") results.set(message.toolCallId, message);
			if (message.role !== "assistant") continue;
			const calls = message.content.flatMap((block) => {
				if (block.type !== "toolCall") return [];
				const key = JSON.stringify([block.name, block.arguments]);
				const ids = sameCalls.get(key) ?? [];
				const earlier = ids.flatMap((id) => results.get(id) ?? []);
				sameCalls.set(key, [...ids, block.id]);
				return [{ tool: block.name, items: evidenceIn(block), earlier }];
			});
			if (calls.length > 0) this.#calls.set(index, calls);
		}
	}

	/** Reads the messages before a reply, as far as they are not read: all at once would keep the screen waiting. */
	#readWords(reply: number): void {
		for (; this.#read < reply; this.#read++) {
			const index = this.#read;
			const message = this.messageOf(index);
			if (!message) continue;
			for (const [word] of textOf(message).matchAll(WORD)) {
				const indices = this.#entriesWith.get(word);
				if (indices && indices.at(-1) !== index) indices.push(index);
			}
		}
	}
}

const texts = new WeakMap<AppMessage, string>();

function textOf(message: AppMessage): string {
	const known = texts.get(message);
	if (known !== undefined) return known;
	const text = fullText(message);
	texts.set(message, text);
	return text;
}

/** The longest word of an item, by which the texts that may have it are found. */
function anchorOf(item: string): string {
	let anchor = "";
	for (const [word] of item.matchAll(WORD)) if (word.length > anchor.length) anchor = word;
	return anchor;
}

/** The messages of a request, updated from one request to the next. */
class ShownMessages {
	readonly all = new Set<AppMessage>();
	/** Those that are not from an entry as it is. */
	readonly made = new Set<AppMessage>();
	#messages: readonly TracedMessage[] = [];

	update(messages: readonly TracedMessage[]): void {
		const shared = sharedLength(this.#messages, messages);
		for (let at = shared; at < this.#messages.length; at++) {
			const message = this.#messages[at]?.message;
			if (!message) continue;
			this.all.delete(message);
			this.made.delete(message);
		}
		for (let at = shared; at < messages.length; at++) {
			const traced = messages[at];
			if (!traced) continue;
			this.all.add(traced.message);
			if (traced.origin.kind !== "entry") this.made.add(traced.message);
		}
		this.#messages = messages;
	}

	/** Whether an item can be read: in the message of one of the entries, or in what pi or a hook has made. */
	has(item: string, index: EvidenceIndex, holders: readonly number[]): boolean {
		// The latest one is the likeliest.
		for (let at = holders.length - 1; at >= 0; at--) {
			const message = index.messageOf(holders[at] ?? -1);
			if (message && this.all.has(message)) return true;
		}
		for (const message of this.made) if (textOf(message).includes(item)) return true;
		return false;
	}
}

/** What each recorded call used and had in front of it without a strategy, by reply. */
export type Needs = Map<number, readonly NeededByCall[]>;

/** Compares what the recorded model used with the requests of one strategy. */
export class EvidenceMeter {
	readonly evidence: Evidence = { needed: 0, kept: 0, rereads: 0, losses: [] };
	readonly #shown = new ShownMessages();

	/**
	 * @param needs filled by the requests without a strategy, and compared with those of a strategy
	 * @param isBase whether the requests are those without a strategy
	 */
	constructor(
		private readonly index: EvidenceIndex,
		private readonly needs: Needs,
		private readonly isBase: boolean,
	) {}

	/** Judges a request by the calls of its reply. */
	note(reply: number, { messages, preamble }: BuiltContext): void {
		this.#shown.update(messages);
		if (this.isBase) this.#noteNeeds(reply);
		const sections = this.isBase ? [] : preamble.promptSections.map(({ text }) => text);
		for (const { tool, items, earlier } of this.needs.get(reply) ?? []) {
			if (earlier.some((result) => !this.#shown.all.has(result))) this.evidence.rereads++;
			const missing = items.filter((item) => !this.#has(item, reply) && !sections.some((text) => text.includes(item)));
			this.evidence.needed += items.length;
			this.evidence.kept += items.length - missing.length;
			if (missing.length === 0) continue;
			missing.sort((a, b) => b.length - a.length);
			const entries = this.index.holders(missing[0] ?? "", reply);
			this.evidence.losses.push({ reply, tool, missing, needed: items.length, entries });
		}
	}

	#noteNeeds(reply: number): void {
		const calls = this.index.callsOf(reply).map(({ tool, items, earlier }) => ({
			tool,
			items: items.filter((item) => this.#has(item, reply)),
			earlier: earlier.filter((result) => this.#shown.all.has(result)),
		}));
		if (calls.length > 0) this.needs.set(reply, calls);
	}

	#has(item: string, reply: number): boolean {
		return this.#shown.has(item, this.index, this.index.holders(item, reply));
	}
}
