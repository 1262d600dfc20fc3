import { cleanLine, cleanLines, styled, wrapLines } from "../lines.js";
import { View, type ViewStyle } from "./view.js";

/** How much a notice wants to be seen. */
export type NoticeLevel = "info" | "warning" | "error";

const SIGNS: Record<NoticeLevel, string> = { info: "·", warning: "!", error: "✗" };

/** A line for the user from a hook, a command or the program. */
export class NoticeView extends View {
	constructor(
		style: ViewStyle,
		private readonly level: NoticeLevel,
		private readonly message: string,
	) {
		super(style);
	}

	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const style = { info: theme.muted, warning: theme.warning, error: theme.error }[this.level];
		const lines = cleanLines(this.message.trim()).filter((line, row) => row < 40 && line.trim() !== "");
		const wrapped = wrapLines(lines, Math.max(1, width - 2));
		return styled(
			wrapped.map((line, row) => (row === 0 ? `${SIGNS[this.level]} ${line}` : `  ${line}`)),
			style,
		);
	}
}

/** A title and lines that a command shows, such as `/session` or `/hotkeys`. */
export class PageView extends View {
	constructor(
		style: ViewStyle,
		private readonly title: string,
		private readonly lines: readonly string[],
	) {
		super(style);
	}

	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const body = this.lines.flatMap((line) => cleanLines(line));
		return [...styled(wrapLines([cleanLine(this.title)], width), theme.bold), ...wrapLines(body, width)];
	}
}
