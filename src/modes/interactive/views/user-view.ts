import { basename } from "node:path";
import type { UserMessage } from "@mariozechner/pi-ai";
import { visibleWidth } from "@mariozechner/pi-tui";
import { messageText, type TextRange } from "../../../log/entry.js";
import { readSkillPrompt, withoutSkill } from "../../../log/prompt-text.js";
import { clipLine } from "../../../tui/line.js";
import { ERASE_REST } from "../../../tui/safe-line.js";
import { plural } from "../../format.js";
import { IMAGE_MENTION } from "../../mentioned-images.js";
import { cleanLine, cleanLines, styled, wrapLines } from "../clean-text.js";
import { transcriptKey } from "../transcript-hint.js";
import { ImageLines, type NamedImage } from "./image-lines.js";
import { more } from "./tools/command-output.js";
import { View, type ViewStyle } from "./view.js";

/** Identifies prompts at a glance, also without colors. */
const MARK = "› ";
/** Lines of an attached file. */
const MAX_FILE_LINES = 24;
/** Rows of a folded paste, and the most characters that they can need. */
const MAX_PASTED_ROWS = 6;
const MAX_PASTED_LENGTH = 4000;
const ATTACHED_FILE = /(<file name="[^"]*">\n[\s\S]*?\n<\/file>)/;
/** Placeholders of images in the text: a file from the command line, a pasted image, a name after `@`. */
const IMAGE_IN_TEXT = new RegExp(
	String.raw`<file name="([^"]*)">\(image\)</file>|\[image (#\d+)\]|${IMAGE_MENTION}`,
	"gi",
);

/** A line of the prompt, or of a note about it, which is not on the theme's band. */
interface PromptLine {
	text: string;
	isNote: boolean;
}

/**
 * A prompt of the user and its images. What the user wrote is complete; attached files and long pastes are cut, and the text of
 * a skill is one row, unless everything is expanded.
 */
export class UserView extends View {
	readonly #images: ImageLines;

	constructor(
		style: ViewStyle,
		private readonly message: UserMessage,
		/** What hooks changed in the prompt. */
		private readonly change: { by: string; typed: string } | null = null,
		/** Parts of the text that the user pasted, in order. */
		private readonly pasted: readonly TextRange[] = [],
	) {
		super(style);
		this.#images = new ImageLines(style, imagesOf(message));
	}

	override get whole(): boolean {
		return this.#images.isDrawn;
	}

	/** Whether the expanded prompt shows more. */
	get folds(): boolean {
		return this.pasted.length > 0 || readSkillPrompt(messageText(this.message).trim()) !== null;
	}

	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const text = messageText(this.message).trim();
		const lines = this.#isFolded ? this.#foldedLines(width) : this.#parts(withoutSkill(text), width);
		const indent = " ".repeat(MARK.length);
		const drawn = lines.map((line, row) => {
			// Themes guarantee the contrast of this style on the band, not that of others.
			const start = row === 0 ? `${theme.userText(MARK.trim())} ` : line.text === "" ? "" : indent;
			const shown = clipLine(start + line.text, width);
			return line.isNote ? shown : this.#onBand(shown, width);
		});
		const room = width - MARK.length;
		const notes = [...this.#skill(text, room), ...this.#notes(room)].map((line) => clipLine(indent + line, width));
		return [...drawn, ...notes, ...this.#images.lines(width).map((line) => clipLine(line, width))];
	}

	/** A line on the theme's band, if it has one. */
	#onBand(line: string, width: number): string {
		const { userBand } = this.style.theme;
		if (userBand(" ") === " ") return line;
		// Not filled with spaces, which a selection would contain.
		return userBand(line) + (visibleWidth(line) < width ? userBand(ERASE_REST) : "");
	}

	get #isFolded(): boolean {
		return this.pasted.length > 0 && !this.style.expanded;
	}

	/** What the user wrote, with the first rows of each pasted part. */
	#foldedLines(width: number): PromptLine[] {
		const text = messageText(this.message);
		const lines: PromptLine[] = [];
		let from = 0;
		for (const { start, end } of this.pasted) {
			const before = text.slice(from, start);
			// The words before a paste on its first line stay there.
			const line = before.lastIndexOf("\n") + 1;
			lines.push(...this.#parts(before.slice(0, line).trimStart(), width));
			lines.push(...this.#pastedLines(before.slice(line).trimStart(), text.slice(start, end), width));
			from = end;
		}
		return [...lines, ...this.#parts(text.slice(from).trim(), width)];
	}

	/** The first rows of a pasted text after the words before it, and the number of its lines below. */
	#pastedLines(words: string, pasted: string, width: number): PromptLine[] {
		const room = width - MARK.length;
		const maxRows = MAX_PASTED_ROWS + Math.max(0, wrapLines(cleanLines(words), room).length - 1);
		const start = cleanLines(`${words}${pasted.slice(0, MAX_PASTED_LENGTH)}`);
		const rows: string[] = [];
		let shown = 0;
		for (const line of start) {
			const wrapped = wrapLines([line], room);
			if (rows.length + wrapped.length <= maxRows) shown += 1;
			rows.push(...wrapped.slice(0, maxRows - rows.length));
			if (rows.length >= maxRows) break;
		}
		const hidden = pasted.split("\n").length - shown;
		return [...this.#written(rows), ...(hidden > 0 ? [this.#note(hidden, room)] : [])];
	}

	/** The skill that the model gets with the prompt: its length, expanded also its text. */
	#skill(text: string, width: number): string[] {
		const skill = readSkillPrompt(text);
		if (!skill) return [];
		const { theme, expanded } = this.style;
		const body = cleanLines(skill.body);
		const hint = transcriptKey(this.style);
		const row = `skill ${cleanLine(skill.name)} · ${plural(body.length, "line")}${hint && ` · ${hint}`}`;
		return styled([clipLine(row, width), ...(expanded ? wrapLines(body, width) : [])], theme.dim);
	}

	/** Names the hooks that changed the prompt; expanded also what the user typed. */
	#notes(width: number): string[] {
		if (!this.change) return [];
		const { theme, expanded } = this.style;
		const { by, typed } = this.change;
		const note = expanded ? `${by} · you typed: ${typed}` : by;
		return styled(wrapLines(cleanLines(note), width), theme.dim);
	}

	/** Lines of what the user wrote, with the attached files in it. */
	#parts(text: string, width: number): PromptLine[] {
		return text.split(ATTACHED_FILE).flatMap((part, at) => this.#lines(part, at % 2 === 1, width));
	}

	/** Lines of a part of the prompt, without the mark. */
	#lines(part: string, isFile: boolean, width: number): PromptLine[] {
		const { expanded } = this.style;
		const text = part.replace(/^\n|\n$/g, "");
		const lines = text ? wrapLines(cleanLines(text), width - MARK.length) : [];
		const isWhole = expanded || !isFile || lines.length <= MAX_FILE_LINES + 1;
		if (isWhole) return this.#written(lines);
		const omitted = lines.length - MAX_FILE_LINES;
		return [...this.#written(lines.slice(0, MAX_FILE_LINES)), this.#note(omitted, width - MARK.length)];
	}

	#written(lines: readonly string[]): PromptLine[] {
		return styled(lines, this.style.theme.userText).map((text) => ({ text, isNote: false }));
	}

	#note(hidden: number, width: number): PromptLine {
		return { text: more(hidden, "below", width, this.style), isNote: true };
	}
}

function imagesOf(message: UserMessage): NamedImage[] {
	if (typeof message.content === "string") return [];
	const images = message.content.filter((block) => block.type === "image");
	const found = [...messageText(message).matchAll(IMAGE_IN_TEXT)];
	const names = found.map(([, file, mark, quoted, plain]) => mark ?? basename(file ?? quoted ?? plain ?? ""));
	// A placeholder may be text that the user typed. If the counts differ, names may belong to other images: omit them.
	return images.map((image, at) => ({ image, name: names.length === images.length ? (names[at] ?? "") : "" }));
}
