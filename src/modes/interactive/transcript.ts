import type { AgentEvent } from "../../agent/events.js";
import type { BuiltContext } from "../../context/context-message.js";
import type { EntrySource } from "../../context/entry-message.js";
import { describeHookError } from "../../errors.js";
import { hookFileName } from "../../hooks/hook-name.js";

import type { FindToolRenderer } from "../../hooks/tool-drawing.js";
import { type BashExecutionMessage, isContextUndoEntry, type SessionEntry } from "../../log/entry.js";
import type { Activity } from "../../session/activity.js";
import type { AgentSessionEvent } from "../../session/events.js";
import type { Block, BlockList } from "../../tui/live-tui.js";
import { plural } from "../format.js";
import { ShownHookErrors, withNextStep } from "../shown-hook-errors.js";
import { ContextLayout, type PlacedBlock } from "./context-layout.js";
import { type ContextMarks, NO_MARKS, readMarks } from "./context-marks.js";
import {
	type EntryDrawing,
	hookCallItem,
	itemsOfEntry,
	itemsOfMessage,
	itemsOfOther,
	type ToolItem,
	type ToolItems,
} from "./entry-items.js";
import { firstDrawnEntry } from "./first-drawn-entry.js";
import { LiveReply } from "./live-reply.js";
import { transcriptHint } from "./transcript-hint.js";
import { createItem, gapBetween, type Item, type ItemKind } from "./transcript-item.js";
import { BashView } from "./views/bash-view.js";
import type { EntryRenderer } from "./views/custom-entry-view.js";
import { type NoticeLevel, NoticeView, PageView } from "./views/notice-view.js";
import { ToolCallView } from "./views/tool-call-view.js";
import type { ViewStyle } from "./views/view.js";

/** An event of a call of a tool. */
type ToolEvent = Extract<AgentEvent, { toolCallId: string }>;

/** The session data that the transcript reads, live. */
export interface TranscriptSource {
	entries(): EntrySource;
	rendererOf(type: string, entry?: SessionEntry): EntryRenderer | undefined;
	/** The functions with which a hook draws calls of a tool. */
	toolRendererOf?: FindToolRenderer;
	hostOf?: EntryDrawing["hostOf"];
	/** Words for failed requests, which are loaded with the session. */
	readonly words: EntryDrawing["words"];
}

const NO_ENTRIES: EntrySource = { length: 0, at: () => undefined };
const NO_SESSION: TranscriptSource = {
	entries: () => NO_ENTRIES,
	rendererOf: () => undefined,
	get words(): never {
		throw new Error("no session is shown, so no request can fail");
	},
};

/** The conversation on the screen: turns session events and entries into blocks. */
export class Transcript {
	readonly #tools: ToolItems = new Map();
	readonly #hookErrors = new ShownHookErrors();
	readonly #layout: ContextLayout;
	#fixed: Block[];
	#items: Item[] = [];
	#marks: ContextMarks = NO_MARKS;
	#placed: PlacedBlock[] = [];
	#source: TranscriptSource = NO_SESSION;
	/** The notices since the session began to change, or since the start. */
	#recent: { message: string; item: Item }[] = [];
	#isSwitching = false;
	/** The latest notice. */
	#latest: { level: NoticeLevel; message: string; item: Item; count: number } | null = null;
	/** Index of the first entry that is drawn. */
	#from = 0;
	#reply: LiveReply | null = null;
	#bash: { item: Item; view: BashView } | null = null;
	/** Shell commands that have ended and whose entries wait for the end of the run, oldest first. */
	#endedBash: Item[] = [];
	#running = false;
	/** True while `/compact` runs: the command reports a failure itself. */
	#commandReportsFailure = false;
	/** The context changed during a run; the blocks are rearranged when it ends. */
	#stale = false;
	readonly #toolRendererOf: FindToolRenderer = (name) => this.#source.toolRendererOf?.(name);
	/** An undo was logged: hidden entries may return in the next context. */
	#isUndone = false;

	constructor(
		private readonly list: BlockList,
		private readonly style: ViewStyle,
		header: Block,
	) {
		this.#layout = new ContextLayout(style);
		this.#fixed = [header];
		list.append(header);
	}

	/**
	 * Draws a session: the last entries, and a row that counts the earlier ones. Notices of its start or of the change to it
	 * remain visible.
	 * @param known the messages that the header shows
	 */
	load(source: TranscriptSource, context: BuiltContext, known: readonly string[] = []): void {
		const entries = source.entries();
		const notices = this.#recent.flatMap(({ message, item }) => (known.includes(message) ? [] : [item]));
		this.#recent = [];
		this.#source = source;
		this.#hookErrors.forget();
		this.#items = [];
		this.#running = false;
		this.#tools.clear();
		this.style.images.clear();
		this.#reply = null;
		this.#bash = null;
		this.#endedBash = [];
		this.#from = firstDrawnEntry(entries, context);
		this.#countEarlier();
		this.#items = [...this.#itemsBetween(this.#from, entries.length), ...notices];
		this.#marks = readMarks(context, entries, this.#from);
		this.#arrange(true);
	}

	/** Adds a row that counts the entries that are not drawn. */
	#countEarlier(): void {
		this.#fixed = this.#fixed.slice(0, 1);
		if (this.#from <= 1) return;
		const hint = transcriptHint(this.style) || "/export includes them all";
		const text = `… ${plural(this.#from - 1, "earlier entry", "earlier entries")} · ${hint}`;
		const row = createItem("event", new NoticeView(this.style, { level: "info", message: text }), this.style);
		row.block.gap = "turn";
		this.#fixed.push(row.block);
	}

	/** The items of entries of finished runs. Tool calls without a result count as stopped. */
	#itemsBetween(from: number, end: number): Item[] {
		const entries = this.#source.entries();
		const known = new Set(this.#tools.keys());
		const drawing = { ...this.#drawing(), hostOf: this.#source.hostOf };
		const items: Item[] = [];
		for (let index = from; index < end; index++) items.push(...itemsOfEntry(entries, index, drawing));
		for (const [id, { view }] of this.#tools) if (!known.has(id)) view.stop();
		return items;
	}

	/** Draws earlier entries that are in the context again, as far back as opening the session would. */
	#reachBack(context: BuiltContext): void {
		this.#isUndone = false;
		const from = firstDrawnEntry(this.#source.entries(), context);
		if (from >= this.#from) return;
		this.#items.unshift(...this.#itemsBetween(from, this.#from));
		this.#from = from;
		this.#countEarlier();
	}

	/** Shows a session event; ignores events that do not change the transcript. */
	handle(event: AgentSessionEvent): void {
		switch (event.type) {
			case "activity_changed": {
				this.#hookErrors.handle(event);
				this.#watchSwitch(event.activity);
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
				this.#tool(event).view.start(event.args);
				break;
			case "tool_execution_update":
				this.#tool(event).view.update(event.partialResult);
				break;
			case "tool_execution_end":
				this.#tool(event).view.finish(event.result, event.isError, event.blockedBy);
				break;
			case "tool_input_changed":
				this.#tool(event).view.changeInput(event.changed);
				break;
			case "entry_appended":
				this.#isUndone ||= isContextUndoEntry(event.entry);
				for (const item of itemsOfOther(event.entry, event.entryIndex, this.#drawing(), this.#source.entries()))
					this.#add(item);
				break;
			case "context_changed":
				if (this.#isUndone) this.#reachBack(event.context);
				this.#marks = readMarks(event.context, this.#source.entries(), this.#from);
				if (this.#running) this.#stale = true;
				else this.#arrange(false);
				break;
			case "bash_start":
				this.#startBash(event);
				break;
			case "bash_update":
				this.#bash?.view.update(event.output, event.styled);
				break;
			case "bash_done":
				this.#endBash(event.message);
				break;
			case "bash_end":
				this.#endedBash.shift()?.entryIndices.push(event.entryIndex);
				break;
			case "notice":
				this.notice(event.level, event.message);
				break;
			case "hook_error": {
				const line = describeHookError(event, hookFileName(event.hookPath));
				if (this.#hookErrors.accepts(event, line)) this.notice("error", withNextStep(event, line));
				break;
			}
			case "auto_compaction_start":
				this.#commandReportsFailure = event.reason === "manual";
				break;
			case "auto_compaction_end":
				if (event.errorMessage && !event.aborted && !this.#commandReportsFailure)
					this.notice("error", `compaction failed: ${event.errorMessage}`);
				break;
		}
	}

	/** Adds a line that is not an entry; a status or an error that is the last line already is counted there. */
	notice(level: NoticeLevel, message: string): void {
		if (this.#repeat(level, message)) return;
		const item = createItem("notice", new NoticeView(this.style, { level, message }), this.style);
		if (this.#isSwitching || this.#source === NO_SESSION) this.#recent.push({ message, item });
		this.#latest = { level, message, item, count: 1 };
		this.#add(item);
	}

	/** Counts a line that is the last one already, such as the status of a command that was canceled twice. @returns false for others */
	#repeat(level: NoticeLevel, message: string): boolean {
		const latest = this.#latest;
		const last = this.#items.length - 1;
		// The notices of a start or a change are kept by their items.
		if (level === "warning" || this.#isSwitching || this.#source === NO_SESSION) return false;
		if (latest === null || this.#items[last] !== latest.item) return false;
		if (latest.level !== level || latest.message !== message) return false;
		latest.count += 1;
		const view = new NoticeView(this.style, { level, message: `${message} (${latest.count} times)` });
		latest.item = createItem("notice", view, this.style);
		this.#items[last] = latest.item;
		this.#arrangeWhenIdle();
		return true;
	}

	#watchSwitch({ operations }: Activity): void {
		this.#isSwitching = operations.some(({ kind }) => kind === "switching");
		if (!this.#isSwitching && this.#source !== NO_SESSION) this.#recent = [];
	}

	/** Adds the output of a command: a title and lines. @returns a function that removes it */
	page(title: string, lines: readonly string[]): () => void {
		const item = createItem("page", new PageView(this.style, { title, lines }), this.style);
		this.#add(item);
		return () => {
			const at = this.#items.indexOf(item);
			if (at < 0) return;
			this.#items.splice(at, 1);
			this.#arrangeWhenIdle();
		};
	}

	/** Draws changed items: at once, or after the run. */
	#arrangeWhenIdle(): void {
		if (this.#running) this.#stale = true;
		else this.#arrange(false);
	}

	/** Switches between full thinking and its first line, in the visible blocks and in all that follow. */
	toggleThinking(): void {
		this.style.showThinking = !this.style.showThinking;
		this.style.redrawScreen();
	}

	/** Redraws everything, such as after a theme change. */
	redraw(): void {
		this.list.redraw();
	}

	#newReply(): LiveReply {
		this.#reply?.abandon();
		return new LiveReply({
			style: this.style,
			tools: this.#tools,
			toolRendererOf: this.#toolRendererOf,
			words: this.#source.words,
			add: (item) => this.#add(item),
		});
	}

	#endMessage({ message, entryIndex, isRetried }: Extract<AgentEvent, { type: "message_end" }>): void {
		if (message.role === "assistant") {
			this.#reply ??= this.#newReply();
			const items = this.#reply.finish(message, entryIndex, isRetried);
			if (isRetried) for (const item of items) this.#exclude(item);
			this.#reply = null;
		} else {
			const entry = this.#source.entries().at(entryIndex);
			for (const item of itemsOfMessage(message, entryIndex, this.#drawing(), entry)) this.#add(item);
		}
	}

	#endRun(): void {
		this.#reply?.abandon();
		this.#reply = null;
		for (const { view } of this.#tools.values()) view.stop();
		if (this.#stale) this.#arrange(false);
	}

	/** The item of a tool call. Creates one for a call that did not stream. */
	#tool({ toolCallId: id, toolName: name, caller }: ToolEvent): ToolItem {
		const known = this.#tools.get(id);
		if (known) return known;
		if (caller) {
			const call = hookCallItem({ id, name, args: {}, caller }, this.#drawing());
			if (!call.isIncluded) this.#add(call.item);
			return call;
		}
		const view = new ToolCallView(this.style, name, {}, this.#toolRendererOf);
		const created = { view, item: createItem("tool", view, this.style) };
		this.#tools.set(id, created);
		this.#add(created.item);
		return created;
	}

	#startBash({
		command,
		excludeFromContext: excluded = false,
	}: Extract<AgentSessionEvent, { type: "bash_start" }>): void {
		this.#bash?.view.close();
		const view = new BashView(this.style, command, excluded);
		const item = createItem("bash", view, this.style, { excluded });
		this.#bash = { item, view };
		this.#add(item);
	}

	#endBash(message: BashExecutionMessage): void {
		if (!this.#bash) return;
		this.#bash.view.finish(message);
		this.#endedBash.push(this.#bash.item);
		this.#bash = null;
	}

	/** Marks an item as not in the context. */
	#exclude(item: Item): void {
		item.excluded = true;
		item.block.mark = "out";
		const placed = this.#placed.find(({ block }) => block === item.block);
		if (placed) placed.mark = "out";
	}

	#drawing(): EntryDrawing {
		return {
			style: this.style,
			tools: this.#tools,
			rendererOf: (type, entry) => this.#source.rendererOf(type, entry),
			toolRendererOf: this.#toolRendererOf,
			words: this.#source.words,
		};
	}

	#add(item: Item): void {
		const before: ItemKind | null = this.#items.at(-1)?.kind ?? null;
		item.block.gap = gapBetween(before, item.kind);
		this.#items.push(item);
		this.#placed.push({ block: item.block, mark: item.block.mark, gap: item.block.gap });
		this.list.append(item.block);
		this.style.requestRender();
	}

	/** Applies the order, marks and gaps of the current context. Redraws only on a difference, unless `always` is true. */
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
