import type { AgentEvent } from "../../agent/events.js";
import type { BuiltContext } from "../../context/context-message.js";
import type { EntrySource } from "../../context/entry-message.js";
import { describeHookError } from "../../errors.js";
import { hookFileName } from "../../hooks/discover.js";
import { isContextUndoEntry, isMessageEntry } from "../../log/entry.js";
import type { AgentSessionEvent } from "../../session/events.js";
import type { Block, BlockList } from "../../tui/live-tui.js";
import { plural } from "../format.js";
import { isOfCommand } from "../mode.js";
import { ContextLayout, type Placed } from "./context-layout.js";
import { type ContextMarks, NO_MARKS, readMarks } from "./context-marks.js";
import {
	type EntryDrawing,
	itemsOfEntry,
	itemsOfMessage,
	itemsOfOther,
	type ToolItem,
	type ToolItems,
} from "./entry-items.js";
import { firstDrawnEntry } from "./first-drawn-entry.js";
import { createItem, gapBetween, type Item, type ItemKind } from "./item.js";
import { LiveReply } from "./live-reply.js";
import { BashView } from "./views/bash-view.js";
import type { EntryRenderer } from "./views/custom-entry-view.js";
import { type NoticeLevel, NoticeView, PageView } from "./views/notice-view.js";
import { ToolCallView } from "./views/tool-call-view.js";
import type { Look } from "./views/view.js";

/** What the transcript reads of a session; asked anew each time. */
export interface TranscriptSource {
	entries(): EntrySource;
	rendererOf(type: string): EntryRenderer | undefined;
}

const NO_ENTRIES: EntrySource = { length: 0, at: () => undefined };
const NO_SESSION: TranscriptSource = { entries: () => NO_ENTRIES, rendererOf: () => undefined };

/** The conversation on the screen: session events and entries in, blocks out. */
export class Transcript {
	readonly #tools: ToolItems = new Map();
	readonly #layout: ContextLayout;
	#fixed: Block[];
	#items: Item[] = [];
	#marks: ContextMarks = NO_MARKS;
	#placed: Placed[] = [];
	#source: TranscriptSource = NO_SESSION;
	/** Index of the first entry that is drawn. */
	#from = 0;
	#reply: LiveReply | null = null;
	/** Why the reply that is still shown as growing is asked for again; null when it is not. */
	#retryReason: string | null = null;
	#bash: { item: Item; view: BashView } | null = null;
	#running = false;
	/** The compaction that runs is the user's own command, which tells of its failure. */
	#isTold = false;
	/** The context changed while a run was on: the screen is set in order when it ends. */
	#stale = false;
	/** What a compaction hid may be in the next context again. */
	#isUndone = false;

	/** @param header stands above everything else */
	constructor(
		private readonly list: BlockList,
		private readonly look: Look,
		header: Block,
	) {
		this.#layout = new ContextLayout(look);
		this.#fixed = [header];
		list.append(header);
	}

	/** Draws a session: the last entries, with a row for those before them. */
	load(source: TranscriptSource, context: BuiltContext): void {
		const entries = source.entries();
		// What was said while the first session was still starting is not part of any session before it.
		const said = this.#source === NO_SESSION ? this.#items.filter(({ kind }) => kind === "notice") : [];
		this.#source = source;
		this.#items = [];
		this.#running = false;
		this.#tools.clear();
		this.look.images.clear();
		this.#reply = null;
		this.#bash = null;
		this.#retryReason = null;
		this.#from = firstDrawnEntry(entries, context);
		this.#countEarlier();
		this.#items = [...this.#itemsBetween(this.#from, entries.length), ...said];
		this.#marks = readMarks(context, entries, this.#from);
		this.#arrange(true);
	}

	/** A row for the entries that are not drawn. */
	#countEarlier(): void {
		this.#fixed = this.#fixed.slice(0, 1);
		if (this.#from <= 1) return;
		const text = `… ${plural(this.#from - 1, "earlier entry", "earlier entries")} · /export writes them all`;
		const row = createItem("event", new NoticeView(this.look, "info", text), this.look);
		row.block.gap = "turn";
		this.#fixed.push(row.block);
	}

	/** The items of entries that are over: what they began and did not end was stopped. */
	#itemsBetween(from: number, end: number): Item[] {
		const entries = this.#source.entries();
		const known = new Set(this.#tools.keys());
		const drawing = this.#drawing();
		const items: Item[] = [];
		for (let index = from; index < end; index++) items.push(...itemsOfEntry(entries, index, drawing));
		for (const [id, { view }] of this.#tools) if (!known.has(id)) view.stop();
		return items;
	}

	/** Draws what came before, as far as opening the session would, when the model sees it again. */
	#reachBack(context: BuiltContext): void {
		this.#isUndone = false;
		const from = firstDrawnEntry(this.#source.entries(), context);
		if (from >= this.#from) return;
		this.#items.unshift(...this.#itemsBetween(from, this.#from));
		this.#from = from;
		this.#countEarlier();
	}

	/** Takes in what happened in the session. Events that change nothing here are left alone. */
	handle(event: AgentSessionEvent): void {
		switch (event.type) {
			case "activity_changed": {
				const { phase } = event.activity;
				const wasRunning = this.#running;
				this.#running = phase !== null && phase !== "ending";
				if (wasRunning && !this.#running) this.#endRun();
				break;
			}
			case "message_start":
				if (event.message.role === "assistant") this.#reply = this.#newReply();
				break;
			case "message_update":
				this.#reply ??= this.#newReply();
				this.#reply.update(event.assistantMessageEvent);
				break;
			case "message_end":
				this.#endMessage(event);
				break;
			case "tool_execution_start":
				this.#tool(event.toolCallId, event.toolName).view.start(event.args);
				break;
			case "tool_execution_update":
				this.#tool(event.toolCallId, event.toolName).view.update(event.partialResult);
				break;
			case "tool_execution_end":
				this.#tool(event.toolCallId, event.toolName).view.finish(event.result, event.isError);
				break;
			case "auto_retry_start":
				this.#retryReason = event.errorMessage;
				break;
			case "entry_appended":
				this.#isUndone ||= isContextUndoEntry(event.entry);
				for (const item of itemsOfOther(event.entry, event.entryIndex, this.#drawing())) this.#add(item);
				break;
			case "context_changed":
				if (this.#isUndone) this.#reachBack(event.context);
				this.#marks = readMarks(event.context, this.#source.entries(), this.#from);
				if (this.#running) this.#stale = true;
				else this.#arrange(false);
				break;
			case "bash_start":
				this.#startBash(event.command);
				break;
			case "bash_update":
				this.#bash?.view.update(event.output);
				break;
			case "bash_end":
				this.#endBash(event.entryIndex);
				break;
			case "notice":
				this.notice(event.level, event.message);
				break;
			case "hook_error":
				if (isOfCommand(event)) break;
				this.notice("error", describeHookError(event, hookFileName(event.hookPath)));
				break;
			case "auto_compaction_start":
				this.#isTold = event.reason === "manual";
				break;
			case "auto_compaction_end":
				if (event.errorMessage && !this.#isTold) this.notice("error", `compaction failed: ${event.errorMessage}`);
				break;
		}
	}

	/** Adds a line that is no entry. */
	notice(level: NoticeLevel, message: string): void {
		this.#add(createItem("notice", new NoticeView(this.look, level, message), this.look));
	}

	/** Adds a title and lines that a command shows. */
	page(title: string, lines: readonly string[]): void {
		this.#add(createItem("event", new PageView(this.look, title, lines), this.look));
	}

	/** Shows all output, or previews again; draws everything anew. */
	toggleExpanded(): void {
		this.look.expanded = !this.look.expanded;
		this.#arrange(true);
	}

	/** Shows thinking in full, or its first line; draws everything anew. */
	toggleThinking(): void {
		this.look.showThinking = !this.look.showThinking;
		this.list.redraw();
	}

	/** Draws everything anew, as after a change of theme. */
	redraw(): void {
		this.list.redraw();
	}

	#newReply(): LiveReply {
		if (this.#retryReason === null) this.#reply?.abandon();
		else for (const item of this.#reply?.discard(this.#retryReason) ?? []) this.#exclude(item);
		this.#retryReason = null;
		return new LiveReply({ look: this.look, tools: this.#tools, add: (item) => this.#add(item) });
	}

	#endMessage({ message, entryIndex }: Extract<AgentEvent, { type: "message_end" }>): void {
		if (message.role === "assistant") {
			this.#reply ??= this.#newReply();
			this.#reply.finish(message, entryIndex);
			this.#reply = null;
			this.#retryReason = null;
		} else {
			for (const item of itemsOfMessage(message, entryIndex, this.#drawing())) this.#add(item);
		}
	}

	#endRun(): void {
		this.#reply?.abandon();
		this.#reply = null;
		this.#retryReason = null;
		for (const { view } of this.#tools.values()) view.stop();
		if (this.#stale) this.#arrange(false);
	}

	/** The view of a tool call; one that was never announced gets its own. */
	#tool(id: string, name: string): ToolItem {
		const known = this.#tools.get(id);
		if (known) return known;
		const view = new ToolCallView(this.look, name);
		const created = { view, item: createItem("tool", view, this.look) };
		this.#tools.set(id, created);
		this.#add(created.item);
		return created;
	}

	#startBash(command: string): void {
		this.#bash?.view.close();
		const view = new BashView(this.look, command);
		const item = createItem("bash", view, this.look);
		this.#bash = { item, view };
		this.#add(item);
	}

	#endBash(entryIndex: number): void {
		const entry = this.#source.entries().at(entryIndex);
		const bash = this.#bash;
		this.#bash = null;
		if (!bash) return;
		if (!isMessageEntry(entry) || entry.message.role !== "bashExecution") {
			bash.view.close();
			return;
		}
		bash.view.finish(entry.message);
		bash.item.entryIndices.push(entryIndex);
		// A `!!` command is known to be one only now.
		if (entry.message.excludeFromContext) this.#exclude(bash.item);
	}

	/** Shows that an item never was in the context. */
	#exclude(item: Item): void {
		item.excluded = true;
		item.block.mark = "out";
		const placed = this.#placed.find(({ block }) => block === item.block);
		if (placed) placed.mark = "out";
	}

	#drawing(): EntryDrawing {
		return { look: this.look, tools: this.#tools, rendererOf: (type) => this.#source.rendererOf(type) };
	}

	#add(item: Item): void {
		const before: ItemKind | null = this.#items.at(-1)?.kind ?? null;
		item.block.gap = gapBetween(before, item.kind);
		this.#items.push(item);
		this.#placed.push({ block: item.block, mark: item.block.mark, gap: item.block.gap });
		this.list.append(item.block);
		this.look.requestRender();
	}

	/** Brings the blocks in the order and look that the context asks for; without a difference nothing is drawn. */
	#arrange(always: boolean): void {
		this.#stale = false;
		const placed = this.#layout.place(this.#items, this.#marks, this.#source.entries());
		const same =
			placed.length === this.#placed.length &&
			placed.every(({ block, mark, gap }, at) => {
				const before = this.#placed[at];
				return before?.block === block && before.mark === mark && before.gap === gap;
			});
		if (same && !always) return;
		for (const { block, mark, gap } of placed) {
			block.mark = mark;
			block.gap = gap;
		}
		this.#placed = placed;
		this.list.replaceAll([...this.#fixed, ...placed.map(({ block }) => block)]);
	}
}
