import { type Component, CURSOR_MARKER, type Focusable } from "@mariozechner/pi-tui";
import type { ContextInspection } from "../../../commands/inspection.js";
import { errorText } from "../../../errors.js";
import { type Look, typedText } from "../../../tui/select-dialog.js";
import { formatTokens, hookName, plural } from "../format.js";
import { cleanLine, cleanLines, clipLine, wrapLines } from "../lines.js";
import { type ContextRow, contextRows, diffRows } from "./context-rows.js";
import { keyLines, listRows, rowLine, titleLine } from "./panel-lines.js";
import { ScrollList, ScrollText } from "./scroll-list.js";

/** What a context panel can ask for. */
export interface ContextPanelOptions {
	inspection: ContextInspection;
	/** Computes the request without some hooks, given by their paths. */
	inspect(without: ReadonlySet<string>): Promise<ContextInspection>;
	/** Turns hooks off for the session. */
	disable(hooks: ReadonlySet<string>): Promise<void>;
	copy(text: string): Promise<void>;
	requestRender(): void;
	onClose(): void;
}

/** What the panel shows: the list, one message in full, or the hooks that can be left out. */
type View = { kind: "list" } | { kind: "message"; row: ContextRow } | { kind: "hooks" };

/** Shows the next request message by message, what it lacks and why, and what it would be without a hook. */
export class ContextPanel implements Component, Focusable {
	focused = false;
	#inspection: ContextInspection;
	#view: View = { kind: "list" };
	#withHidden = false;
	#asDiff = false;
	#filter = "";
	#isFiltering = false;
	/** Paths of hooks that are left out. */
	#without: ReadonlySet<string> = new Set();
	/** Tokens of the request with all hooks. */
	readonly #tokens: number;
	/** What just happened, until the next key. */
	#said: string | null = null;
	#rows: readonly ContextRow[] = [];
	/** Counts what was asked for: an answer that comes late is not shown. */
	#loads = 0;
	readonly #list: ScrollList;
	readonly #hooks: ScrollList;
	#text: ScrollText;

	constructor(
		private readonly look: Look,
		private readonly options: ContextPanelOptions,
	) {
		this.#inspection = options.inspection;
		this.#tokens = options.inspection.ledger.tokens;
		const rows = () => listRows(look.rows?.() ?? 30);
		this.#list = new ScrollList(rows);
		this.#hooks = new ScrollList(rows);
		this.#text = new ScrollText(rows);
		this.#list.select(options.inspection.ledger.messages.length - 1, options.inspection.ledger.messages.length);
		this.#update();
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.look;
		const rule = theme.dim("─".repeat(width));
		const body =
			this.#view.kind === "list"
				? this.#renderList(width)
				: this.#view.kind === "message"
					? this.#renderMessage(this.#view.row, width)
					: this.#renderHooks(width);
		const said = this.#said === null ? [] : [theme.accent(clipLine(` ${cleanLine(this.#said)}`, width))];
		return [rule, ...body.lines, ...said, ...keyLines(body.keys, theme, width)];
	}

	handleInput(data: string): void {
		this.#said = null;
		if (this.#isFiltering) this.#typeFilter(data);
		else if (this.#view.kind === "message") this.#handleMessage(data, this.#view.row);
		else if (this.#view.kind === "hooks") this.#handleHooks(data);
		else this.#handleList(data);
		this.options.requestRender();
	}

	invalidate(): void {} // nothing cached that depends on the theme

	#renderList(width: number) {
		const { theme } = this.look;
		const { from, to } = this.#list.window(this.#rows.length);
		const indexWidth = Math.max(2, String(this.#inspection.entries.length).length);
		const rows = this.#rows
			.slice(from, to)
			.map((row, at) => rowLine(row, from + at === this.#list.selected, indexWidth, theme, width));
		const more = this.#rows.length - to;
		const none = this.#filter ? "nothing matches" : this.#asDiff ? "as the last request" : "no messages yet";
		return {
			lines: [
				titleLine(this.#title(), this.#facts(), width, this.#title(true)),
				...wrapLines(
					this.#warnings().map((line) => cleanLine(line)),
					width - 2,
				).map((line) => theme.warning(` ${line}`)),
				...(this.#filter || this.#isFiltering ? [this.#filterLine(width)] : []),
				...(rows.length > 0 ? rows : [theme.dim(clipLine(`   ${none}`, width))]),
				...(more > 0 || from > 0 ? [theme.dim(clipLine(`   ${from} above · ${more} below`, width))] : []),
			],
			keys: this.#isFiltering ? FILTER_KEYS : this.#listKeys(),
		};
	}

	#listKeys(): [string, string][] {
		const { keymap } = this.look;
		const hidden = this.#inspection.ledger.hidden.length;
		return [
			["↑↓", "move"],
			[keymap.keyOf("dialog.accept"), "expand"],
			...(hidden > 0
				? [["h", this.#withHidden ? "without hidden" : `${hidden} hidden`] satisfies [string, string]]
				: []),
			["d", this.#asDiff ? "whole request" : "diff to last request"],
			...(this.#inspection.hooks.length > 0 ? [["t", "toggle hook"] satisfies [string, string]] : []),
			...(this.#without.size > 0 ? [["x", "turn off for real"] satisfies [string, string]] : []),
			["/", "filter"],
			["y", "copy"],
			["Y", "copy all"],
			[keymap.keyOf("dialog.cancel"), ""],
		];
	}

	#title(isShort = false): string {
		const { theme } = this.look;
		if (this.#without.size > 0) {
			const names = [...this.#without].map(hookName).join(", ");
			return ` ${theme.warning(`${isShort ? "Without" : "What if without"} ${cleanLine(names)}`)}`;
		}
		const [short, full] = this.#asDiff
			? ["Changes", "Changes since the last request"]
			: ["Next request", "Context of the next request"];
		return ` ${theme.bold(isShort ? short : full)}`;
	}

	#facts(): string[] {
		const { ledger, contextWindow, hooks, entries } = this.#inspection;
		const { tokens, prefix, messages, hidden } = ledger;
		const shown = messages.filter(({ entryIndex }) => entryIndex !== null).length;
		const share = prefix && tokens > 0 ? `${Math.round((100 * prefix.tokens) / tokens)} % cached` : "0 % cached";
		const change = tokens - this.#tokens;
		return [
			`${formatTokens(tokens)}${contextWindow > 0 ? ` of ${formatTokens(contextWindow)}` : ""}`,
			...(change === 0 ? [] : [`${change > 0 ? "+" : "−"}${formatTokens(Math.abs(change))}`]),
			share,
			plural(hooks.length, "hook"),
			entries.length > 1 ? `${shown} of ${shown + hidden.length} entries` : "no entries",
		];
	}

	#warnings(): string[] {
		const { loss, unstable, ledger } = this.#inspection;
		const lines: string[] = [];
		if (loss) {
			const who =
				loss.by.kind === "hook" ? hookName(loss.by.hook) : loss.by.kind === "compaction" ? "compaction" : "a change";
			lines.push(`${who} changed the start: ${formatTokens(loss.tokens)} tokens are no longer cached`);
		}
		for (const hook of unstable) lines.push(`${hookName(hook)} is unstable: other messages for the same entries`);
		for (const { hook, rule, position } of ledger.problems) {
			lines.push(`${hook === null ? "the log" : hookName(hook)}: ${rule.replaceAll("_", " ")} at ${position}`);
		}
		return lines;
	}

	#filterLine(width: number): string {
		const cursor = this.#isFiltering && this.focused ? CURSOR_MARKER : "";
		return clipLine(` / ${this.look.theme.accent(cleanLine(this.#filter))}${cursor}`, width);
	}

	#renderMessage(row: ContextRow, width: number) {
		const { theme, keymap } = this.look;
		const lines = wrapLines(cleanLines(row.full), Math.max(1, width - 2));
		const { from, to } = this.#text.window(lines.length);
		const facts = [row.tokens === null ? "" : formatTokens(row.tokens), `lines ${from + 1}–${to} of ${lines.length}`];
		const title = ` ${theme.bold(cleanLine([row.index, row.label].filter(Boolean).join(" ")))}`;
		const note = row.note ? [theme.dim(clipLine(` ${cleanLine(row.note)}`, width))] : [];
		const keys: [string, string][] = [
			["↑↓", "scroll"],
			["y", "copy"],
			[keymap.keyOf("dialog.cancel"), "back"],
		];
		return {
			lines: [
				titleLine(title, facts.filter(Boolean), width),
				...note,
				...lines.slice(from, to).map((line) => clipLine(` ${line}`, width)),
			],
			keys,
		};
	}

	#renderHooks(width: number) {
		const { theme, keymap } = this.look;
		const { hooks } = this.#inspection;
		const { from, to } = this.#hooks.window(hooks.length);
		const lines = hooks.slice(from, to).map(({ path, name }, at) => {
			const pointer = from + at === this.#hooks.selected ? theme.accent("→") : " ";
			const box = this.#without.has(path) ? theme.warning("off") : theme.success("on ");
			return clipLine(` ${pointer} ${box} ${cleanLine(name)}  ${theme.dim(cleanLine(path))}`, width);
		});
		const keys: [string, string][] = [
			["↑↓", "move"],
			[keymap.keyOf("dialog.accept"), "toggle"],
			[keymap.keyOf("dialog.cancel"), "back to the request"],
		];
		return {
			lines: [titleLine(` ${theme.bold("What if without")}`, this.#facts().slice(0, 3), width), ...lines],
			keys,
		};
	}

	#handleList(data: string): void {
		const { keymap } = this.look;
		if (this.#list.handle(data, keymap, this.#rows.length)) return;
		const row = this.#rows[this.#list.selected];
		if (keymap.matches(data, "dialog.cancel")) this.#leaveList();
		else if (keymap.matches(data, "dialog.accept")) this.#show(row);
		else this.#handleLetter(typedText(data), row);
	}

	#handleLetter(letter: string, row: ContextRow | undefined): void {
		switch (letter) {
			case "h":
				this.#withHidden = !this.#withHidden;
				this.#asDiff = false;
				this.#update(row);
				break;
			case "d":
				this.#asDiff = !this.#asDiff;
				this.#update(row);
				break;
			case "t":
				this.#chooseHook(row);
				break;
			case "x":
				this.#disable();
				break;
			case "/":
				this.#isFiltering = true;
				break;
			case "y":
				if (row && row.mark !== "gap") this.#copy(row.full, "the message");
				break;
			case "Y": {
				const { messages } = this.#inspection.ledger;
				this.#copy(messages.map(({ role, text }) => `${role}:\n${text}\n`).join("\n"), "the whole request");
			}
		}
	}

	/** What is special about the list goes first, then the panel. */
	#leaveList(): void {
		if (!this.#filter) {
			this.options.onClose();
			return;
		}
		this.#filter = "";
		this.#update();
	}

	#typeFilter(data: string): void {
		const { keymap } = this.look;
		if (keymap.matches(data, "dialog.accept")) this.#isFiltering = false;
		else if (keymap.matches(data, "dialog.cancel")) {
			this.#isFiltering = false;
			this.#filter = "";
		} else if (data === "\x7f" || data === "\b") this.#filter = [...this.#filter].slice(0, -1).join("");
		else if (!this.#list.handle(data, keymap, this.#rows.length)) this.#filter += typedText(data);
		this.#update();
	}

	#handleMessage(data: string, row: ContextRow): void {
		const { keymap } = this.look;
		if (this.#text.handle(data, keymap)) return;
		if (keymap.matches(data, "dialog.cancel") || keymap.matches(data, "dialog.accept")) this.#view = { kind: "list" };
		else if (typedText(data) === "y") this.#copy(row.full, "the message");
	}

	#handleHooks(data: string): void {
		const { keymap } = this.look;
		const { hooks } = this.#inspection;
		if (this.#hooks.handle(data, keymap, hooks.length)) return;
		const hook = hooks[this.#hooks.selected];
		if (keymap.matches(data, "dialog.cancel")) this.#view = { kind: "list" };
		else if (hook && (keymap.matches(data, "dialog.accept") || [" ", "t"].includes(typedText(data))))
			this.#toggle(hook.path);
	}

	#show(row: ContextRow | undefined): void {
		if (!row || row.mark === "gap") return;
		this.#text = new ScrollText(() => listRows(this.look.rows?.() ?? 30));
		this.#view = { kind: "message", row };
	}

	/** The only hook is toggled at once; of several the user chooses, beginning with that of the selected row. */
	#chooseHook(row: ContextRow | undefined): void {
		const { hooks } = this.#inspection;
		const [only, ...others] = hooks;
		if (!only) return;
		if (others.length === 0) {
			this.#toggle(only.path);
			return;
		}
		const own = hooks.findIndex(({ path }) => path === row?.hook);
		if (own >= 0) this.#hooks.select(own, hooks.length);
		this.#view = { kind: "hooks" };
	}

	#toggle(path: string): void {
		const without = new Set(this.#without);
		if (!without.delete(path)) without.add(path);
		this.#without = without;
		this.#load(() => this.options.inspect(without));
	}

	#disable(): void {
		const hooks = this.#without;
		if (hooks.size === 0) return;
		this.#load(async () => {
			await this.options.disable(hooks);
			this.#without = new Set();
			this.#said = "Off for this session; /hooks turns it on again";
			return this.options.inspect(this.#without);
		});
	}

	#load(inspect: () => Promise<ContextInspection>): void {
		const load = ++this.#loads;
		inspect().then(
			(inspection) => {
				// A later key may have asked for something else meanwhile.
				if (load !== this.#loads) return;
				this.#inspection = inspection;
				this.#update();
				this.options.requestRender();
			},
			(error: unknown) => this.#say(errorText(error)),
		);
	}

	#copy(text: string, what: string): void {
		this.options.copy(text).then(
			() => this.#say(`Copied ${what}`),
			(error: unknown) => this.#say(errorText(error)),
		);
	}

	#say(text: string): void {
		this.#said = text;
		this.options.requestRender();
	}

	/** Makes the rows anew. @param selected stays selected where it is still there */
	#update(selected?: ContextRow): void {
		const rows = this.#asDiff ? diffRows(this.#inspection) : contextRows(this.#inspection, this.#withHidden);
		const needle = this.#filter.toLowerCase();
		this.#rows = needle
			? rows.filter(({ full, label, note }) => `${label}\n${note}\n${full}`.toLowerCase().includes(needle))
			: rows;
		const place = selected
			? this.#rows.findIndex(({ index, full }) => index === selected.index && full === selected.full)
			: -1;
		this.#list.select(place >= 0 ? place : this.#list.selected, this.#rows.length);
	}
}

const FILTER_KEYS: [string, string][] = [
	["enter", "keep the filter"],
	["esc", "all"],
];
