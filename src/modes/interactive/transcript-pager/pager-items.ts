import type { BuiltContext } from "../../../context/context-message.js";
import { entryMessage } from "../../../context/entry-message.js";
import { estimateTokens } from "../../../context/tokens.js";
import { hookName } from "../../../hooks/hook-name.js";
import type { FindToolRenderer } from "../../../hooks/tool-drawing.js";
import { isHookToolCallEntry, isMessageEntry, messageText, type SessionEntry } from "../../../log/entry.js";
import type { LogView } from "../../../session/log-view.js";
import { FAILURE_WORDS } from "../../request-error.js";
import { type ContextMarks, type PlacedSummary, readMarks } from "../context-marks.js";
import { type EntryDrawing, itemsOfEntry, type ToolItems } from "../entry-items.js";
import type { Item, ItemKind } from "../transcript-item.js";
import type { EntryRenderer } from "../views/custom-entry-view.js";
import type { Mark } from "../views/entry-block.js";
import { SummaryView } from "../views/summary-view.js";
import { UserView } from "../views/user-view.js";
import type { View, ViewStyle } from "../views/view.js";
import { itemTexts } from "./item-texts.js";

/** The session that the pager reads, live. */
export interface PagerSource {
	/** A view of the current log. */
	log(): LogView;
	context(): BuiltContext;
	isRunning(): boolean;
	rendererOf(type: string, entry?: SessionEntry): EntryRenderer | undefined;
	/** The functions with which a hook draws calls of a tool. */
	toolRendererOf?: FindToolRenderer;
	hostOf?: EntryDrawing["hostOf"];
}

/** Names an item: an entry, and the position among its items. The index after the last entry has the last summaries. */
export interface ItemRef {
	entry: number;
	part: number;
}

/** One item of the pager. */
export interface PagerItem extends ItemRef {
	kind: ItemKind | "summary";
	/** The complete text, for search and the clipboard. */
	text: string;
	mark: Mark;
	/** The effect of a hook or compaction on it, such as `hidden by stacking`; empty for none. */
	note: string;
	/** For a prompt: whether parts of it that the user did not write can be folded. */
	folds?: boolean;
	/** Draws a preview. */
	closed: Pick<View, "render">;
	/** Draws everything. */
	open(): Pick<View, "render">;
}

/** Maximum number of entries whose items are kept. */
const MAX_KEPT = 400;
/** Entries of pi without items. */
const SILENT: ReadonlySet<string> = new Set([
	"session",
	"model_change",
	"thinking_level_change",
	"session_info",
	"tool_host",
]);
const SHOWN: ReadonlySet<string> = new Set([
	"message",
	"compaction",
	"context_undo",
	"context_freeze",
	"system_item",
	"hook_tool_call",
	"approval",
	"opaque",
]);

/** The items of a log, built when needed. */
export class PagerItems {
	readonly #kept = new Map<number, readonly PagerItem[]>();
	#log: LogView;
	#context: BuiltContext;
	#marks: ContextMarks;
	/** Messages that a hook put in place of an entry's own message, by entry. */
	#replaced: Map<number, BuiltContext["messages"][number]> | null = null;

	/**
	 * @param closed style of previews
	 * @param open style of expanded items
	 */
	constructor(
		private readonly source: PagerSource,
		private readonly closed: ViewStyle,
		private readonly open: ViewStyle,
	) {
		this.#log = source.log();
		this.#context = source.context();
		this.#marks = readMarks(this.#context, this.#log, 1);
	}

	/** Number of entries, without the header. */
	get count(): number {
		return Math.max(0, this.#log.length - 1);
	}

	get log(): LogView {
		return this.#log;
	}

	/** Reads what the session added or changed. @returns whether anything changed */
	refresh(): boolean {
		const { length } = this.#log;
		this.#log = this.source.log();
		const context = this.source.context();
		if (length === this.#log.length && context === this.#context) return false;
		this.#context = context;
		this.#marks = readMarks(context, this.#log, 1);
		this.#replaced = null;
		this.#kept.clear();
		return true;
	}

	/** Draws all items again, such as in other colors. */
	redraw(): void {
		this.#kept.clear();
	}

	/** The items of an entry, in order. */
	of(entry: number): readonly PagerItem[] {
		const known = this.#kept.get(entry);
		if (known) return known;
		const items = this.#build(entry);
		const [oldest] = this.#kept.keys();
		if (this.#kept.size >= MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
		this.#kept.set(entry, items);
		return items;
	}

	/** The item with this name, or the nearest one that exists; undefined if there are none. */
	at({ entry, part }: ItemRef): PagerItem | undefined {
		const items = this.of(entry);
		return items[Math.min(part, items.length - 1)] ?? this.after({ entry, part }) ?? this.before({ entry, part });
	}

	after({ entry, part }: ItemRef): PagerItem | undefined {
		const next = this.of(entry)[part + 1];
		if (next) return next;
		for (let index = entry + 1; index <= this.#log.length; index++) {
			const [first] = this.of(index);
			if (first) return first;
		}
		return undefined;
	}

	before({ entry, part }: ItemRef): PagerItem | undefined {
		const previous = this.of(entry)[part - 1];
		if (previous) return previous;
		for (let index = entry - 1; index > 0; index--) {
			const last = this.of(index).at(-1);
			if (last) return last;
		}
		return undefined;
	}

	first(): PagerItem | undefined {
		return this.after({ entry: 0, part: 0 });
	}

	last(): PagerItem | undefined {
		return this.before({ entry: this.#log.length + 1, part: 0 });
	}

	/** The prompt before or after an item. */
	prompt({ entry }: ItemRef, direction: 1 | -1): PagerItem | undefined {
		const log = this.#log;
		let index = direction < 0 ? log.findLastMessage("user", entry) : entry + 1;
		if (direction > 0) while (index < log.length && log.roleOf(index) !== "user") index++;
		return index < 1 || index >= log.length ? undefined : this.of(index).find(({ kind }) => kind === "user");
	}

	/** Index of the prompt that an item belongs to; -1 for none. */
	promptOf({ entry }: ItemRef): number {
		return this.#log.findLastMessage("user", entry + 1);
	}

	/** The items of a summary that precedes an entry, then those of the entry. */
	#build(entry: number): PagerItem[] {
		const { length } = this.#log;
		const isDue = ({ before }: PlacedSummary) =>
			entry === length ? before === null || before >= length : before === entry;
		const summaries = entry < 1 ? [] : this.#marks.summaries.filter(isDue).map((summary) => this.#summary(summary));
		const items = entry < 1 || entry >= length || !this.#isShown(entry) ? [] : this.#entryItems(entry);
		return [...summaries, ...items].map((item, part) => ({ ...item, entry, part }));
	}

	#summary(summary: PlacedSummary): Omit<PagerItem, keyof ItemRef> {
		return {
			kind: "summary",
			text: summary.text,
			mark: "summary",
			note: "",
			closed: new SummaryView(this.closed, summary),
			open: () => new SummaryView(this.open, summary),
		};
	}

	/** False for entries without items, without parsing them if possible. */
	#isShown(entry: number): boolean {
		const type = this.#log.typeOf(entry) ?? "";
		return !SILENT.has(type) && (SHOWN.has(type) || this.source.rendererOf(type) !== undefined);
	}

	#entryItems(entry: number): Omit<PagerItem, keyof ItemRef>[] {
		if (this.#isResult(entry) && this.#hasCall(entry)) return [];
		const closed = this.#draw(entry, this.closed);
		const texts = itemTexts(
			closed.map(({ kind }) => kind),
			this.#log.peek(entry),
			this.#results(entry),
		);
		let open: Item[] | null = null;
		return closed.map((item, at) => ({
			kind: item.kind,
			text: texts[at] ?? "",
			...(item.block.view instanceof UserView && { folds: item.block.view.folds }),
			...this.#effect(item),
			closed: item.block.view,
			open: () => {
				open ??= this.#draw(entry, this.open);
				return (open[at] ?? item).block.view;
			},
		}));
	}

	/** Creates the views of an entry. Calls get their results, which are entries of their own. */
	#draw(index: number, style: ViewStyle): Item[] {
		const tools: ToolItems = new Map();
		const drawing: EntryDrawing = {
			style,
			tools,
			rendererOf: (type, entry) => this.source.rendererOf(type, entry),
			toolRendererOf: (name) => this.source.toolRendererOf?.(name),
			hostOf: this.source.hostOf,
			words: FAILURE_WORDS,
		};
		const entries = { length: this.#log.length, at: (at: number) => this.#log.peek(at) };
		const items = itemsOfEntry(entries, index, drawing);
		if (tools.size === 0) return items;
		for (const result of this.#resultIndices(index)) itemsOfEntry(entries, result, drawing);
		const isLast = this.#log.findLastMessage(["assistant", "user"]) === index;
		if (!isLast || !this.source.isRunning()) for (const { view } of tools.values()) view.stop();
		return items;
	}

	/** Whether a result belongs to a call, which then shows it. */
	#hasCall(entry: number): boolean {
		const result = this.#log.peek(entry);
		const reply = this.#log.peek(this.#log.findLastMessage("assistant", entry));
		if (isHookToolCallEntry(result)) return result.parent !== undefined && callIds(reply).has(result.parent);
		if (!isMessageEntry(result) || result.message.role !== "toolResult") return false;
		return callIds(reply).has(result.message.toolCallId);
	}

	/** Whether an entry is what a call of a tool did: its result, or a call that it made. */
	#isResult(entry: number): boolean {
		return this.#log.roleOf(entry) === "toolResult" || this.#log.typeOf(entry) === "hook_tool_call";
	}

	#resultIndices(reply: number): number[] {
		const found: number[] = [];
		for (let index = reply + 1; index < this.#log.length; index++) {
			const role = this.#log.roleOf(index);
			if (role === "assistant" || role === "user") break;
			if (this.#isResult(index) && this.#hasCall(index)) found.push(index);
		}
		return found;
	}

	/** The text of each result of a reply's calls, by call. */
	#results(entry: number): ReadonlyMap<string, string> {
		const results = new Map<string, string>();
		if (callIds(this.#log.peek(entry)).size === 0) return results;
		for (const index of this.#resultIndices(entry)) {
			const result = this.#log.peek(index);
			if (!isMessageEntry(result) || result.message.role !== "toolResult") continue;
			results.set(result.message.toolCallId, messageText(result.message));
		}
		return results;
	}

	/** The mark of an item, and what a hook or compaction did to it. */
	#effect({ entryIndices, excluded, block }: Item): Pick<PagerItem, "mark" | "note"> {
		const [entry] = entryIndices;
		if (excluded || entry === undefined) return { mark: block.mark, note: "" };
		const by = this.#marks.hiddenBy(entry);
		if (by !== null) return { mark: "out", note: `hidden by ${by}` };
		const changed = entryIndices.map((index) => this.#changeOf(index)).find(Boolean);
		return { mark: block.mark, note: changed ?? "" };
	}

	/** What a hook did to the message of an entry in the context; empty if it changed nothing. */
	#changeOf(entry: number): string {
		this.#replaced ??= new Map(
			this.#context.messages.flatMap((traced) =>
				traced.origin.kind === "hook" && traced.entryIndex !== null ? [[traced.entryIndex, traced]] : [],
			),
		);
		const traced = this.#replaced.get(entry);
		const own = traced && entryMessage(this.#log.peek(entry));
		if (!own || traced.origin.kind !== "hook") return "";
		const isCut = estimateTokens(traced.message) < estimateTokens(own);
		return `${isCut ? "cut" : "changed"} by ${hookName(traced.origin.hook)}`;
	}
}

function callIds(entry: SessionEntry | undefined): ReadonlySet<string> {
	if (!isMessageEntry(entry) || entry.message.role !== "assistant") return new Set();
	return new Set(entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])));
}
