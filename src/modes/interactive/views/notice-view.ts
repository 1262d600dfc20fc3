import { hookName } from "../../../hooks/hook-name.js";
import type { SystemItemEntry } from "../../../log/entry.js";
import { clipLine } from "../../../tui/line.js";
import { addressLink } from "../../../tui/links.js";
import { describeContextFile } from "../../format.js";

import { cleanLine, cleanLines, styled, wrapLines } from "../clean-text.js";
import { StaticView } from "./view.js";

/** Severity of a notice. */
export type NoticeLevel = "info" | "warning" | "error";

const SIGNS: Record<NoticeLevel, string> = { info: "·", warning: "!", error: "✗" };

/** Limits of a notice: lines, and characters of each. */
const MAX_LINES = 40;
const MAX_LINE_LENGTH = 2000;

/** A message from a hook, a command or pi. */
export class NoticeView extends StaticView<{ level: NoticeLevel; message: string }> {
	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const { level, message } = this.data;
		const style = { info: theme.muted, warning: theme.warning, error: theme.error }[level];
		const lines = cleanLines(message.trim(), MAX_LINE_LENGTH).filter(
			(line, row) => row < MAX_LINES && line.trim() !== "",
		);
		const wrapped = wrapLines(lines, Math.max(1, width - 2));
		return styled(
			wrapped.map((line, row) => (row === 0 ? `${SIGNS[level]} ${line}` : `  ${line}`)),
			style,
		);
	}
}

/** Output of a command such as `/session` or `/hotkeys`: a title and lines. */
export class PageView extends StaticView<{ title: string; lines: readonly string[] }> {
	protected override draw(width: number): string[] {
		const { theme } = this.style;
		const body = this.data.lines.flatMap((line) => cleanLines(line));
		const rows = body.flatMap((line) => wrapField(line, width).map((row) => addressLink(row, line.trim())));
		return [...styled(wrapLines([cleanLine(this.data.title)], width), theme.bold), ...rows];
	}
}

/** A label and its value, in columns. */
const FIELD = /^(\S+ {2,})(.+)$/;
/** Narrower values are not aligned. Columns. */
const MIN_VALUE_WIDTH = 20;

/** Wraps a line; the value of a field stays in its column. */
function wrapField(line: string, width: number): string[] {
	const [, label = "", value = ""] = FIELD.exec(line) ?? [];
	const room = width - label.length;
	if (label === "" || room < MIN_VALUE_WIDTH) return wrapLines([line], width);
	return wrapLines([value], room).map((part, at) => (at === 0 ? label : " ".repeat(label.length)) + part);
}

/** Text that a feature or hook added to the context, after its name; of a context file only its path is shown. */
export class SystemItemView extends StaticView<SystemItemEntry> {
	protected override draw(width: number): string[] {
		const { theme, expanded } = this.style;
		const title = describeContextFile(this.data, this.style);
		if (title !== null) {
			const text = expanded ? wrapLines(cleanLines(this.data.item.text), width) : [];
			return styled([...wrapLines([cleanLine(title)], width), ...text], theme.muted);
		}
		const [first = "", ...others] = cleanLines(this.data.item.text.trim());
		const lines = wrapLines([`${cleanLine(hookName(this.data.source), 40)}: ${first}`, ...others], width);
		return styled(expanded ? lines : lines.slice(0, 2).map((line) => clipLine(line, width)), theme.muted);
	}
}
