import type { Component, Focusable } from "@mariozechner/pi-tui";
import type {
	CompactionDraft,
	CompactionPreview,
	CompactionTokens,
	CompactionTrial,
} from "../../../commands/compaction-request.js";
import { describeError } from "../../../errors.js";
import { entryTimestamp } from "../../../log/entry.js";
import { AnswerGuard, type GuardedKey, type GuardOptions } from "../../../tui/answer-guard.js";
import { clickable } from "../../../tui/clicks.js";
import { type DialogStyle, hint, type KeyHint, keyLines, RowBudget, UP_DOWN } from "../../../tui/dialog-style.js";
import type { KeyAction } from "../../../tui/key-table.js";
import { typedText } from "../../../tui/keymap.js";
import { clipLine } from "../../../tui/line.js";
import type { PromptEditor } from "../../../tui/prompt-editor.js";
import { ScrollList } from "../../../tui/scroll.js";
import { formatTokens, plural } from "../../format.js";
import { cleanLine, cleanLines, wrapLines } from "../clean-text.js";
import { type CompactionRows, compactionRows } from "./compaction-rows.js";
import type { ContextRow } from "./context-row.js";
import { createMessagePager } from "./pager.js";
import { listRows, rowLine, titleLine } from "./panel-lines.js";
import { SummaryEditor } from "./summary-editor.js";

/** The user's decision. */
export type CompactionAnswer = { kind: "done"; tokens: CompactionTokens } | { kind: "redraft" } | { kind: "cancel" };

/** Settings and callbacks of a `CompactionPanel`. */
export interface CompactionPanelOptions {
	copy(text: string): Promise<void>;
	requestRender(): void;
	/** Creates an editor like the prompt's, without completions. */
	createEditor(): PromptEditor;
	/** Opens the user's external editor. @returns the new text, or null to keep the old one */
	editExternally(text: string): Promise<string | null>;
	trial: CompactionTrial;
	/** The draft of a hook; null: the model writes one. */
	offered: CompactionDraft | null;
	/** Aborts when the panel closes, which stops the model. */
	signal: AbortSignal;
	timing?: GuardOptions["timing"];
	onAnswer(answer: CompactionAnswer): void;
}

/** The state of the summary. */
type Summary =
	| { kind: "writing"; text: string }
	| { kind: "ready"; draft: CompactionDraft }
	| { kind: "failed"; error: string };

/** The summary in the preview until the real one is ready. */
const PROVISIONAL = "…";

/** Previews a compaction: the messages that it drops and keeps, and its summary, which the user can edit or redraft. */
export class CompactionPanel implements Component, Focusable {
	#focused = false;
	#summary: Summary;
	#preview: CompactionPreview | null = null;
	#rows: CompactionRows | null = null;
	/** Covers the list: a message in full, or the editor. */
	#over: (Component & Partial<Focusable>) | null = null;
	/** Shown until the next key. */
	#notice: string | null = null;
	#isSaving = false;
	/** Number of the latest preview: results of earlier ones are ignored. */
	#previews = 0;
	/** Visible rows of the list. */
	#listRows = 1;
	readonly #list: ScrollList;
	/** Whoever types the next prompt here neither changes nor accepts the summary. */
	readonly #guard: AnswerGuard;
	/** Each action of the panel, on the selected row. */
	readonly #actions: Partial<Record<KeyAction, (row: ContextRow | undefined) => void>> = {
		"dialog.cancel": () => this.options.onAnswer({ kind: "cancel" }),
		"dialog.accept": () => this.#accept(),
		"compactionPanel.expand": (row) => row && this.#show(row),
		"compactionPanel.summary": () => this.#summary.kind === "ready" && this.#show(summaryRow(this.#summary.draft)),
		"compactionPanel.edit": () => this.#unlessWriting(() => this.#edit()),
		"compactionPanel.redraft": () => this.#unlessWriting(() => this.options.onAnswer({ kind: "redraft" })),
	};

	constructor(
		private readonly style: DialogStyle,
		private readonly options: CompactionPanelOptions,
	) {
		const { offered } = options;
		this.#list = new ScrollList(() => this.#listRows);
		this.#guard = new AnswerGuard(options, () => false);
		this.#summary = offered ? { kind: "ready", draft: offered } : { kind: "writing", text: "" };
		this.#compute();
		if (!offered) this.#draft();
	}

	get focused(): boolean {
		return this.#focused;
	}

	set focused(focused: boolean) {
		this.#focused = focused;
		if (this.#over && "focused" in this.#over) this.#over.focused = focused;
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		const { theme } = this.style;
		const rule = theme.dim("─".repeat(width));
		if (this.#over) {
			this.#guard.hide();
			return [rule, ...this.#over.render(width)];
		}
		this.#guard.drew(this.#summary.kind === "writing" ? [LETTERS] : [LETTERS, SUMMARY]);
		const said = this.#guard.isIgnored ? "keys count after a pause" : this.#notice;
		const notice = said === null ? [] : wrapLines([cleanLine(said)], width - 2);
		const wanted = Math.max(3, Math.floor(listRows(this.style.rows?.() ?? 30) / 2));
		const budget = new RowBudget(this.style);
		const title = budget.takeLines(this.#titleLines(width));
		// A row of the list, and the position of the list.
		const list = budget.take(2);
		const notices = budget.takeLines(notice.map((line) => theme.warning(` ${line}`)));
		const keys = budget.takeLines(keyLines(this.#keys(), this.style, width));
		const summary = budget.take(2);
		const rules = budget.takeLines([rule]);
		this.#listRows = Math.max(1, list + budget.take(wanted + 1 - list) - 1);
		const summaryRows = summary + budget.take(wanted + 2 - summary);
		return [
			...rules,
			...title,
			...this.#listLines(width),
			...this.#summaryLines(width, summaryRows).slice(0, summaryRows),
			...notices,
			...keys,
		];
	}

	handleInput(data: string): void {
		// What is being written cannot be canceled or changed.
		if (this.#isSaving) return;
		this.#notice = null;
		if (this.#over) this.#over.handleInput?.(data);
		else this.#handleKey(data);
		this.options.requestRender();
	}

	invalidate(): void {
		this.#over?.invalidate();
	}

	#titleLines(width: number): string[] {
		const { theme } = this.style;
		const change = this.#preview ? [this.#change(this.#preview)] : [];
		const lines = [titleLine(` ${theme.bold("Compact")}`, [...change, ...this.#author()], width)];
		if (!this.#rows) return lines;
		const { dropped, kept, byHooks } = this.#rows;
		const facts = [
			`drops ${plural(dropped.messages, "message")}, ${formatTokens(dropped.tokens)}`,
			`keeps ${kept.messages}, ${formatTokens(kept.tokens)}`,
			...(byHooks.messages > 0 ? [`${byHooks.messages} of them by ${byHooks.names.join(", ")}`] : []),
			...this.options.trial.describe(
				this.#summary.kind === "ready" ? this.#summary.draft.entry : this.options.trial.cut,
			),
		];
		return [...lines, ...wrapLines([cleanLine(facts.join(" · "))], width - 2).map((line) => ` ${line}`)];
	}

	#change({ tokensBefore, tokensAfter }: CompactionPreview): string {
		const before = formatTokens(tokensBefore);
		if (this.#summary.kind === "ready") return `${before} → ${formatTokens(tokensAfter)}`;
		return `${before} → ${formatTokens(this.#rows?.kept.tokens ?? 0)} plus the summary`;
	}

	#author(): string[] {
		if (this.#summary.kind !== "ready") return [];
		const { by } = this.#summary.draft;
		if (by.kind === "user") return ["summary by you"];
		if (by.kind === "pi") return ["summary by pi, without a model"];
		return [cleanLine(`summary by ${by.kind === "hook" ? `hook ${by.name}` : by.name}`, 60)];
	}

	#listLines(width: number): string[] {
		const { theme } = this.style;
		if (!this.#rows) return [];
		const { rows } = this.#rows;
		const { from, to } = this.#list.window(rows.length);
		const indexWidth = Math.max(2, ...rows.map(({ index }) => index.length));
		const shown = rows
			.slice(from, to)
			.map((row, at) => rowLine(row, from + at === this.#list.selected, indexWidth, theme, width))
			.map((line, at) => clickable(line, from + at, this.style));
		const more = rows.length - to;
		const position = more > 0 || from > 0 ? [theme.dim(clipLine(`   ${from} above · ${more} below`, width))] : [];
		return [...shown, ...position];
	}

	/** Draws the start of the summary, or its end while the model writes it, below a title. */
	#summaryLines(width: number, rows: number): string[] {
		const { theme } = this.style;
		const summary = this.#summary;
		if (summary.kind === "failed") {
			const lines = wrapLines([cleanLine(summary.error)], width - 2).map((line) => theme.error(` ${line}`));
			return [clipLine(` ${theme.bold("No summary")}`, width), ...lines];
		}
		const isReady = summary.kind === "ready";
		const text = isReady ? summary.draft.entry.summary : summary.text;
		const lines = text === "" ? [] : wrapLines(cleanLines(text), Math.max(1, width - 4));
		const from = isReady ? 0 : Math.max(0, lines.length - rows + 1);
		const shown = lines.slice(from, from + Math.max(0, rows - 1));
		const isCut = shown.length > 0 && shown.length < lines.length;
		const position = isCut ? [`lines ${from + 1}–${from + shown.length} of ${lines.length}`] : [];
		const title = isReady ? "Summary" : "Writing the summary";
		return [
			titleLine(` ${theme.bold(title)}`, position, width),
			...shown.map((line) => clipLine(` ${theme.dim("│")} ${line}`, width)),
		];
	}

	#keys(): KeyHint[] {
		const isReady = this.#summary.kind === "ready";
		const isWriting = this.#summary.kind === "writing";
		const when = (condition: boolean, does: string, key: KeyAction) => (condition ? [hint(does, key)] : []);
		return [
			...when(isReady, "accept", "dialog.accept"),
			...when(!isWriting, isReady ? "edit" : "write it", "compactionPanel.edit"),
			...when(!isWriting, "redraft", "compactionPanel.redraft"),
			hint("move", ...UP_DOWN),
			hint("expand", "compactionPanel.expand"),
			...when(isReady, "full summary", "compactionPanel.summary"),
			hint("cancel", "dialog.cancel"),
		];
	}

	#handleKey(data: string): void {
		const { keymap } = this.style;
		const rows = this.#rows?.rows ?? [];
		const action = keymap.actionOf(data, this.#actions);
		// A summary that arrives right after the key has not been read.
		const isUnread = action === "dialog.accept" && this.#summary.kind === "writing";
		const run = () => {
			if (isUnread) this.#notify(STILL_WRITING);
			else if (action) this.#actions[action]?.(rows[this.#list.selected]);
		};
		if (this.#guard.receive(guardedKey(data, action, isUnread ? LETTERS : SUMMARY, run))) return;
		if (!this.#list.handle(data, keymap, rows.length)) run();
	}

	#unlessWriting(run: () => void): void {
		if (this.#summary.kind === "writing") this.#notify(STILL_WRITING);
		else run();
	}

	#accept(): void {
		const summary = this.#summary;
		if (summary.kind !== "ready" || this.#isSaving) return;
		this.#isSaving = true;
		this.options.trial.accept(summary.draft).then(
			(tokens) => this.options.onAnswer({ kind: "done", tokens }),
			(error: unknown) => {
				this.#isSaving = false;
				this.#notify(describeError(error));
			},
		);
	}

	#draft(): void {
		const { trial, signal, requestRender } = this.options;
		const onText = (text: string) => {
			if (signal.aborted) return;
			this.#summary = { kind: "writing", text };
			requestRender();
		};
		trial.draft(onText, signal).then(
			(draft) => this.#useDraft(draft),
			(error: unknown) => {
				if (signal.aborted) return;
				this.#summary = { kind: "failed", error: describeError(error) };
				requestRender();
			},
		);
	}

	#edit(): void {
		const { createEditor, editExternally, requestRender } = this.options;
		const draft = this.#summary.kind === "ready" ? this.#summary.draft : null;
		const before = draft?.entry.summary ?? "";
		this.#put(
			new SummaryEditor(this.style, {
				editor: createEditor(),
				text: before,
				editExternally,
				requestRender,
				onDone: (summary) => {
					this.#put(null);
					if (summary !== before) this.#useDraft(this.#written(draft, summary));
				},
				onCancel: () => this.#put(null),
			}),
		);
	}

	/** @returns the compaction with the user's summary */
	#written(draft: CompactionDraft | null, summary: string): CompactionDraft {
		const kept = draft?.entry ?? this.options.trial.cut;
		const entry = { ...kept, type: "compaction", timestamp: entryTimestamp(), summary } as const;
		return { entry, by: { kind: "user" } };
	}

	#useDraft(draft: CompactionDraft): void {
		this.#summary = { kind: "ready", draft };
		this.#compute();
		this.options.requestRender();
	}

	#show(row: ContextRow): void {
		this.#put(
			createMessagePager(this.style, row, {
				copy: (text) => {
					this.options.copy(text).catch((error: unknown) => this.#notify(describeError(error)));
				},
				onClose: () => this.#put(null),
			}),
		);
	}

	#put(over: (Component & Partial<Focusable>) | null): void {
		this.#over = over;
		if (over && "focused" in over) over.focused = this.#focused;
	}

	/** Computes the preview with the current summary. */
	#compute(): void {
		const { trial, requestRender } = this.options;
		const entry = this.#summary.kind === "ready" ? this.#summary.draft.entry : null;
		const cut = entry ?? trial.cut;
		const preview = ++this.#previews;
		trial.preview({ ...cut, summary: entry?.summary ?? PROVISIONAL }).then(
			(computed) => {
				if (preview !== this.#previews) return;
				this.#preview = computed;
				this.#rows = compactionRows(computed, cut.firstKeptEntryIndex, entry !== null);
				requestRender();
			},
			(error: unknown) => this.#notify(describeError(error)),
		);
	}

	#notify(text: string): void {
		this.#notice = text;
		this.options.requestRender();
	}
}

/** Rows of the guard: what letters do, and the summary that Enter accepts. */
const [LETTERS, SUMMARY] = ["letters", "summary"];

/** A key of the panel. @param row what Enter is for @param choose carries out its action */
function guardedKey(data: string, action: KeyAction | undefined, row: string, choose: () => void): GuardedKey {
	if (action === "dialog.accept") return { kind: "enter", text: "\n", row, choose };
	const text = typedText(data);
	if (text === "") return { kind: "other" };
	if (action === undefined) return { kind: "text", text };
	const onlyShows = action === "compactionPanel.expand" || action === "compactionPanel.summary";
	return { kind: "letter", text, row: LETTERS, onlyShows, choose };
}

const STILL_WRITING = "The model is still writing the summary";

function summaryRow({ entry }: CompactionDraft): ContextRow {
	const { summary } = entry;
	const blank = { index: "", text: summary, note: "", tokens: null, state: "", hook: null } as const;
	return { ...blank, mark: "summary", label: "summary", full: summary };
}
