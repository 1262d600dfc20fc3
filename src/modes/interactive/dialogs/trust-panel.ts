import { type Component, visibleWidth } from "@mariozechner/pi-tui";
import type { TrustAnswer } from "../../../trust/gate.js";
import type { ProjectFile, ProjectSet } from "../../../trust/store.js";
import type { GuardOptions } from "../../../tui/answer-guard.js";
import { type DialogStyle, hint, UP_DOWN } from "../../../tui/dialog-style.js";
import { column } from "../../../tui/line.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import { ScrollText } from "../../../tui/scroll.js";
import { type CodeChange, type CodeLine, codeLines, compareWithTrusted, isPlainFile } from "../../code-lines.js";
import { cleanLine, clipLine, spread, wrapLines } from "../lines.js";
import { LetterQuestion } from "./letter-question.js";
import { createCodePager, type Pager } from "./pager.js";
import { choiceLines } from "./panel-lines.js";

/** The question of a `TrustPanel`. */
export interface TrustQuestion {
	set: ProjectSet;
	/** Changes of the files whose trusted text is known, by `rel`. */
	changes: ReadonlyMap<string, CodeChange>;
	/** ms since the epoch. */
	now: number;
	guard?: GuardOptions;
}

const CHOICES = [
	hint("trust these contents", "question.yes"),
	hint("this run only", "question.once"),
	hint("show code and changes", "question.code"),
	hint("no", "question.no"),
];
/** Rows of question, keys, and the rows that the screen keeps below. */
const OTHER_ROWS = 10;
const MIN_ROWS = 3;
/** Longer than any path, so that none is truncated. */
const MAX_PATH = 10_000;

/** Asks whether the project's code may run. Only the listed keys answer; canceling means no. */
export class TrustPanel extends LetterQuestion implements Component {
	#pager: Pager | null = null;
	#page = MIN_ROWS;
	readonly #scroll = new ScrollText(() => this.#page);

	constructor(
		private readonly style: DialogStyle,
		private readonly question: TrustQuestion,
		private readonly onAnswer: (answer: TrustAnswer) => void,
	) {
		const answers = {
			"question.yes": () => onAnswer("trust"),
			"question.once": () => onAnswer("once"),
			"question.code": () => this.#showCode(),
			"question.no": () => onAnswer("no"),
		};
		super(style.keymap, answers, question.guard ?? {});
	}

	render(width: number): string[] {
		this.drew(this.#pager === null);
		if (this.#pager) return this.#pager.render(width);
		const { theme, keymap } = this.style;
		const rows = this.#rows(width);
		const choices = choiceLines(CHOICES, this.style, width);
		this.#page = Math.max(MIN_ROWS, (this.style.rows?.() ?? 30) - OTHER_ROWS - choices.length);
		const { from, to } = this.#scroll.window(rows.length);
		const shown = rows.slice(from, to);
		const isCut = shown.length < rows.length;
		const keys = keymap.keyOf(...UP_DOWN, "dialog.pageDown");
		const position = `${from + 1}–${to} of ${rows.length} · ${keys} `;
		return [
			theme.dim("─".repeat(width)),
			...this.#sentence(titleOf(this.question.set), width),
			...shown,
			...(isCut ? [spread("", theme.warning(clipLine(position, width)), width)] : []),
			...this.#sentence("It can do anything you can. Run it?", width),
			...choices,
		];
	}

	handleInput(data: string): void {
		if (this.#pager) {
			this.#pager.handleInput(data);
			return;
		}
		const { keymap } = this.style;
		if (this.answer(data)) return;
		if (keymap.matches(data, "dialog.cancel")) this.onAnswer("no");
		else this.#scroll.handle(data, keymap);
	}

	invalidate(): void {
		this.#pager?.invalidate();
	}

	#showCode(): void {
		const title = this.question.set.package ? "Package code that would run" : "Project code that would run";
		this.#pager = createCodePager(this.style, title, this.#code(), () => {
			this.#pager = null;
		});
	}

	/** @returns new and changed code; all code when nothing has changed */
	#code(): CodeLine[] {
		const { set, changes } = this.question;
		const fresh = set.files.filter(({ state }) => state !== "trusted");
		return (fresh.length > 0 ? fresh : set.files).flatMap((file): CodeLine[] => {
			const change = changes.get(file.rel);
			const title = `${nameOf(file, set)}   ${this.#state(file)}${change ? `   ${counts(change)}` : ""}`;
			const heading: CodeLine = { kind: "heading", mark: "", text: title };
			return [heading, ...(change ? change.lines : codeLines(file.bytes.toString("utf8")))];
		});
	}

	#rows(width: number): string[] {
		const { theme } = this.style;
		const { set, changes } = this.question;
		// Files that need attention come first.
		const files = [...set.files].sort((a, b) => Number(a.state === "trusted") - Number(b.state === "trusted"));
		const cells = files.map((file) => {
			const change = changes.get(file.rel);
			const size = formatSize(file.size).padStart(8);
			const state = `${this.#state(file)}${change ? `   ${counts(change)}` : ""}`;
			return { file, name: nameOf(file, set), details: `${size}   ${file.sha256.slice(0, 12)}   ${state}` };
		});
		// A long path takes two lines and does not widen the column of the others.
		const detailsWidth = Math.max(0, ...cells.map(({ details }) => visibleWidth(details)));
		const names = cells.map(({ name }) => visibleWidth(name)).filter((name) => name + detailsWidth + 6 <= width);
		const nameWidth = Math.max(0, ...names);
		const rows = cells.flatMap(({ file, name, details }) => {
			const style = file.state === "trusted" ? theme.dim : (text: string) => text;
			if (visibleWidth(name) <= nameWidth) return [style(`   ${column(name, nameWidth)}  ${details}`)];
			const indent = (lines: string[], by: number) => lines.map((line) => style(" ".repeat(by) + line));
			return [
				...indent(wrapLines([name], width - 3), 3),
				...indent(wrapLines([details.trim()], Math.max(1, width - 5)), 5),
			];
		});
		const about = wrapLines(set.package?.notes.map((note) => cleanLine(note, MAX_PATH)) ?? [], width - 3);
		const unresolved = set.unresolved.map(
			({ from, specifier, reason }) =>
				`${cleanLine(from, MAX_PATH)} also loads ${cleanLine(specifier, MAX_PATH)}: ${reason}`,
		);
		const notes = wrapLines(unresolved, width - 3).map((line) => theme.warning(`   ${line}`));
		return [...about.map((line) => `   ${line}`), ...rows, ...notes];
	}

	#sentence(text: string, width: number): string[] {
		return wrapLines([text], width - 1).map((line) => ` ${this.style.theme.bold(line)}`);
	}

	#state({ state }: ProjectFile): string {
		const { set, now } = this.question;
		if (state === "changed") return `changed since ${set.trustedAt ? shortDate(set.trustedAt, now) : "it was trusted"}`;
		return state;
	}
}

function titleOf(set: ProjectSet): string {
	const { name } = set.package ?? {};
	return name === undefined
		? "This project has code that pi would run:"
		: `The package ${cleanLine(name, MAX_PATH)} has code that pi would run:`;
}

/** @returns a file's path, and its target if it is a link */
function nameOf({ title, rel, realPath }: ProjectFile, set: ProjectSet): string {
	const isPlain = isPlainFile({ rel, realPath }, set);
	const name = cleanLine(title ?? rel, MAX_PATH);
	return isPlain ? name : `${name} → ${cleanLine(realPath, MAX_PATH)}`;
}

function formatSize(bytes: number): string {
	if (bytes < 100) return `${bytes} B`;
	if (bytes < 1000 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
	return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function counts({ added, removed }: CodeChange): string {
	return `+${added} −${removed}`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** @returns day and month, and the year unless it is the current one */
function shortDate(iso: string, now: number): string {
	const date = new Date(iso);
	if (Number.isNaN(date.getTime())) return cleanLine(iso, 30);
	const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
	return date.getFullYear() === new Date(now).getFullYear() ? day : `${day} ${date.getFullYear()}`;
}

/** Opens a `TrustPanel` instead of the editor. @param state overrides the clock, and says how the question opens */
export async function askTrust(
	set: ProjectSet,
	overlays: Pick<OverlayStack, "open">,
	style: DialogStyle,
	state: Partial<Pick<TrustQuestion, "now" | "guard">> = {},
): Promise<TrustAnswer> {
	const changes = new Map<string, CodeChange>();
	for (const file of set.files) {
		const change = await compareWithTrusted(file);
		if (change) changes.set(file.rel, change);
	}
	return overlays.open<TrustAnswer>(
		(settle) => new TrustPanel(style, { set, changes, now: Date.now(), ...state }, settle),
		{ canceled: "no" },
	);
}
