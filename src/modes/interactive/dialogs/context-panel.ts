import { type Component, CURSOR_MARKER, type Focusable } from "@mariozechner/pi-tui";
import {
	type ContextInspection,
	type ContextTotals,
	describeTotals,
	type Inspector,
} from "../../../commands/inspection.js";
import { errorText } from "../../../errors.js";
import { clickable } from "../../../tui/clicks.js";
import { type DialogStyle, hint, type KeyHint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import type { KeyAction } from "../../../tui/key-table.js";
import { typedText } from "../../../tui/keymap.js";
import { clipLine } from "../../../tui/line.js";
import { ScrollList } from "../../../tui/scroll.js";
import { cleanLine, wrapLines } from "../clean-text.js";
import type { ContextRow } from "./context-row.js";
import { contextRows, diffRows, requestFacts, requestTitle, requestWarnings } from "./context-rows.js";
import { HookToggles } from "./hook-toggles.js";
import { createMessagePager } from "./pager.js";
import { listRows, rowLine, titleLine } from "./panel-lines.js";

/** Settings and callbacks of a `ContextPanel`. */
export interface ContextPanelOptions {
	inspection: ContextInspection;
	inspector: Pick<Inspector, "inspectContext" | "contextTotals" | "hooksSaved">;
	/** Turns hooks off for the session. */
	disable(hooks: ReadonlySet<string>): Promise<void>;
	copy(text: string): Promise<void>;
	requestRender(): void;
	onClose(): void;
}

/** A computed request. */
interface Loaded {
	inspection: ContextInspection;
	/** Tokens of the request with all hooks; absent when unchanged. */
	tokens?: number;
	/** Whether it is another request, whose last message is to be selected. */
	isOther?: boolean;
}

/** Shows a request with its tools, system prompt and messages, hidden parts with the reason, past requests, and the effect of leaving out hooks. */
export class ContextPanel implements Component, Focusable {
	focused = false;
	#inspection: ContextInspection;
	/** Covers the list: a message in full, or the hooks to leave out. */
	#over: Component | null = null;
	#withHidden = false;
	#asDiff = false;
	#filter = "";
	#isFiltering = false;
	/** Paths of the omitted hooks. */
	#without: ReadonlySet<string> = new Set();
	/** The request that was loaded last, possibly not shown yet. See `InspectOptions`. */
	#at: number | null;
	/** Tokens of the request with all hooks. */
	#tokens: number;
	/** What the hooks saved in the session, USD; null until it is computed, and if it is unknown. */
	#saved: number | null = null;
	readonly #totals: ContextTotals | null;
	/** Shown until the next key. */
	#notice: string | null = null;
	#rows: readonly ContextRow[] = [];
	/** Number of the latest load: results of earlier ones are ignored. */
	#loads = 0;
	readonly #list: ScrollList;
	/** Each action of the list, on the selected row. */
	readonly #actions: Partial<Record<KeyAction, (row: ContextRow | undefined) => void>> = {
		"dialog.cancel": () => this.#leaveList(),
		"dialog.accept": (row) => this.#show(row),
		"contextPanel.hidden": (row) => {
			this.#withHidden = !this.#withHidden;
			this.#asDiff = false;
			this.#update(row);
		},
		"contextPanel.diff": (row) => {
			this.#asDiff = !this.#asDiff;
			this.#update(row);
		},
		"contextPanel.previous": () => this.#step(-1),
		"contextPanel.next": () => this.#step(1),
		"contextPanel.latest": () => this.#at !== null && this.#goTo(null),
		"contextPanel.toggleHook": (row) => this.#chooseHook(row),
		"contextPanel.disableHooks": () => this.#disable(),
		"contextPanel.filter": () => {
			this.#isFiltering = true;
		},
		"contextPanel.copy": (row) => row && row.mark !== "gap" && this.#copy(row.full, "the message"),
		"contextPanel.copyAll": () => {
			const { ledger, context } = this.#inspection;
			const parts = [{ role: "system", text: context.preamble.systemPrompt }, ...ledger.messages];
			this.#copy(parts.map(({ role, text }) => `${role}:\n${text}\n`).join("\n"), "the full request");
		},
	};

	constructor(
		private readonly style: DialogStyle,
		private readonly options: ContextPanelOptions,
	) {
		this.#inspection = options.inspection;
		this.#at = options.inspection.at;
		this.#tokens = options.inspection.ledger.tokens;
		this.#totals = options.inspector.contextTotals();
		this.#list = new ScrollList(() => listRows(style.rows?.() ?? 30) - (this.#totals === null ? 0 : 1));
		this.#update();
		this.#selectLast();
		void options.inspector.hooksSaved().then((saved) => {
			this.#saved = saved;
			options.requestRender();
		});
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.style;
		const rule = theme.dim("─".repeat(width));
		const body = this.#over ? [...this.#over.render(width), ...this.#noticeLine(width)] : this.#renderList(width);
		return [rule, ...body];
	}

	handleInput(data: string): void {
		this.#notice = null;
		if (this.#isFiltering) this.#typeFilter(data);
		else if (this.#over) this.#over.handleInput?.(data);
		else this.#handleList(data);
		this.options.requestRender();
	}

	invalidate(): void {} // nothing cached that depends on the theme

	#renderList(width: number): string[] {
		const { theme } = this.style;
		const { from, to } = this.#list.window(this.#rows.length);
		const indexWidth = Math.max(2, String(this.#inspection.entries.length).length);
		const rows = this.#rows
			.slice(from, to)
			.map((row, at) => rowLine(row, from + at === this.#list.selected, indexWidth, theme, width))
			.map((line, at) => clickable(line, from + at, this.style));
		const more = this.#rows.length - to;
		const same = this.#inspection.at === null ? "same as the last request" : "same as the previous request";
		const none = this.#filter ? "nothing matches" : this.#asDiff ? same : "no messages yet";
		const { short, full } = requestTitle(this.#inspection, { without: this.#without, asDiff: this.#asDiff }, theme);
		const warnings = requestWarnings(this.#inspection).map((line) => cleanLine(line));
		return [
			titleLine(full, this.#facts(), width, short),
			...(this.#totals ? [theme.dim(clipLine(` ${describeTotals(this.#totals, this.#saved)}`, width))] : []),
			...wrapLines(warnings, width - 2).map((line) => theme.warning(` ${line}`)),
			...(this.#filter || this.#isFiltering ? [this.#filterLine(width)] : []),
			...(rows.length > 0 ? rows : [theme.dim(clipLine(`   ${none}`, width))]),
			...(more > 0 || from > 0 ? [theme.dim(clipLine(`   ${from} above · ${more} below`, width))] : []),
			...this.#noticeLine(width),
			...keyLines(this.#isFiltering ? FILTER_KEYS : this.#listKeys(), this.style, width),
		];
	}

	#facts(): string[] {
		return requestFacts(this.#inspection, this.#inspection.ledger.tokens - this.#tokens);
	}

	#listKeys(): KeyHint[] {
		const { ledger, hooks, requests, at } = this.#inspection;
		const hidden = ledger.hidden.length + ledger.removed.length;
		const when = (condition: boolean, ...named: Parameters<typeof hint>) => (condition ? [hint(...named)] : []);
		return [
			hint("move", ...UP_DOWN),
			hint("expand", "dialog.accept"),
			...when(hidden > 0, this.#withHidden ? "without hidden" : `${hidden} hidden`, "contextPanel.hidden"),
			hint(this.#asDiff ? "full request" : `diff to ${at === null ? "last request" : "previous"}`, "contextPanel.diff"),
			...when(requests.length > 0, "past requests", "contextPanel.previous", "contextPanel.next"),
			...when(hooks.length > 0, "toggle hook", "contextPanel.toggleHook"),
			...when(this.#without.size > 0, "turn off", "contextPanel.disableHooks"),
			hint("filter", "contextPanel.filter"),
			hint("copy", "contextPanel.copy"),
			hint("copy all", "contextPanel.copyAll"),
			hint(at === null ? "" : "next request", "dialog.cancel"),
		];
	}

	#noticeLine(width: number): string[] {
		return this.#notice === null ? [] : [this.style.theme.accent(clipLine(` ${cleanLine(this.#notice)}`, width))];
	}

	#filterLine(width: number): string {
		const cursor = this.#isFiltering && this.focused ? CURSOR_MARKER : "";
		return clipLine(` / ${this.style.theme.accent(cleanLine(this.#filter))}${cursor}`, width);
	}

	#handleList(data: string): void {
		const { keymap } = this.style;
		if (this.#list.handle(data, keymap, this.#rows.length)) return;
		const row = this.#rows[this.#list.selected];
		const action = keymap.actionOf(data, this.#actions);
		if (action) this.#actions[action]?.(row);
	}

	/** Leaves the filter, else the past request, else the panel. */
	#leaveList(): void {
		if (this.#filter) {
			this.#filter = "";
			this.#update();
		} else if (this.#at !== null) this.#goTo(null);
		else this.options.onClose();
	}

	#typeFilter(data: string): void {
		const { keymap } = this.style;
		if (keymap.matches(data, "dialog.accept")) this.#isFiltering = false;
		else if (keymap.matches(data, "dialog.cancel")) {
			this.#isFiltering = false;
			this.#filter = "";
		} else if (keymap.matches(data, "tui.editor.deleteCharBackward"))
			this.#filter = [...this.#filter].slice(0, -1).join("");
		else if (!this.#list.handle(data, keymap, this.#rows.length)) this.#filter += typedText(data);
		this.#update();
	}

	#show(row: ContextRow | undefined): void {
		if (!row || row.mark === "gap") return;
		this.#over = createMessagePager(this.style, row, {
			copy: (text) => this.#copy(text, "the message"),
			onClose: () => this.#closeOver(),
		});
	}

	/** Toggles the only hook; if there are several, lets the user choose, with the selected row's hook preselected. */
	#chooseHook(row: ContextRow | undefined): void {
		const [only, ...others] = this.#inspection.hooks;
		if (!only) return;
		if (others.length === 0) {
			this.#toggle(only.path);
			return;
		}
		this.#over = new HookToggles(
			this.style,
			{
				hooks: () => this.#inspection.hooks,
				without: () => this.#without,
				facts: () => this.#facts(),
				onToggle: (path) => this.#toggle(path),
				onClose: () => this.#closeOver(),
			},
			row?.hook ?? null,
		);
	}

	#closeOver(): void {
		this.#over = null;
	}

	#toggle(path: string): void {
		const without = new Set(this.#without);
		if (!without.delete(path)) without.add(path);
		this.#without = without;
		this.#load(async () => ({ inspection: await this.options.inspector.inspectContext({ without, at: this.#at }) }));
	}

	#disable(): void {
		const hooks = this.#without;
		if (hooks.size === 0) return;
		this.#load(async () => {
			await this.options.disable(hooks);
			this.#without = new Set();
			this.#notice = "Off for this session; /hooks turns it on again";
			const inspection = await this.options.inspector.inspectContext({ at: this.#at });
			return { inspection, tokens: inspection.ledger.tokens };
		});
	}

	/** Goes to the previous or the following request; the next request comes after the last past one. */
	#step(direction: 1 | -1): void {
		const { requests } = this.#inspection;
		const at = this.#at ?? Number.POSITIVE_INFINITY;
		const to = direction < 0 ? requests.findLast((request) => request < at) : requests.find((request) => request > at);
		if (to !== undefined) this.#goTo(to);
		else if (direction < 0) this.#notice = "This is the first request";
		else if (this.#at !== null) this.#goTo(null);
	}

	#goTo(at: number | null): void {
		const without = this.#without;
		this.#at = at;
		this.#load(async () => {
			const inspection = await this.options.inspector.inspectContext({ without, at });
			const withAll = without.size === 0 ? inspection : await this.options.inspector.inspectContext({ at });
			return { inspection, tokens: withAll.ledger.tokens, isOther: true };
		});
	}

	#load(inspect: () => Promise<Loaded>): void {
		const load = ++this.#loads;
		inspect().then(
			({ inspection, tokens = this.#tokens, isOther = false }) => {
				// A later key may have started another load.
				if (load !== this.#loads) return;
				this.#inspection = inspection;
				this.#tokens = tokens;
				this.#update();
				if (isOther) this.#selectLast();
				this.options.requestRender();
			},
			(error: unknown) => this.#notify(errorText(error)),
		);
	}

	#selectLast(): void {
		this.#list.select(this.#rows.length - 1, this.#rows.length);
	}

	#copy(text: string, name: string): void {
		this.options.copy(text).then(
			() => this.#notify(`Copied ${name}`),
			(error: unknown) => this.#notify(errorText(error)),
		);
	}

	#notify(text: string): void {
		this.#notice = text;
		this.options.requestRender();
	}

	/** Creates the rows. @param selected row that stays selected if it still exists */
	#update(selected?: ContextRow): void {
		const rows = this.#asDiff ? diffRows(this.#inspection) : contextRows(this.#inspection, this.#withHidden);
		const needle = this.#filter.toLowerCase();
		this.#rows = needle
			? rows.filter(({ full, label, note }) => `${label}\n${note}\n${full}`.toLowerCase().includes(needle))
			: rows;
		const position = this.#rows.findIndex(({ index, full }) => index === selected?.index && full === selected.full);
		this.#list.select(position >= 0 ? position : this.#list.selected, this.#rows.length);
	}
}

const FILTER_KEYS = [hint("apply", "dialog.accept"), hint("clear", "dialog.cancel")];
