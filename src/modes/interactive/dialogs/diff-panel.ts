import type { Component, Focusable } from "@mariozechner/pi-tui";
import { describeChange, describeHunk } from "../../../commands/describe-changes.js";
import type {
	FileReview,
	ReviewComment,
	ReviewDecision,
	ReviewedFile,
	ReviewOutcome,
	ReviewScope,
} from "../../../commands/review.js";
import { errorText } from "../../../errors.js";
import { clickable, clickedRow, isOfMouse, wheelRows } from "../../../tui/clicks.js";
import { type DialogStyle, hint, type KeyHint, keyLines, UP_DOWN } from "../../../tui/dialog-style.js";
import { InputDialog } from "../../../tui/input-dialog.js";
import type { KeyAction } from "../../../tui/key-table.js";
import { clipLine } from "../../../tui/line.js";
import { languageOf } from "../../../util/highlight.js";
import type { Hunk } from "../../../util/hunks.js";
import { loadWordDiff, wordDiff } from "../../../util/word-diff.js";
import { displayPath, plural } from "../../format.js";
import { cleanLine, wrapLines } from "../clean-text.js";
import { drawDiff } from "../views/tools/diff-lines.js";
import { titleLine } from "./panel-lines.js";

/** Data and callbacks of a `DiffPanel`. */
export interface DiffPanelOptions {
	review: FileReview;
	scope: ReviewScope;
	paths: { cwd: string; home: string };
	requestRender(): void;
	/** Receives the comments, in the order in which they were written. */
	onClose(comments: readonly ReviewComment[]): void;
}

/** A row of the list: a file, or one of its hunks. */
interface Item {
	file: ReviewedFile;
	/** null: the file itself. */
	hunk: Hunk | null;
}

const SCOPES: Readonly<Record<ReviewScope, string>> = {
	session: "Changes of this session",
	turn: "Changes of the last prompt",
};
/** Rows of the screen that the panel leaves for its title, its keys and the footer. */
const OTHER_ROWS = 8;
const MIN_ROWS = 4;

/** Shows what tools changed by file and hunk; each is kept or reverted, and can be commented on. */
export class DiffPanel implements Component, Focusable {
	focused = false;
	#scope: ReviewScope;
	/** null while they are read. */
	#files: readonly ReviewedFile[] | null = null;
	#unknownCommands: string | null = null;
	#selected = 0;
	#top = 0;
	/** Whether the window follows the selection, not the keys that scroll. */
	#follows = true;
	#note: { text: string; isProblem: boolean } | null = null;
	/** The decision that is carried out. */
	#pending: Promise<void> | null = null;
	#input: InputDialog | null = null;
	readonly #comments: ReviewComment[] = [];
	#drawn: { width: number; lines: readonly (readonly string[])[] } | null = null;

	constructor(
		private readonly style: DialogStyle,
		private readonly options: DiffPanelOptions,
	) {
		this.#scope = options.scope;
		this.#read();
		if (wordDiff() === null)
			loadWordDiff().then(
				() => this.#redraw(),
				() => {},
			);
	}

	/** @returns lines of at most `width` columns */
	render(width: number): string[] {
		if (this.#input) return this.#input.render(width);
		const { theme } = this.style;
		const files = this.#files ?? [];
		const items = itemsOf(files);
		const at = items[this.#selected];
		const [added, removed] = [countLines(files, "added"), countLines(files, "removed")];
		const facts = files.length === 0 ? [] : [plural(files.length, "file"), `+${added} −${removed}`];
		const note = this.#note;
		const noteLines = note ? wrapLines([cleanLine(note.text)], width - 2).map((line) => ` ${line}`) : [];
		return [
			theme.dim("─".repeat(width)),
			titleLine(` ${theme.bold(SCOPES[this.#scope])}`, facts, width, ` ${theme.bold("Changes")}`),
			...(items.length === 0 ? this.#emptyLines(width) : this.#window(items, width)),
			...noteLines.map((line) => (note?.isProblem ? theme.error(line) : theme.dim(line))),
			...keyLines(this.#keys(at), this.style, width),
		];
	}

	handleInput(data: string): void {
		if (this.#input) this.#input.handleInput(data);
		else this.#handleKey(data);
		this.options.requestRender();
	}

	invalidate(): void {
		this.#drawn = null;
	}

	#handleKey(data: string): void {
		const items = itemsOf(this.#files ?? []);
		const clicked = clickedRow(data);
		if (clicked !== null) this.#select(clicked, items);
		if (isOfMouse(data)) {
			this.#scroll(wheelRows(data));
			return;
		}
		const action = this.style.keymap.actionOf(data, this.#actions);
		if (!action) return;
		this.#note = null;
		this.#actions[action]?.(items);
	}

	readonly #actions: Partial<Record<KeyAction, (items: readonly Item[]) => void>> = {
		"dialog.cancel": () => {
			const close = () => this.options.onClose(this.#comments);
			if (this.#pending) this.#pending.then(close);
			else close();
		},
		"dialog.up": (items) => this.#select(this.#selected - 1, items),
		"dialog.down": (items) => this.#select(this.#selected + 1, items),
		"dialog.top": (items) => this.#select(0, items),
		"dialog.bottom": (items) => this.#select(items.length - 1, items),
		"dialog.pageUp": () => this.#scroll(-this.#pageRows),
		"dialog.pageDown": () => this.#scroll(this.#pageRows),
		"diffPanel.scope": () => {
			this.#scope = this.#scope === "session" ? "turn" : "session";
			this.#read();
		},
		"diffPanel.keep": (items) => this.#decide(items[this.#selected], "keep"),
		"diffPanel.revert": (items) => this.#decide(items[this.#selected], "revert"),
		"diffPanel.takeBack": () =>
			this.#carryOut(
				() => this.options.review.takeBack(),
				() => "took it back",
			),
		"diffPanel.comment": (items) => this.#comment(items[this.#selected]),
	};

	#keys(item: Item | undefined): KeyHint[] {
		const other = this.#scope === "session" ? "last prompt" : "session";
		const close = this.#comments.length === 0 ? "close" : "close and write the prompt";
		if (!item)
			return [hint("take back", "diffPanel.takeBack"), hint(other, "diffPanel.scope"), hint(close, "dialog.cancel")];
		return [
			hint("change", ...UP_DOWN),
			hint("scroll", "dialog.pageDown"),
			hint(item.hunk ? "keep" : "keep the file", "diffPanel.keep"),
			hint(item.hunk ? "revert" : "revert the file", "diffPanel.revert"),
			hint("take back", "diffPanel.takeBack"),
			hint("comment", "diffPanel.comment"),
			hint(other, "diffPanel.scope"),
			hint(close, "dialog.cancel"),
		];
	}

	#emptyLines(width: number): string[] {
		const unknown = this.#unknownCommands;
		const lines = [
			this.#files === null ? "reading the files…" : "Nothing is left to review.",
			...(unknown === null ? [] : [`Changes of shell commands are unknown: ${cleanLine(unknown)}`]),
		];
		return wrapLines(lines, width - 2).map((line) => this.style.theme.dim(clipLine(` ${line}`, width)));
	}

	/** The visible lines of all items. */
	#window(items: readonly Item[], width: number): string[] {
		if (this.#drawn?.width !== width) {
			this.#drawn = { width, lines: items.map((item) => this.#drawItem(item, width - 2)) };
		}
		const { lines: drawn } = this.#drawn;
		const starts: number[] = [];
		let total = 0;
		for (const { length } of drawn) {
			starts.push(total);
			total += length;
		}
		const rows = this.#rows;
		const [start = 0, length = 0] = [starts[this.#selected], drawn[this.#selected]?.length];
		if (this.#follows) {
			if (start < this.#top || length >= rows) this.#top = start;
			else if (start + length > this.#top + rows) this.#top = start + length - rows;
			// The file of the first visible change is named if there is room.
			if (items[this.#selected]?.hunk && start === this.#top && this.#top > 0 && length < rows) this.#top--;
		}
		this.#top = Math.max(0, Math.min(this.#top, total - rows));
		if (!this.#follows && (start >= this.#top + rows || start + length <= this.#top)) {
			// What the keys decide on is always visible.
			const first = starts.findIndex((from, at) => from + (drawn[at]?.length ?? 0) > this.#top);
			this.#selected = Math.max(0, first);
		}
		const { theme } = this.style;
		const shown = drawn.flatMap((lines, at) =>
			lines.map((line) => {
				const row = clipLine((at === this.#selected ? theme.accent("▌") : " ") + line, width);
				return clickable(row, at, this.style);
			}),
		);
		return shown.slice(this.#top, this.#top + rows);
	}

	#drawItem({ file, hunk }: Item, width: number): string[] {
		const { theme } = this.style;
		const comments = this.#comments
			.filter((comment) => comment.file.path === file.path && isSameChange(comment.hunk, hunk))
			.flatMap(({ text }) => wrapLines([`» ${cleanLine(text)}`], width - 2))
			.map((line) => theme.accent(`  ${line}`));
		if (hunk === null) {
			const path = cleanLine(displayPath(file.path, this.options.paths));
			const facts = describeChange(file).map((fact) => cleanLine(fact));
			const title = wrapLines([`${theme.bold(path)}  ${theme.dim(facts.join(" · "))}`], width);
			const problem = file.problem === null ? [] : wrapLines([`cannot be reverted: ${cleanLine(file.problem)}`], width);
			return [...title, ...problem.map((line) => theme.warning(line)), ...comments].map((line) => ` ${line}`);
		}
		const lines = hunk.lines.map((line) => ({ ...line, number: String(line.number) }));
		const room = { width: width - 1, lines: lines.length, rows: Number.POSITIVE_INFINITY };
		const colors = { theme, words: wordDiff(), language: languageOf(file.path) };
		return [...drawDiff(lines, room, colors), ...comments, ""].map((line) => ` ${line}`);
	}

	get #rows(): number {
		return Math.max(MIN_ROWS, (this.style.rows?.() ?? 30) - OTHER_ROWS);
	}

	#select(index: number, items: readonly Item[]): void {
		this.#selected = Math.max(0, Math.min(index, items.length - 1));
		this.#follows = true;
	}

	get #pageRows(): number {
		return Math.max(1, this.#rows - 2);
	}

	#scroll(rows: number): void {
		this.#top += rows;
		if (rows !== 0) this.#follows = false;
	}

	#read(): void {
		this.#files = null;
		this.#selected = 0;
		this.#top = 0;
		const scope = this.#scope;
		this.options.review.read(scope).then(
			({ files, unknownCommands }) => {
				if (scope !== this.#scope) return;
				this.#unknownCommands = unknownCommands;
				this.#show(files);
			},
			(error: unknown) => this.#fail(error),
		);
	}

	#show(files: readonly ReviewedFile[]): void {
		this.#files = files;
		this.#select(this.#selected, itemsOf(files));
		this.#redraw();
	}

	#redraw(): void {
		this.#drawn = null;
		this.options.requestRender();
	}

	#fail(error: unknown): void {
		this.#files ??= [];
		this.#note = { text: errorText(error), isProblem: true };
		this.#redraw();
	}

	#decide(item: Item | undefined, decision: ReviewDecision): void {
		if (!item) return;
		const { file, hunk } = item;
		const what = hunk === null ? "the file" : describeHunk(hunk);
		const done = decision === "keep" ? "kept" : "reverted";
		this.#carryOut(
			() => this.options.review.decide(file, decision, hunk ?? undefined),
			() => `${done} ${what} of ${displayPath(file.path, this.options.paths)}`.replace("the file of ", ""),
		);
	}

	/** Shows the outcome of a decision. Another one that comes before it is ignored. */
	#carryOut(start: () => Promise<ReviewOutcome | null>, describe: () => string): void {
		if (this.#pending) return;
		this.#pending = start()
			.then(
				(result) => {
					if (result === null) this.#note = { text: "There is nothing to take back", isProblem: false };
					else if ("problem" in result)
						this.#note = { text: `Nothing was changed: ${result.problem}`, isProblem: true };
					else {
						this.#note = { text: describe(), isProblem: false };
						this.#replace(result.path, result.file);
					}
				},
				(error: unknown) => this.#fail(error),
			)
			.finally(() => {
				this.#pending = null;
				this.#redraw();
			});
	}

	#replace(path: string, file: ReviewedFile | null): void {
		const files = this.#files ?? [];
		const at = files.findIndex((one) => one.path === path);
		if (at < 0) this.#read();
		else this.#show(files.toSpliced(at, 1, ...(file === null ? [] : [file])));
	}

	#comment(item: Item | undefined): void {
		if (!item) return;
		const { file, hunk } = item;
		const where = displayPath(file.path, this.options.paths) + (hunk === null ? "" : `, ${describeHunk(hunk)}`);
		this.#input = new InputDialog(this.style, { title: `Comment on ${where}` }, (text) => {
			this.#input = null;
			if (text?.trim()) this.#comments.push({ file, hunk, text: text.trim() });
			this.#redraw();
		});
		this.#input.focused = true;
	}
}

function itemsOf(files: readonly ReviewedFile[]): Item[] {
	return files.flatMap((file) => [{ file, hunk: null }, ...file.hunks.map((hunk) => ({ file, hunk }))]);
}

/** Whether hunks change the same lines. A file is read again after each decision. */
function isSameChange(a: Hunk | null, b: Hunk | null): boolean {
	if (a === null || b === null) return a === b;
	const changes = ({ lines }: Hunk) =>
		lines.filter(({ kind }) => kind !== "context").map(({ kind, text }) => kind + text);
	return changes(a).join("\n") === changes(b).join("\n");
}

function countLines(files: readonly ReviewedFile[], kind: "added" | "removed"): number {
	const lines = files.flatMap(({ hunks }) => hunks).flatMap((hunk) => hunk.lines);
	return lines.filter((line) => line.kind === kind).length;
}
