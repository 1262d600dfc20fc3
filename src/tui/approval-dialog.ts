import {
	type Component,
	CURSOR_MARKER,
	type Focusable,
	Input,
	isKeyRepeat,
	visibleWidth,
	wrapTextWithAnsi,
} from "@mariozechner/pi-tui";
import {
	type Approval,
	type ApprovalAlternative,
	type ApprovalAnswer,
	type ApprovalDetails,
	type ApprovalOption,
	approvalOptions,
	NO_WITH_MESSAGE,
} from "../util/approval.js";
import { AnswerGuard, type GuardOptions } from "./answer-guard.js";
import { clickable, clickedRow, isOfMouse } from "./clicks.js";
import { type DialogStyle, fitsTitle, hint, keyLines, questionRows, RowBudget, titleLines } from "./dialog-style.js";
import type { KeyAction } from "./key-table.js";
import { typedText } from "./keymap.js";
import { clipLine, oneLine, spread } from "./line.js";
import { visibleControls } from "./safe-line.js";
import { ScrollText } from "./scroll.js";
import { subjectRows } from "./subject-rows.js";

/** What of the question is on the screen. */
interface Drawn {
	width: number;
	/** Empty if the title is too long: it is then scrolled with the subject. */
	title: string[];
	lines: string[];
	/** Which of the lines have been on the screen. */
	seen: Set<number>;
}

/** A message that was meant as an answer. */
const ANSWER = /^(?:y|yes|\d)$/i;
/** The rows of the subject that are shown before any answer but the selected one, and the most rows of an answer. */
const [FEW, MAX_LABEL_ROWS] = [3, 3];

/**
 * Asks whether something may run. At first the answer that refuses is selected. Answers that allow count only once all of the
 * question has been on the screen, and only for keys that `AnswerGuard` lets through; text becomes the message of a refusal.
 */
export class ApprovalDialog implements Component, Focusable {
	readonly #guard: AnswerGuard;
	readonly #rows: readonly ApprovalOption[];
	readonly #scroll = new ScrollText(() => this.#page);
	readonly #message = new Input();
	/** The editor of the rule of the selected choice; null while the list is shown. */
	#rule: { input: Input; problem: string | null } | null = null;
	#isWriting = false;
	#selected = 0;
	#page = FEW;
	#drawn: Drawn | null = null;
	#isRead = false;
	#isFocused = false;

	constructor(
		private readonly style: DialogStyle,
		private readonly approval: Approval,
		private readonly onAnswer: (answer: ApprovalAnswer) => void,
		guard: GuardOptions = {},
		private readonly details?: ApprovalDetails,
	) {
		this.#guard = new AnswerGuard(guard, (text) => this.#type(text));
		// The keys of a walk back through the history stay on the first answer.
		this.#rows = approvalOptions(approval, details).sort((a, b) => Number(b.kind === "no") - Number(a.kind === "no"));
	}

	get focused(): boolean {
		return this.#isFocused;
	}

	set focused(isFocused: boolean) {
		if (this.#isFocused && !isFocused) {
			this.#guard.hide();
			// Whoever comes back to the question must choose again.
			this.#rule = null;
			if (!this.#isWriting) this.#selected = 0;
		}
		this.#isFocused = isFocused;
	}

	render(width: number): string[] {
		const { theme } = this.style;
		const drawn = this.#layOut(width);
		const budget = new RowBudget(this.style);
		const answers = this.#rule
			? [this.#ruleLines(this.#rule, width)]
			: this.#rows.map((_, at) => this.#rowLines(at, width).map((line) => clickable(line, at, this.style)));
		const current = this.#rule ? 0 : this.#selected;
		const needed = budget.take(answers[current]?.length ?? 0);
		const few = budget.take(Math.min(FEW, drawn.lines.length));
		const title = budget.takeLines(drawn.title);
		const shown = this.#window(answers, current, needed, budget);
		const keys = budget.takeLines(this.#keyLines(width));
		const rule = budget.takeLines([theme.dim("─".repeat(width))]);
		const isCut = drawn.lines.length > few;
		const position = isCut ? budget.take(1) : 0;
		const most = Math.max(few, Math.floor((this.style.rows?.() ?? 30) / 2));
		this.#page = few + budget.take(Math.min(most, drawn.lines.length) - few);
		const lines = this.#subjectLines(drawn, position > 0 ? width : 0);
		const isTitleShown = title.length === drawn.title.length;
		this.#note(drawn, isTitleShown, shown, needed === (answers[current]?.length ?? 0));
		const isReadable = this.#isRead || (isTitleShown && this.#page > 0);
		if (!isReadable && this.#rows[current]?.answer.allowed) answers[current] = [theme.warning(" enlarge the window")];
		answers[current] = answers[current]?.slice(0, needed) ?? [];
		return [...rule, ...title, ...lines, ...shown.flatMap((at) => answers[at] ?? []), ...keys].map((line) =>
			clipLine(line, width),
		);
	}

	handleInput(data: string): void {
		const { keymap } = this.style;
		const row = this.#rows[this.#selected];
		const typed = typedText(data);
		const isText = data.startsWith("\x1b[200~") || [...typed].length > 1;
		const letter = this.#isEditing ? -1 : this.#rows.findIndex((_, at) => this.#isKeyOf(data, at));
		const clicked = clickedRow(data);
		if (clicked !== null) this.#click(clicked);
		else if (isText) this.#guard.receive({ kind: "text", text: typed });
		else if (keymap.matches(data, "dialog.accept"))
			this.#guard.receive({ kind: "enter", text: "\n", row: this.#enterRow, choose: () => row && this.#accept(row) });
		else if (letter >= 0) {
			const chosen = this.#rows[letter];
			const choose = () => chosen && this.#choose(chosen, letter);
			this.#guard.receive({ kind: "letter", text: typed, row: rowName(letter), choose });
		} else if (typed !== "") this.#guard.receive({ kind: "text", text: typed });
		else {
			const by = this.#directionOf(data);
			// No wrapping: whoever scrolls far ends at an answer that runs nothing.
			const to = Math.max(0, Math.min(this.#selected + by, this.#rows.length - 1));
			const isIgnored = this.#guard.receive(
				by === 0 ? { kind: "other" } : { kind: "move", changes: to !== this.#selected },
			);
			if (by === 0) this.#control(data);
			else if (!isIgnored) this.#select(to);
		}
	}

	invalidate(): void {
		this.#drawn = null;
		this.#message.invalidate();
	}

	get #isEditing(): boolean {
		return this.#rule !== null || this.#isWriting;
	}

	/** What must be on the screen for Enter. */
	get #enterRow(): string {
		return this.#rule ? `rule ${this.#selected}` : rowName(this.#selected);
	}

	#isKeyOf(data: string, at: number): boolean {
		const row = this.#rows[at];
		// A key may be held down since before the question.
		if (row === undefined || isKeyRepeat(data)) return false;
		if (row.key) return this.style.keymap.matches(data, `question.${row.key}`);
		return row.kind === "choice" && at <= 10 && typedText(data) === `${at - 1}`;
	}

	/** 1 for a key that selects the next answer, -1 for one that selects the answer before, 0 for all others. */
	#directionOf(data: string): number {
		if (this.#rule || isOfMouse(data)) return 0;
		const inLine = { "answer.yes": 1, "answer.no": -1, "answer.other": this.#selected > 0 ? -1 : 1 };
		const directions: Partial<Record<KeyAction, number>> = {
			"dialog.up": -1,
			"dialog.down": 1,
			...(this.#isWriting ? {} : inLine),
		};
		const action = this.style.keymap.actionOf(data, directions);
		return (action && directions[action]) ?? 0;
	}

	/** A key that types nothing and answers nothing, but for Escape. */
	#control(data: string): void {
		const { keymap } = this.style;
		const editor = this.#rule?.input ?? (this.#isWriting ? this.#message : null);
		if (isOfMouse(data)) this.#scroll.handle(data, keymap);
		else if (keymap.matches(data, "dialog.cancel")) this.#cancel();
		else if (keymap.matches(data, "dialog.pageUp") || keymap.matches(data, "dialog.pageDown") || !editor)
			this.#scroll.handle(data, keymap);
		else {
			editor.handleInput(data);
			if (this.#rule) this.#rule.problem = null;
		}
	}

	/** A click counts as Enter on the row. */
	#click(at: number): void {
		const row = this.#rows[at];
		if (!row) return;
		const choose = () => {
			this.#selected = at;
			if (row.kind === "message") this.#isWriting = true;
			else this.#choose(row, at);
		};
		this.#guard.receive({ kind: "enter", text: "", row: rowName(at), choose });
	}

	#cancel(): void {
		if (this.#rule) this.#rule = null;
		else if (this.#isWriting) {
			this.#isWriting = false;
			this.#message.setValue("");
			this.#selected = 0;
		} else this.onAnswer({ allowed: false, isClosed: true });
	}

	#select(at: number): void {
		this.#selected = at;
		this.#isWriting = this.#rows[this.#selected]?.kind === "message" && this.#message.getValue() !== "";
	}

	/** @returns whether there is a place for the text */
	#type(text: string): boolean {
		if (this.#rule) {
			this.#rule.problem = null;
			insert(this.#rule.input, text);
			return true;
		}
		// An Enter alone, such as one that came with text for another question, begins no message.
		if (!this.#isWriting && text.trim() === "") return true;
		const at = this.#rows.findIndex(({ kind }) => kind === "message");
		if (at < 0) return false;
		this.#selected = at;
		this.#isWriting = true;
		insert(this.#message, text);
		return true;
	}

	/** Enter. */
	#accept(row: ApprovalOption): void {
		if (this.#rule) this.#acceptRule(this.#rule, row);
		else this.#choose(row, this.#selected);
	}

	#choose({ kind, answer }: ApprovalOption, at: number): void {
		if (kind === "no") this.onAnswer(answer);
		else if (kind === "details") void this.details?.show();
		else if (kind === "message") this.#sendMessage();
		else if (!this.#isRead) {
			// The first part that has not been on the screen.
			const { lines = [], seen } = this.#drawn ?? {};
			this.#scroll.show(lines.findIndex((_, at) => !seen?.has(at)));
		} else if (!answer.allowed || answer.rule === undefined) this.onAnswer(answer);
		else {
			this.#selected = at;
			this.#isWriting = false;
			this.#rule = { input: new Input(), problem: null };
			insert(this.#rule.input, visibleControls(answer.rule));
		}
	}

	#sendMessage(): void {
		const message = this.#message.getValue().trim();
		if (ANSWER.test(message)) this.#cancel();
		else if (message === "") this.#isWriting = true;
		else this.onAnswer({ allowed: false, message });
	}

	#acceptRule(editing: { input: Input; problem: string | null }, { answer }: ApprovalOption): void {
		const rule = editing.input.getValue().trim();
		if (rule === "") editing.problem = "a rule must not be empty";
		else {
			try {
				editing.problem = this.#alternative?.check?.(rule) ?? null;
			} catch (error) {
				editing.problem = `the rule cannot be checked: ${String(error)}`;
			}
		}
		if (editing.problem === null && answer.allowed) this.onAnswer({ ...answer, rule });
	}

	/** The selected choice. */
	get #alternative(): ApprovalAlternative | undefined {
		const { answer } = this.#rows[this.#selected] ?? {};
		return answer?.allowed ? this.approval.choices?.[answer.choice] : undefined;
	}

	#layOut(width: number): Drawn {
		if (this.#drawn?.width === width) return this.#drawn;
		const { question, subject } = this.approval;
		const isShort = fitsTitle(question, width);
		const title = isShort ? titleLines(question, this.style, width) : [];
		const rows = subjectRows(subject, this.style.theme, width - 2);
		const lines = isShort
			? rows
			: [...questionRows(question, width - 2).map((line) => this.style.theme.bold(line)), ...rows];
		this.#drawn = { width, title, lines, seen: new Set() };
		return this.#drawn;
	}

	/** Notes what a frame shows. */
	#note({ lines, seen }: Drawn, isTitleShown: boolean, shown: readonly number[], isCurrentShown: boolean): void {
		const { from, to } = this.#scroll.window(lines.length);
		if (isTitleShown) for (let at = from; at < Math.min(to, from + this.#page); at++) seen.add(at);
		this.#isRead ||= isTitleShown && seen.size >= lines.length;
		if (this.#rule) this.#guard.drew(isCurrentShown ? [this.#enterRow] : []);
		else this.#guard.drew(shown.filter((at) => at !== this.#selected || isCurrentShown).map(rowName));
	}

	/** @param width of the line with the position; 0 without it */
	#subjectLines({ lines }: Drawn, width: number): string[] {
		if (this.#page === 0) return [];
		const { theme, keymap } = this.style;
		const { from, to } = this.#scroll.window(lines.length);
		const shown = lines.slice(from, to).map((line) => ` ${line}`);
		if (width === 0 || to - from === lines.length) return shown;
		const keys = keymap.keyOf("dialog.pageUp", "dialog.pageDown");
		const range = `${from + 1}–${to} of ${lines.length} · ${keys} `;
		const position = visibleWidth(` lines ${range}`) <= width ? `lines ${range}` : range;
		return [...shown, spread("", theme.warning(clipLine(position, width)), width)];
	}

	/** The answers around the current one for which there are rows, in order. */
	#window(answers: readonly string[][], current: number, needed: number, budget: RowBudget): number[] {
		const shown = needed > 0 ? [current] : [];
		for (let by = 1; by < answers.length; by++) {
			for (const at of [current - by, current + by]) {
				const size = answers[at]?.length ?? 0;
				if (size > 0 && shown.some((other) => Math.abs(other - at) === 1) && budget.takeAll(size)) shown.push(at);
			}
		}
		return shown.sort((a, b) => a - b);
	}

	#rowLines(at: number, width: number): string[] {
		const { theme } = this.style;
		const row = this.#rows[at];
		if (!row) return [];
		const isSelected = at === this.#selected;
		if (row.kind === "message" && this.#isWriting && isSelected)
			return [`${theme.accent(" → ")}${theme.bold(`${NO_WITH_MESSAGE}:`)}`, this.#inputLine(this.#message, width)];
		const key = this.#keyNameOf(row, at);
		const keys = Math.max(...this.#rows.map((other, index) => visibleWidth(this.#keyNameOf(other, index))));
		const indent = keys === 0 ? 0 : keys + 2;
		const label = row.kind === "message" ? `${row.label}: …` : row.label;
		const all = wrapTextWithAnsi(oneLine(label), Math.max(1, width - 5 - indent));
		const lines = all.slice(0, MAX_LABEL_ROWS);
		if (lines.length < all.length) lines.push(`${lines.pop()?.trimEnd() ?? ""}…`);
		return lines.map((line, index) => {
			const label = isSelected ? theme.bold(line) : line;
			if (index > 0) return `${" ".repeat(3 + indent)}${label}`;
			return `${isSelected ? theme.accent(" → ") : "   "}${theme.dim(key)}${" ".repeat(indent - key.length)}${label}`;
		});
	}

	/** The key that chooses a row; empty without one. The choices come after two rows, and are counted from 1. */
	#keyNameOf({ kind, key }: ApprovalOption, at: number): string {
		if (key) return this.style.keymap.keyOf(`question.${key}`);
		return kind === "choice" && at <= 10 ? `${at - 1}` : "";
	}

	#ruleLines({ input, problem }: { input: Input; problem: string | null }, width: number): string[] {
		const { theme } = this.style;
		return [
			...wrapTextWithAnsi(oneLine(`${this.#alternative?.label}:`), Math.max(1, width - 4)).map(
				(line) => ` ${theme.bold(line)}`,
			),
			this.#inputLine(input, width),
			...(problem === null ? [] : questionRows(problem, width - 2).map((line) => ` ${theme.warning(line)}`)),
		];
	}

	#inputLine(input: Input, width: number): string {
		input.focused = this.#isFocused;
		const [line = ""] = input.render(Math.max(1, width - 1));
		const text = visibleWidth(line) < width ? ` ${line}` : line;
		return this.#isFocused ? text : text.replaceAll(CURSOR_MARKER, "");
	}

	#keyLines(width: number): string[] {
		const { keymap, theme } = this.style;
		const isTooSoon = this.#guard.isIgnored || ANSWER.test(this.#message.getValue().trim());
		const note = isTooSoon ? wrapTextWithAnsi("keys count after a pause", Math.max(1, width - 2)) : [];
		const no = keymap.keyOf("dialog.cancel") === "" ? [] : [hint("no", "dialog.cancel")];
		const keys = this.#isEditing
			? [hint(this.#rule ? "accept the rule" : "send", "dialog.accept"), hint("back", "dialog.cancel")]
			: [hint("choose", "dialog.up", "dialog.down"), hint("", "dialog.accept"), ...no];
		return [...note.map((line) => ` ${theme.warning(line)}`), ...keyLines(keys, this.style, width)];
	}
}

/** `row` of `AnswerGuard` for an answer with this index. */
function rowName(at: number): string {
	return `row ${at}`;
}

/** Inserts text at the cursor, line ends and tabs as blanks. Pasting takes any number of characters at once. */
function insert(input: Input, text: string): void {
	input.handleInput(`\x1b[200~${text.replace(/[\r\n\t]+/g, " ")}\x1b[201~`);
}
